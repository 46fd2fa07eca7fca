package main

import (
	"net/netip"
	"time"

	"tailscale.com/tailcfg"
	"tailscale.com/types/opt"
)

// netmap is all that the node is told: itself, its peers, names and filters.
// Call it with the tailnet's mu held.
func (s *server) netmap(n *node, st *stream) *tailcfg.MapResponse {
	t := s.tailnet
	now := time.Now().UTC()
	res := &tailcfg.MapResponse{
		Node:            t.self(n),
		Domain:          t.domain,
		CollectServices: opt.True,
		PacketFilter:    tailcfg.FilterAllowAll,
		DNSConfig:       t.dns(n),
		ControlTime:     &now,
	}
	if st.first {
		res.DERPMap = s.derpMap
		st.first = false
	}
	if _, open := n.streams[st]; open && len(n.pings) > 0 {
		res.PingRequest, n.pings = n.pings[0], n.pings[1:]
		if len(n.pings) > 0 {
			n.wake()
		}
	}
	users := map[tailcfg.UserID]tailcfg.UserProfile{}
	t.addPeers(res, n, st)
	for _, other := range t.nodes {
		u, _ := other.user()
		users[u.ID] = u
	}
	for _, u := range users {
		res.UserProfiles = append(res.UserProfiles, u)
	}
	return res
}

// addPeers lists the other nodes. An empty list means "no change" in the
// protocol, so those that this poll knew of are then taken back one by one.
func (t *tailnet) addPeers(res *tailcfg.MapResponse, n *node, st *stream) {
	known := map[tailcfg.NodeID]struct{}{}
	for _, other := range t.sorted() {
		if other == n || other.expired || !other.authorized || !n.authorized {
			continue
		}
		res.Peers = append(res.Peers, t.describe(other))
		known[tailcfg.NodeID(other.id)] = struct{}{}
	}
	if len(res.Peers) == 0 {
		for id := range st.peers {
			res.PeersRemoved = append(res.PeersRemoved, id)
		}
	}
	st.peers = known
}

func (t *tailnet) describe(n *node) *tailcfg.Node {
	user, _ := n.user()
	online := len(n.streams) > 0
	routes := t.routesOf(n)
	out := &tailcfg.Node{
		ID: tailcfg.NodeID(n.id), StableID: tailcfg.StableNodeID(n.stableID), Name: t.fqdn(n) + ".", User: user.ID,
		Key: n.key, Machine: n.machine, DiscoKey: n.disco, Addresses: n.addresses,
		AllowedIPs: append(append([]netip.Prefix{}, n.addresses...), routes...), PrimaryRoutes: routes,
		Endpoints: n.endpoints, HomeDERP: n.homeDERP, Hostinfo: n.hostinfo.View(), Created: n.created, Cap: n.version,
		Tags: n.tags, MachineAuthorized: n.authorized, Online: &online, Expired: n.expired,
	}
	if !online && !n.lastSeen.IsZero() {
		seen := n.lastSeen
		out.LastSeen = &seen
	}
	if n.expired {
		out.KeyExpiry = time.Now().Add(-time.Minute).UTC()
	}
	return out
}

// self is the node as it is told of itself: with what it may do.
func (t *tailnet) self(n *node) *tailcfg.Node {
	out := t.describe(n)
	out.Online, out.LastSeen = nil, nil
	caps := tailcfg.NodeCapMap{
		tailcfg.CapabilityHTTPS:       nil,
		tailcfg.NodeAttrDisableUPnP:   nil,
		tailcfg.CapabilityFileSharing: nil,
		tailcfg.NodeAttrServiceHost:   t.hostedServices(n),
	}
	if len(caps[tailcfg.NodeAttrServiceHost]) == 0 {
		delete(caps, tailcfg.NodeAttrServiceHost)
	}
	out.CapMap = caps
	for c := range caps {
		out.Capabilities = append(out.Capabilities, c)
	}
	return out
}

func (t *tailnet) dns(n *node) *tailcfg.DNSConfig {
	c := &tailcfg.DNSConfig{Proxied: true, Domains: []string{t.domain}, CertDomains: []string{t.fqdn(n)}}
	for _, s := range t.services {
		for _, ip := range s.Addrs {
			c.ExtraRecords = append(c.ExtraRecords, tailcfg.DNSRecord{Name: s.Name.WithoutPrefix() + "." + t.domain + ".", Value: ip.String()})
		}
	}
	return c
}
