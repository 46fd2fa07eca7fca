package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"tailscale.com/net/tsaddr"
	"tailscale.com/tailcfg"
	"tailscale.com/util/rands"
)

// firstVIP is where the addresses of services begin.
var firstVIP = netip.MustParseAddr("100.100.1.1")

// vipService is a Tailscale Service. What tests put in beside name and
// addresses is kept as it is.
type vipService struct {
	Name   tailcfg.ServiceName `json:"name"`
	Addrs  []netip.Addr        `json:"addrs"`
	Ports  []string            `json:"ports"`
	Tags   []string            `json:"tags"`
	active string              // stable id of the node that serves it now
}

func (t *tailnet) putService(s *vipService) {
	if old := t.services[s.Name]; old != nil {
		s.active = old.active
		if len(s.Addrs) == 0 {
			s.Addrs = old.Addrs
		}
	}
	if len(s.Addrs) == 0 {
		ip := firstVIP
		for t.vipTaken(ip) {
			ip = ip.Next()
		}
		s.Addrs = []netip.Addr{ip, tsaddr.Tailscale4To6(ip)}
	}
	t.services[s.Name] = s
	t.settleServices()
	t.changed()
}

func (t *tailnet) vipTaken(ip netip.Addr) bool {
	for _, s := range t.services {
		if slices.Contains(s.Addrs, ip) {
			return true
		}
	}
	return false
}

// settleServices picks for each service the node that carries its addresses:
// the one that did, as long as it is connected and serves it. Only tagged
// nodes may be hosts.
func (t *tailnet) settleServices() {
	for name, s := range t.services {
		serves := func(n *node) bool {
			return n != nil && len(n.streams) > 0 && len(n.tags) > 0 && slices.Contains(n.services, name)
		}
		if serves(t.nodes[s.active]) {
			continue
		}
		s.active = ""
		for _, n := range t.sorted() {
			if serves(n) {
				s.active = n.stableID
				break
			}
		}
	}
}

func (t *tailnet) routesOf(n *node) (routes []netip.Prefix) {
	for _, s := range t.services {
		if s.active == n.stableID {
			for _, ip := range s.Addrs {
				routes = append(routes, netip.PrefixFrom(ip, ip.BitLen()))
			}
		}
	}
	slices.SortFunc(routes, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	return routes
}

func (t *tailnet) hostedServices(n *node) []tailcfg.RawMessage {
	m := tailcfg.ServiceIPMappings{}
	for _, name := range n.services {
		if s := t.services[name]; s != nil && len(n.tags) > 0 {
			m[name] = s.Addrs
		}
	}
	if len(m) == 0 {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return []tailcfg.RawMessage{tailcfg.RawMessage(b)}
}

// askServices asks a node what it serves, as the real control server does
// when the hash in its Hostinfo changes. A question may get lost with the map
// poll that carried it: then it is asked again.
func (s *server) askServices(stableID string) {
	for range 10 {
		said, err := s.servicesOf(stableID)
		if err == nil {
			s.tailnet.serves(stableID, said)
			return
		}
		log.Printf("services of %s: %v", stableID, err)
	}
}

func (s *server) servicesOf(stableID string) (*tailcfg.C2NVIPServicesResponse, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	res, err := s.call(ctx, stableID, "/vip-services")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	said := &tailcfg.C2NVIPServicesResponse{}
	return said, json.NewDecoder(res.Body).Decode(said)
}

// serves notes what a node says it serves.
func (t *tailnet) serves(stableID string, said *tailcfg.C2NVIPServicesResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[stableID]
	if n == nil {
		return
	}
	n.services = nil
	for _, v := range said.VIPServices {
		if v.Active {
			n.services = append(n.services, v.Name)
		}
	}
	log.Printf("%s serves %v", n.name, n.services)
	t.settleServices()
	t.changed()
}

// call makes an HTTP request to a node through its map poll ("c2n").
func (s *server) call(ctx context.Context, stableID, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node"+path, nil)
	if err != nil {
		return nil, err
	}
	var raw bytes.Buffer
	if err := req.Write(&raw); err != nil {
		return nil, err
	}
	token, answer := rands.HexString(16), make(chan *http.Response, 1)
	s.answersMu.Lock()
	s.answers[token] = answer
	s.answersMu.Unlock()
	s.tailnet.mu.Lock()
	n := s.tailnet.nodes[stableID]
	if n != nil {
		n.pings = append(n.pings, &tailcfg.PingRequest{URL: "https://control/c2n/" + token, Types: "c2n", Payload: raw.Bytes()})
		n.wake()
	}
	s.tailnet.mu.Unlock()
	if n == nil {
		return nil, fmt.Errorf("no node %s", stableID)
	}
	select {
	case res := <-answer:
		return res, nil
	case <-ctx.Done():
		s.answersMu.Lock()
		delete(s.answers, token)
		s.answersMu.Unlock()
		return nil, fmt.Errorf("node %s did not answer %s: %w", stableID, path, ctx.Err())
	}
}
