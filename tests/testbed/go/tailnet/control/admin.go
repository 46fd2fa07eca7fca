package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tailscale.com/tailcfg"
)

// admin is how tests look into the tailnet and steer it.
type admin struct{ tailnet *tailnet }

type nodeView struct {
	ID         string     `json:"id"`
	NodeID     string     `json:"nodeId"`
	Name       string     `json:"name"`
	Hostname   string     `json:"hostname"`
	Addresses  []string   `json:"addresses"`
	Tags       []string   `json:"tags"`
	Authorized bool       `json:"authorized"`
	Connected  bool       `json:"connected"`
	Created    time.Time  `json:"created"`
	LastSeen   *time.Time `json:"lastSeen,omitempty"`
	Ephemeral  bool       `json:"ephemeral"`
	OS         string     `json:"os"`
	KeyID      string     `json:"keyId,omitempty"`
	Services   []string   `json:"services,omitempty"`
}

type hostView struct {
	StableNodeID  string `json:"stableNodeID"`
	ApprovalLevel string `json:"approvalLevel"`
	Configured    string `json:"configured"`
	Active        bool   `json:"active"`
}

func (a *admin) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /admin/nodes", a.locked(a.nodes))
	mux.HandleFunc("DELETE /admin/nodes/{id}", a.locked(a.deleteNode))
	mux.HandleFunc("POST /admin/nodes/{id}/{verb}", a.locked(a.changeNode))
	mux.HandleFunc("GET /admin/keys", a.locked(a.keys))
	mux.HandleFunc("POST /admin/keys", a.locked(a.addKey))
	mux.HandleFunc("DELETE /admin/keys/{id}", a.locked(a.revokeKey))
	mux.HandleFunc("GET /admin/services", a.locked(a.services))
	mux.HandleFunc("PUT /admin/services/{name}", a.locked(a.putService))
	mux.HandleFunc("DELETE /admin/services/{name}", a.locked(a.deleteService))
	mux.HandleFunc("GET /admin/services/{name}/hosts", a.locked(a.hosts))
}

func (a *admin) locked(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.tailnet.mu.Lock()
		defer a.tailnet.mu.Unlock()
		h(w, r)
	}
}

func (a *admin) nodes(w http.ResponseWriter, r *http.Request) {
	out := []nodeView{}
	for _, n := range a.tailnet.sorted() {
		out = append(out, a.view(n))
	}
	reply(w, http.StatusOK, out)
}

func (a *admin) view(n *node) nodeView {
	v := nodeView{
		ID: fmt.Sprint(n.id), NodeID: n.stableID, Name: a.tailnet.fqdn(n), Hostname: n.hostname,
		Tags: append([]string{}, n.tags...), Authorized: n.authorized, Connected: len(n.streams) > 0,
		Created: n.created, Ephemeral: n.ephemeral, OS: n.hostinfo.OS, KeyID: n.keyID,
	}
	for _, p := range n.addresses {
		v.Addresses = append(v.Addresses, p.Addr().String())
	}
	for _, s := range n.services {
		v.Services = append(v.Services, s.String())
	}
	if !v.Connected && !n.lastSeen.IsZero() {
		seen := n.lastSeen
		v.LastSeen = &seen
	}
	return v
}

func (a *admin) deleteNode(w http.ResponseWriter, r *http.Request) {
	n := a.tailnet.byAnyID(r.PathValue("id"))
	if n == nil {
		http.Error(w, "no such node", http.StatusNotFound)
		return
	}
	a.tailnet.remove(n)
	w.WriteHeader(http.StatusNoContent)
}

// changeNode lets a node in, or ends the life of its node key.
func (a *admin) changeNode(w http.ResponseWriter, r *http.Request) {
	n := a.tailnet.byAnyID(r.PathValue("id"))
	if n == nil {
		http.Error(w, "no such node", http.StatusNotFound)
		return
	}
	switch r.PathValue("verb") {
	case "authorize":
		n.authorized = true
	case "deauthorize":
		n.authorized = false
	case "expire":
		n.expired = true
	default:
		http.Error(w, "authorize, deauthorize or expire", http.StatusNotFound)
		return
	}
	a.tailnet.changed()
	w.WriteHeader(http.StatusNoContent)
}

func (a *admin) keys(w http.ResponseWriter, r *http.Request) {
	out := []*authKey{}
	for _, k := range a.tailnet.keys {
		out = append(out, k)
	}
	slices.SortFunc(out, func(x, y *authKey) int { return strings.Compare(x.ID, y.ID) })
	reply(w, http.StatusOK, out)
}

func (a *admin) addKey(w http.ResponseWriter, r *http.Request) {
	k := &authKey{Tags: []string{}}
	if err := json.NewDecoder(r.Body).Decode(k); err != nil || k.ID == "" || k.Key == "" {
		http.Error(w, fmt.Sprintf("need an auth key with id and key: %v", err), http.StatusBadRequest)
		return
	}
	a.tailnet.keys[k.ID] = k
	reply(w, http.StatusCreated, k)
}

func (a *admin) revokeKey(w http.ResponseWriter, r *http.Request) {
	k := a.tailnet.keys[r.PathValue("id")]
	if k == nil {
		http.Error(w, "no such key", http.StatusNotFound)
		return
	}
	k.Revoked = true
	w.WriteHeader(http.StatusNoContent)
}

func (a *admin) services(w http.ResponseWriter, r *http.Request) {
	out := []*vipService{}
	for _, s := range a.tailnet.services {
		out = append(out, s)
	}
	slices.SortFunc(out, func(x, y *vipService) int { return strings.Compare(x.Name.String(), y.Name.String()) })
	reply(w, http.StatusOK, out)
}

func (a *admin) putService(w http.ResponseWriter, r *http.Request) {
	s := &vipService{}
	if err := json.NewDecoder(r.Body).Decode(s); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Name = tailcfg.ServiceName(r.PathValue("name"))
	if err := s.Name.Validate(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.tailnet.putService(s)
	reply(w, http.StatusOK, s)
}

func (a *admin) deleteService(w http.ResponseWriter, r *http.Request) {
	delete(a.tailnet.services, tailcfg.ServiceName(r.PathValue("name")))
	a.tailnet.changed()
	w.WriteHeader(http.StatusNoContent)
}

func (a *admin) hosts(w http.ResponseWriter, r *http.Request) {
	name := tailcfg.ServiceName(r.PathValue("name"))
	s := a.tailnet.services[name]
	if s == nil {
		http.Error(w, "no such service", http.StatusNotFound)
		return
	}
	out := []hostView{}
	for _, n := range a.tailnet.sorted() {
		if slices.Contains(n.services, name) {
			out = append(out, hostView{StableNodeID: n.stableID, ApprovalLevel: "approved:auto", Configured: "ready", Active: s.active == n.stableID})
		}
	}
	reply(w, http.StatusOK, out)
}
