package main

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"tailscale.com/tailcfg"
	"tailscale.com/types/key"
	"tailscale.com/types/logger"
)

func testServer(keys ...*authKey) *server {
	t := newTailnet("test.ts.net", netip.MustParseAddr("100.64.0.1"))
	for _, k := range keys {
		t.keys[k.ID] = k
	}
	return newServer(t, nil, "http://control", logger.Discard)
}

func register(s *server, machine key.MachinePublic, node key.NodePublic, authKey string) tailcfg.RegisterResponse {
	req := &tailcfg.RegisterRequest{NodeKey: node, Hostinfo: &tailcfg.Hostinfo{Hostname: "Host_A"}}
	if authKey != "" {
		req.Auth = &tailcfg.RegisterResponseAuth{AuthKey: authKey}
	}
	return s.register(machine, req)
}

func join(s *server, authKey string) (key.MachinePublic, key.NodePublic, tailcfg.RegisterResponse) {
	m, n := key.NewMachine().Public(), key.NewNode().Public()
	return m, n, register(s, m, n, authKey)
}

func single() *authKey {
	return &authKey{ID: "k1", Key: "tskey-auth-k1-x", Tags: []string{"tag:a"}, Preauthorized: true}
}

func TestASingleUseKeyLetsOneNodeIn(t *testing.T) {
	s := testServer(single())
	m, n, res := join(s, "tskey-auth-k1-x")
	if res.Error != "" || !res.MachineAuthorized {
		t.Fatalf("%+v", res)
	}
	if got := s.tailnet.byNodeKey(n); got.tags[0] != "tag:a" || got.keyID != "k1" {
		t.Fatalf("%+v", got)
	}
	if res := register(s, m, n, ""); res.Error != "" || res.AuthURL != "" {
		t.Fatalf("a known node is asked for a key: %+v", res)
	}
	if _, _, res := join(s, "tskey-auth-k1-x"); res.Error != "invalid key: API key k1 not valid" {
		t.Fatalf("%+v", res)
	}
}

func TestKeysThatDontCountAreRefused(t *testing.T) {
	for name, change := range map[string]func(*authKey){
		"does not exist": func(k *authKey) { k.Revoked = true },
		"not valid":      func(k *authKey) { k.Expires = time.Now().Add(-time.Minute) },
	} {
		k := single()
		change(k)
		if _, _, res := join(testServer(k), k.Key); !strings.Contains(res.Error, name) {
			t.Errorf("%s: %+v", name, res)
		}
	}
	if _, _, res := join(testServer(), "tskey-auth-none"); res.Error != "invalid key: API key does not exist" {
		t.Errorf("%+v", res)
	}
}

func TestAReusableKeyLetsManyIn(t *testing.T) {
	k := single()
	k.Reusable = true
	s := testServer(k)
	for _, want := range []string{"host-a", "host-a-1", "host-a-2"} {
		_, n, res := join(s, k.Key)
		if res.Error != "" || s.tailnet.byNodeKey(n).name != want {
			t.Fatalf("%+v, want %s", s.tailnet.byNodeKey(n), want)
		}
	}
}

func TestARemovedNodeMustLogIn(t *testing.T) {
	s := testServer(single())
	m, n, _ := join(s, "tskey-auth-k1-x")
	s.tailnet.remove(s.tailnet.byNodeKey(n))
	if res := register(s, m, n, ""); res.AuthURL == "" {
		t.Fatalf("%+v", res)
	}
	if res := register(s, m, n, "tskey-auth-k1-x"); res.Error == "" {
		t.Fatal("its old key counts again")
	}
}

func TestPeersAreTakenBackWhenNoneIsLeft(t *testing.T) {
	k := single()
	k.Reusable = true
	s := testServer(k)
	_, a, _ := join(s, k.Key)
	_, b, _ := join(s, k.Key)
	me, other := s.tailnet.byNodeKey(a), s.tailnet.byNodeKey(b)
	st := &stream{changed: make(chan struct{}, 1)}
	if res := s.netmap(me, st); len(res.Peers) != 1 {
		t.Fatalf("%+v", res.Peers)
	}
	s.tailnet.remove(other)
	res := s.netmap(me, st)
	if len(res.Peers) != 0 || len(res.PeersRemoved) != 1 || res.PeersRemoved[0] != tailcfg.NodeID(other.id) {
		t.Fatalf("%+v %+v", res.Peers, res.PeersRemoved)
	}
	if own := s.netmap(other, st).Node; own.KeyExpiry.IsZero() || own.KeyExpiry.After(time.Now()) {
		t.Fatal("the removed node is not told")
	}
}

func TestAServiceMovesToAnotherConnectedHost(t *testing.T) {
	k := single()
	k.Reusable = true
	s := testServer(k)
	s.tailnet.putService(&vipService{Name: "svc:web"})
	var hosts []*node
	for range 2 {
		_, nk, _ := join(s, k.Key)
		n := s.tailnet.byNodeKey(nk)
		n.services = []tailcfg.ServiceName{"svc:web"}
		n.streams[&stream{changed: make(chan struct{}, 1)}] = struct{}{}
		hosts = append(hosts, n)
	}
	s.tailnet.settleServices()
	if len(s.tailnet.routesOf(hosts[0])) != 2 || len(s.tailnet.routesOf(hosts[1])) != 0 {
		t.Fatal("the first host does not carry both addresses alone")
	}
	clear(hosts[0].streams)
	s.tailnet.settleServices()
	if len(s.tailnet.routesOf(hosts[0])) != 0 || len(s.tailnet.routesOf(hosts[1])) != 2 {
		t.Fatal("the second host did not take over")
	}
}
