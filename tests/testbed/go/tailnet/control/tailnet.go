package main

import (
	"fmt"
	"log"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tailscale.com/net/tsaddr"
	"tailscale.com/tailcfg"
	"tailscale.com/types/key"
)

// firstNodeID keeps the old numeric ids apart from small numbers, so that a
// test notices a mix-up.
const firstNodeID = 4000

// node is a machine of the tailnet, by what it and its key said.
type node struct {
	id        int64
	stableID  string
	name      string // first label of its MagicDNS name, unique
	hostname  string // what it asked to be called
	machine   key.MachinePublic
	key       key.NodePublic
	disco     key.DiscoPublic
	addresses []netip.Prefix
	endpoints []netip.AddrPort
	homeDERP  int
	version   tailcfg.CapabilityVersion
	hostinfo  *tailcfg.Hostinfo
	tags      []string
	keyID     string
	created   time.Time
	lastSeen  time.Time

	authorized, ephemeral, expired bool

	streams  map[*stream]struct{} // its open map polls: connected while there is one
	pings    []*tailcfg.PingRequest
	services []tailcfg.ServiceName // those that it says it serves, actively
	asked    string                // the services hash that it was last asked about
}

// tailnet is the whole state; everything in it is guarded by mu.
type tailnet struct {
	domain      string
	askServices func(stableID string)

	mu       sync.Mutex
	nodes    map[string]*node // by stable id
	keys     map[string]*authKey
	services map[tailcfg.ServiceName]*vipService
	nextIP   netip.Addr
	nextID   int64
}

func newTailnet(domain string, first netip.Addr) *tailnet {
	return &tailnet{
		domain: domain, nodes: map[string]*node{}, keys: map[string]*authKey{},
		services: map[tailcfg.ServiceName]*vipService{}, nextIP: first, nextID: firstNodeID,
	}
}

// changed wakes every open map poll. Call it with mu held.
func (t *tailnet) changed() {
	for _, n := range t.nodes {
		n.wake()
	}
}

func (n *node) wake() {
	for s := range n.streams {
		s.wake()
	}
}

func (t *tailnet) byNodeKey(k key.NodePublic) *node {
	for _, n := range t.nodes {
		if n.key == k {
			return n
		}
	}
	return nil
}

func (t *tailnet) byMachine(k key.MachinePublic) *node {
	for _, n := range t.nodes {
		if n.machine == k {
			return n
		}
	}
	return nil
}

// byAnyID finds a node by its stable or its old numeric id, as the API does.
func (t *tailnet) byAnyID(id string) *node {
	if n := t.nodes[id]; n != nil {
		return n
	}
	for _, n := range t.nodes {
		if fmt.Sprint(n.id) == id {
			return n
		}
	}
	return nil
}

// add makes a node with the next free address. Addresses and ids are never
// used twice, so that a test can tell a node that came back from a new one.
func (t *tailnet) add(machine key.MachinePublic, hostname string) *node {
	t.nextID++
	ip := t.nextIP
	t.nextIP = ip.Next()
	n := &node{
		id: t.nextID, stableID: fmt.Sprintf("nTb%dCNTRL", t.nextID), machine: machine,
		addresses:  []netip.Prefix{netip.PrefixFrom(ip, 32), netip.PrefixFrom(tsaddr.Tailscale4To6(ip), 128)},
		created:    time.Now().UTC(),
		authorized: true,
		streams:    map[*stream]struct{}{},
	}
	t.nodes[n.stableID] = n
	t.rename(n, hostname)
	return n
}

var notLabel = regexp.MustCompile(`[^a-z0-9-]+`)

// rename gives the node the name that it asks for, with "-1", "-2" ... behind
// it when another has it.
func (t *tailnet) rename(n *node, hostname string) {
	n.hostname = hostname
	label := strings.Trim(notLabel.ReplaceAllString(strings.ToLower(hostname), "-"), "-")
	if label == "" {
		label = "node"
	}
	taken := func(name string) bool {
		for _, other := range t.nodes {
			if other != n && other.name == name {
				return true
			}
		}
		return false
	}
	name := label
	for i := 1; taken(name); i++ {
		name = fmt.Sprintf("%s-%d", label, i)
	}
	n.name = name
}

// remove forgets the node: its peers lose it, its own polls end with the word
// that it must log in, and its keys are no longer known.
func (t *tailnet) remove(n *node) {
	log.Printf("%s is removed: %s", n.name, n.stableID)
	delete(t.nodes, n.stableID)
	n.expired = true
	n.wake()
	t.changed()
}

func (t *tailnet) fqdn(n *node) string { return n.name + "." + t.domain }

func (t *tailnet) sorted() []*node {
	all := make([]*node, 0, len(t.nodes))
	for _, n := range t.nodes {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *node) int { return int(a.id - b.id) })
	return all
}
