package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"time"

	"tailscale.com/tailcfg"
	"tailscale.com/util/zstdframe"
)

const keepAlive = 30 * time.Second

// stream is one open map poll. Its node is connected as long as it is open.
type stream struct {
	changed  chan struct{} // holds one: something may be different
	replaced chan struct{} // closed when the node opens a newer poll
	peers    map[tailcfg.NodeID]struct{}
	first    bool
}

func (s *stream) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // a wake-up is pending already
	}
}

func (s *server) serveMap(w http.ResponseWriter, r *http.Request) {
	var req tailcfg.MapRequest
	if err := decode(r, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t := s.tailnet
	t.mu.Lock()
	n := t.byNodeKey(req.NodeKey)
	if n == nil || n.machine != machineOf(r) {
		t.mu.Unlock()
		http.Error(w, "node not found", http.StatusNotFound)
		return
	}
	if !req.Stream && !req.ReadOnly {
		t.update(n, &req)
	}
	t.mu.Unlock()
	send := sender(w, req.Compress == "zstd")
	if !req.Stream {
		s.answerOnce(n, &req, send)
		return
	}
	st := t.open(n)
	defer t.close(n, st)
	if err := s.follow(r.Context(), n, st, send); err != nil {
		s.logf("map poll of %s ends: %v", n.name, err)
	}
}

func (s *server) answerOnce(n *node, req *tailcfg.MapRequest, send func(any) error) {
	if req.OmitPeers && !req.ReadOnly {
		return // the client looks at the status only
	}
	s.tailnet.mu.Lock()
	res := s.netmap(n, &stream{first: true})
	s.tailnet.mu.Unlock()
	send(res)
}

// follow sends the network map now and after each change, until the node
// hangs up, polls anew or is removed.
func (s *server) follow(ctx context.Context, n *node, st *stream, send func(any) error) error {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		s.tailnet.mu.Lock()
		res := s.netmap(n, st)
		_, exists := s.tailnet.nodes[n.stableID]
		s.tailnet.mu.Unlock()
		if err := send(res); err != nil {
			return err
		}
		if !exists {
			return errors.New("removed")
		}
		if err := st.wait(ctx, alive.C, send); err != nil {
			return err
		}
	}
}

func (st *stream) wait(ctx context.Context, alive <-chan time.Time, send func(any) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-st.replaced:
			return errors.New("replaced by a newer poll")
		case <-st.changed:
			return nil
		case <-alive:
			if err := send(tailcfg.MapResponse{KeepAlive: true}); err != nil {
				return err
			}
		}
	}
}

// sender frames messages: a little-endian length, then JSON, maybe compressed.
func sender(w http.ResponseWriter, compress bool) func(any) error {
	flush := http.NewResponseController(w)
	return func(v any) error {
		body, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if compress {
			body = zstdframe.AppendEncode(nil, body, zstdframe.FastestCompression)
		}
		frame := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
		if _, err := w.Write(append(frame, body...)); err != nil {
			return err
		}
		return flush.Flush()
	}
}

// update takes in what a node says of itself, and tells its peers.
func (t *tailnet) update(n *node, req *tailcfg.MapRequest) {
	n.endpoints, n.disco, n.version = req.Endpoints, req.DiscoKey, req.Version
	if h := req.Hostinfo; h != nil {
		n.hostinfo = h
		if h.Hostname != n.hostname {
			t.rename(n, h.Hostname)
		}
		if h.NetInfo != nil && h.NetInfo.PreferredDERP != 0 {
			n.homeDERP = h.NetInfo.PreferredDERP
		}
		if h.ServicesHash != n.asked && t.askServices != nil {
			n.asked = h.ServicesHash
			go t.askServices(n.stableID)
		}
	}
	t.changed()
}

func (t *tailnet) open(n *node) *stream {
	st := &stream{changed: make(chan struct{}, 1), replaced: make(chan struct{}), first: true}
	t.mu.Lock()
	defer t.mu.Unlock()
	for old := range n.streams {
		close(old.replaced)
		delete(n.streams, old)
	}
	n.streams[st] = struct{}{}
	log.Printf("%s is connected", n.name)
	t.changed()
	return st
}

func (t *tailnet) close(n *node, st *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := n.streams[st]; !ok {
		return
	}
	delete(n.streams, st)
	n.lastSeen = time.Now().UTC()
	log.Printf("%s is gone", n.name)
	t.settleServices()
	t.changed()
}
