package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"

	"tailscale.com/derp/derpserver"
	"tailscale.com/net/stunserver"
	"tailscale.com/tailcfg"
	"tailscale.com/types/key"
	"tailscale.com/types/logger"
)

type relayOptions struct {
	host               string
	derpPort, stunPort int
	logf               logger.Logf
}

// startRelay runs one DERP region with its STUN server, and returns the map
// that tells nodes of it.
func startRelay(ctx context.Context, o relayOptions) (*tailcfg.DERPMap, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", o.host, o.derpPort))
	if err != nil {
		return nil, fmt.Errorf("DERP relay: %w", err)
	}
	relay := derpserver.New(key.NewNode(), o.logf)
	web := httptest.NewUnstartedServer(derpserver.Handler(relay))
	web.Listener.Close()
	web.Listener = l
	web.Config.ErrorLog = logger.StdLogger(o.logf)
	// DERP takes over the connection, which HTTP/2 does not allow.
	web.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	web.StartTLS()

	stun := stunserver.New(ctx)
	if err := stun.Listen(fmt.Sprintf("%s:%d", o.host, o.stunPort)); err != nil {
		return nil, fmt.Errorf("STUN server: %w", err)
	}
	go stun.Serve()

	node := &tailcfg.DERPNode{
		Name: "1a", RegionID: 1, HostName: o.host, IPv4: o.host, IPv6: "none",
		DERPPort: o.derpPort, STUNPort: o.stunPort, STUNTestIP: o.host, InsecureForTests: true,
	}
	region := &tailcfg.DERPRegion{RegionID: 1, RegionCode: "testbed", RegionName: "Testbed", Nodes: []*tailcfg.DERPNode{node}}
	return &tailcfg.DERPMap{OmitDefaultRegions: true, Regions: map[int]*tailcfg.DERPRegion{1: region}}, nil
}
