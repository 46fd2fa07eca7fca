package main

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"tailscale.com/tailcfg"
	"tailscale.com/types/key"
	"tailscale.com/util/rands"
)

const taggedUser tailcfg.UserID = 1

func (s *server) serveRegister(w http.ResponseWriter, r *http.Request) {
	var req tailcfg.RegisterRequest
	if err := decode(r, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if req.Followup != "" {
		// Nobody ever visits the login page here.
		<-r.Context().Done()
		return
	}
	s.tailnet.mu.Lock()
	res := s.register(machineOf(r), &req)
	s.tailnet.mu.Unlock()
	reply(w, http.StatusOK, res)
}

// register logs a node in, by its key from before or by an auth key.
func (s *server) register(machine key.MachinePublic, req *tailcfg.RegisterRequest) tailcfg.RegisterResponse {
	t := s.tailnet
	known := t.byNodeKey(req.NodeKey)
	if known != nil && known.machine != machine {
		return tailcfg.RegisterResponse{Error: "node key belongs to another machine"}
	}
	if known != nil && !req.Expiry.IsZero() && req.Expiry.Before(time.Now()) {
		t.logout(known)
		return tailcfg.RegisterResponse{NodeKeyExpired: true}
	}
	if known != nil && !known.expired {
		return accepted(known)
	}
	if req.Auth == nil || req.Auth.AuthKey == "" {
		return tailcfg.RegisterResponse{AuthURL: s.baseURL + "/a/" + rands.HexString(12)}
	}
	k, err := t.useKey(req.Auth.AuthKey, req.Hostinfo.RequestTags)
	if err != nil {
		log.Printf("%s is refused: %v", req.Hostinfo.Hostname, err)
		return tailcfg.RegisterResponse{Error: err.Error()}
	}
	n := t.byMachine(machine)
	if n == nil {
		n = t.add(machine, req.Hostinfo.Hostname)
	}
	n.admit(k, req)
	log.Printf("%s is let in with %s: %s %v", n.name, k.ID, n.stableID, n.tags)
	t.changed()
	return accepted(n)
}

// admit writes what the auth key and the request say into the node. Tags are
// the key's: a node has no say in them.
func (n *node) admit(k *authKey, req *tailcfg.RegisterRequest) {
	n.key, n.version, n.hostinfo = req.NodeKey, req.Version, req.Hostinfo
	n.tags, n.keyID = k.Tags, k.ID
	n.authorized, n.ephemeral, n.expired = k.Preauthorized, k.Ephemeral, false
}

func (t *tailnet) logout(n *node) {
	if n.ephemeral {
		t.remove(n)
		return
	}
	n.expired = true
	t.changed()
}

func accepted(n *node) tailcfg.RegisterResponse {
	user, login := n.user()
	return tailcfg.RegisterResponse{
		User:              tailcfg.User{ID: user.ID, DisplayName: user.DisplayName},
		Login:             login,
		MachineAuthorized: n.authorized,
	}
}

// user is whom the node belongs to: all tagged ones to one who is nobody.
func (n *node) user() (tailcfg.UserProfile, tailcfg.Login) {
	id, name := taggedUser, "tagged-devices"
	if len(n.tags) == 0 {
		id, name = tailcfg.UserID(n.id), fmt.Sprintf("user-%d@example.com", n.id)
	}
	return tailcfg.UserProfile{ID: id, LoginName: name, DisplayName: name},
		tailcfg.Login{ID: tailcfg.LoginID(id), Provider: "testbed", LoginName: name, DisplayName: name}
}
