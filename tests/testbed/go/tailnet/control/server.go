package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"tailscale.com/control/controlhttp/controlhttpserver"
	"tailscale.com/tailcfg"
	"tailscale.com/types/key"
	"tailscale.com/types/logger"
)

const maxRequest = 4 << 20

// server speaks HTTP: outside, the key and the Noise upgrade and /admin/;
// inside a Noise connection, what a node says of itself.
type server struct {
	tailnet *tailnet
	derpMap *tailcfg.DERPMap
	baseURL string
	logf    logger.Logf
	noise   key.MachinePrivate
	legacy  key.ControlPrivate
	outside *http.ServeMux
	inside  *http.ServeMux

	answersMu sync.Mutex
	answers   map[string]chan *http.Response // c2n calls that wait, by token
}

type machineKey struct{}

func newServer(t *tailnet, derpMap *tailcfg.DERPMap, baseURL string, logf logger.Logf) *server {
	s := &server{
		tailnet: t, derpMap: derpMap, baseURL: baseURL, logf: logf,
		noise: key.NewMachine(), legacy: key.NewControl(),
		outside: http.NewServeMux(), inside: http.NewServeMux(),
		answers: map[string]chan *http.Response{},
	}
	s.outside.HandleFunc("GET /key", s.serveKey)
	s.outside.HandleFunc("/ts2021", s.serveNoise)
	s.outside.HandleFunc("/generate_204", noContent)
	(&admin{tailnet: t}).register(s.outside)
	s.inside.HandleFunc("POST /machine/register", s.serveRegister)
	s.inside.HandleFunc("POST /machine/map", s.serveMap)
	s.inside.HandleFunc("POST /c2n/{token}", s.serveAnswer)
	for _, path := range []string{"/machine/update-health", "/machine/audit-log", "/machine/set-dns", "/machine/set-device-attr"} {
		s.inside.HandleFunc(path, noContent)
	}
	t.askServices = s.askServices
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.logf("%s %s", r.Method, r.URL.Path)
	s.outside.ServeHTTP(w, r)
}

func noContent(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) serveKey(w http.ResponseWriter, r *http.Request) {
	reply(w, http.StatusOK, tailcfg.OverTLSPublicKeyResponse{LegacyPublicKey: s.legacy.Public(), PublicKey: s.noise.Public()})
}

// serveNoise turns the connection into a Noise one and serves HTTP/2 in it;
// the handshake has proved the node's machine key.
func (s *server) serveNoise(w http.ResponseWriter, r *http.Request) {
	conn, err := controlhttpserver.AcceptHTTP(r.Context(), w, r, s.noise, nil)
	if err != nil {
		s.logf("noise: %v", err)
		return
	}
	defer conn.Close()
	ctx := context.WithValue(r.Context(), machineKey{}, conn.Peer())
	new(http2.Server).ServeConn(conn, &http2.ServeConnOpts{Context: ctx, BaseConfig: &http.Server{Handler: s.inside}})
}

func machineOf(r *http.Request) key.MachinePublic {
	k, _ := r.Context().Value(machineKey{}).(key.MachinePublic)
	return k
}

func decode(r *http.Request, into any) error {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return fmt.Errorf("read %s: %w", r.URL.Path, err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("parse %s: %w", r.URL.Path, err)
	}
	return nil
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// serveAnswer takes a node's answer to a call made over c2n: an HTTP response
// in the body of a request.
func (s *server) serveAnswer(w http.ResponseWriter, r *http.Request) {
	s.answersMu.Lock()
	waiting := s.answers[r.PathValue("token")]
	delete(s.answers, r.PathValue("token"))
	s.answersMu.Unlock()
	if waiting == nil {
		http.Error(w, "no call waits for this answer", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(body))), nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	waiting <- res
	w.WriteHeader(http.StatusNoContent)
}
