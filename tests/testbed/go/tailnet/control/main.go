// Command control is a tailnet on one machine, for tests: a control server
// that real tailscaled clients log in to, with Tailscale's own DERP relay and
// STUN server beside it.
//
// It speaks the client's side of the protocol with Tailscale's public packages
// (tailcfg for the messages, controlhttpserver for the Noise transport). It is
// no tstest/integration/testcontrol, since that accepts every auth key, knows
// no tags of keys, cannot remove a node and takes every node to be online:
// just what an operator is judged by. Tests steer it under /admin/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"tailscale.com/types/logger"
)

func main() {
	var (
		host    = flag.String("host", "127.0.0.1", "address to listen on")
		port    = flag.Int("port", 16404, "port of the control server and of /admin/")
		derp    = flag.Int("derp-port", 16405, "port of the DERP relay (TLS)")
		stun    = flag.Int("stun-port", 16406, "port of the STUN server (UDP)")
		domain  = flag.String("domain", "testbed.ts.net", "MagicDNS domain of the tailnet")
		firstIP = flag.String("first-ip", "100.64.0.1", "address of the first node")
		verbose = flag.Bool("v", false, "log every request")
	)
	flag.Parse()
	logf := logger.Logf(log.Printf)
	if !*verbose {
		logf = logger.Discard
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()

	derpMap, err := startRelay(ctx, relayOptions{host: *host, derpPort: *derp, stunPort: *stun, logf: logf})
	check(err)
	first, err := netip.ParseAddr(*firstIP)
	check(err)
	server := newServer(newTailnet(*domain, first), derpMap, fmt.Sprintf("http://%s:%d", *host, *port), logf)
	check(serve(ctx, fmt.Sprintf("%s:%d", *host, *port), server))
}

func serve(ctx context.Context, address string, handler http.Handler) error {
	srv := &http.Server{Addr: address, Handler: handler}
	go func() {
		<-ctx.Done()
		c, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		srv.Shutdown(c)
	}()
	fmt.Println("control server at", address)
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
