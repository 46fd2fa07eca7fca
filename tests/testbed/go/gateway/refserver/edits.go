package main

import (
	"encoding/json"
	"fmt"
	"os"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	proxy "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/http_11_proxy/v3"
	raw "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/raw_buffer/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type target struct {
	Address string `json:"address"`
	Port    uint32 `json:"port"`
}

// upstream is one of ours behind an egress proxy.
type upstream struct {
	target
	Cluster  string `json:"cluster"`
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
	Weight   uint32 `json:"weight"`
	Proxy    target `json:"proxy"`
}

// edit is what a cluster gets. It is built once and shared by all calls, which
// is as fast as it can be made.
type edit struct {
	assignment *endpoint.ClusterLoadAssignment
	socket     *core.TransportSocket
}

func (e edit) apply(c *cluster.Cluster) {
	c.ClusterDiscoveryType = &cluster.Cluster_Type{Type: cluster.Cluster_STATIC}
	c.EdsClusterConfig = nil
	c.LoadAssignment = e.assignment
	c.TransportSocket = e.socket
}

func readEdits(file string) (map[string]edit, error) {
	edits := map[string]edit{}
	if file == "" {
		return edits, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var upstreams []upstream
	if err := json.Unmarshal(text, &upstreams); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, u := range upstreams {
		if edits[u.Cluster], err = newEdit(u); err != nil {
			return nil, fmt.Errorf("%s: cluster %s: %w", file, u.Cluster, err)
		}
	}
	return edits, nil
}

func newEdit(u upstream) (edit, error) {
	socket, err := proxySocket()
	if err != nil {
		return edit{}, err
	}
	via, err := anypb.New(address(u.Proxy))
	if err != nil {
		return edit{}, err
	}
	name, err := structpb.NewStruct(map[string]any{"endpoint": u.Name})
	if err != nil {
		return edit{}, err
	}
	return edit{socket: socket, assignment: &endpoint.ClusterLoadAssignment{
		ClusterName: u.Cluster,
		Endpoints: []*endpoint.LocalityLbEndpoints{{
			LoadBalancingWeight: wrapperspb.UInt32(1),
			LbEndpoints: []*endpoint.LbEndpoint{{
				HostIdentifier: &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{
					Address: address(u.target), Hostname: u.Hostname,
				}},
				LoadBalancingWeight: wrapperspb.UInt32(u.Weight),
				Metadata: &core.Metadata{
					FilterMetadata:      map[string]*structpb.Struct{"gateway.tailscale.com": name},
					TypedFilterMetadata: map[string]*anypb.Any{"envoy.http11_proxy_transport_socket.proxy_address": via},
				},
			}},
		}},
	}}, nil
}

// proxySocket sends HTTP CONNECT to the proxy in an endpoint's metadata.
func proxySocket() (*core.TransportSocket, error) {
	plain, err := socketOf("envoy.transport_sockets.raw_buffer", &raw.RawBuffer{})
	if err != nil {
		return nil, err
	}
	return socketOf("envoy.transport_sockets.http_11_proxy", &proxy.Http11ProxyUpstreamTransport{TransportSocket: plain})
}

func socketOf(name string, config proto.Message) (*core.TransportSocket, error) {
	packed, err := anypb.New(config)
	return &core.TransportSocket{Name: name, ConfigType: &core.TransportSocket_TypedConfig{TypedConfig: packed}}, err
}

func address(t target) *core.Address {
	return &core.Address{Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{
		Address: t.Address, PortSpecifier: &core.SocketAddress_PortValue{PortValue: t.Port},
	}}}
}
