package main

import (
	"fmt"
	"strings"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "github.com/envoyproxy/gateway/proto/extension"
)

// fromTheFuture gives a message a field that no version of Envoy knows: a
// server that decodes and encodes by its own definitions would lose it.
func fromTheFuture[M proto.Message](m M) M {
	b := protowire.AppendTag(nil, 536870911, protowire.BytesType)
	m.ProtoReflect().SetUnknown(protowire.AppendString(b, "from a later Envoy"))
	return m
}

func hooks(clusters int) []hook {
	same := map[protowire.Number]protowire.Number{1: 1}
	policy := []*pb.ExtensionResource{{UnstructuredBytes: []byte(`{"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"x"}}`)}}
	return []hook{
		{"PostRouteModify", &pb.PostRouteModifyRequest{
			Route:            sampleRoute(0),
			PostRouteContext: &pb.PostRouteExtensionContext{Hostnames: []string{"a.example"}, ExtensionResources: policy},
		}, &pb.PostRouteModifyResponse{}, same},
		{"PostVirtualHostModify", &pb.PostVirtualHostModifyRequest{
			VirtualHost: sampleHost(0, 3), PostVirtualHostContext: &pb.PostVirtualHostExtensionContext{},
		}, &pb.PostVirtualHostModifyResponse{}, same},
		{"PostHTTPListenerModify", &pb.PostHTTPListenerModifyRequest{
			Listener: sampleListener(0), PostListenerContext: &pb.PostHTTPListenerExtensionContext{},
		}, &pb.PostHTTPListenerModifyResponse{}, same},
		{"PostClusterModify", &pb.PostClusterModifyRequest{
			Cluster: sampleCluster(0), PostClusterContext: &pb.PostClusterExtensionContext{BackendExtensionResources: policy},
		}, &pb.PostClusterModifyResponse{}, same},
		{"PostEndpointsModify", &pb.PostEndpointsModifyRequest{
			LoadAssignment: sampleAssignment(0), PostEndpointsContext: &pb.PostEndpointsExtensionContext{},
		}, &pb.PostEndpointsModifyResponse{}, same},
		translate(clusters),
	}
}

// translate asks for a whole configuration with so many clusters, none of
// which the server knows.
func translate(clusters int) hook {
	request := &pb.PostTranslateModifyRequest{PostTranslateContext: &pb.PostTranslateExtensionContext{}}
	for i := range clusters {
		request.Clusters = append(request.Clusters, sampleCluster(i))
	}
	request.Secrets = append(request.Secrets, fromTheFuture(&tls.Secret{Name: "default/tls"}))
	request.Listeners = append(request.Listeners, sampleListener(0), sampleListener(1))
	request.Routes = append(request.Routes, fromTheFuture(&route.RouteConfiguration{
		Name: "default/gw/http", VirtualHosts: []*route.VirtualHost{sampleHost(0, clusters)},
	}))
	return hook{"PostTranslateModify", request, &pb.PostTranslateModifyResponse{}, map[protowire.Number]protowire.Number{2: 1, 3: 2, 4: 3, 5: 4}}
}

// sized is a request of so many bytes, give or take a few.
func sized(bytes int) hook {
	h := translate(1)
	padding := &cluster.Cluster{Name: "service/default/padding", AltStatName: strings.Repeat("x", max(bytes-proto.Size(h.request)-60, 0))}
	request := h.request.(*pb.PostTranslateModifyRequest)
	request.Clusters = append(request.Clusters, padding)
	return h
}

func sampleCluster(i int) *cluster.Cluster {
	return fromTheFuture(&cluster.Cluster{
		Name:                 fmt.Sprintf("httproute/default/other-%d/rule/0", i),
		ClusterDiscoveryType: &cluster.Cluster_Type{Type: cluster.Cluster_EDS},
		ConnectTimeout:       durationpb.New(10 * time.Second),
		LbPolicy:             cluster.Cluster_LEAST_REQUEST,
		EdsClusterConfig: &cluster.Cluster_EdsClusterConfig{EdsConfig: &core.ConfigSource{
			ResourceApiVersion:    core.ApiVersion_V3,
			ConfigSourceSpecifier: &core.ConfigSource_Ads{Ads: &core.AggregatedConfigSource{}},
		}},
		PerConnectionBufferLimitBytes: wrapperspb.UInt32(32768),
	})
}

func sampleAssignment(i int) *endpoint.ClusterLoadAssignment {
	return fromTheFuture(&endpoint.ClusterLoadAssignment{
		ClusterName: sampleCluster(i).Name,
		Endpoints: []*endpoint.LocalityLbEndpoints{{
			Locality:            &core.Locality{Region: sampleCluster(i).Name + "/backend/0"},
			LoadBalancingWeight: wrapperspb.UInt32(1),
			LbEndpoints: []*endpoint.LbEndpoint{{
				HostIdentifier: &endpoint.LbEndpoint_Endpoint{Endpoint: &endpoint.Endpoint{Address: address("10.0.0.1", 80)}},
			}},
		}},
	})
}

func sampleRoute(i int) *route.Route {
	return fromTheFuture(&route.Route{
		Name:  fmt.Sprintf("%s/match/0/a_example", sampleCluster(i).Name),
		Match: &route.RouteMatch{PathSpecifier: &route.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: fmt.Sprintf("/r%d", i)}},
		Action: &route.Route_Route{Route: &route.RouteAction{
			ClusterSpecifier: &route.RouteAction_Cluster{Cluster: sampleCluster(i).Name},
		}},
	})
}

func sampleHost(i, routes int) *route.VirtualHost {
	host := fromTheFuture(&route.VirtualHost{Name: fmt.Sprintf("default/gw/http/h%d", i), Domains: []string{"a.example"}})
	for r := range routes {
		host.Routes = append(host.Routes, sampleRoute(r))
	}
	return host
}

func sampleListener(i int) *listener.Listener {
	return fromTheFuture(&listener.Listener{Name: fmt.Sprintf("default/gw/http-%d", i), Address: address("0.0.0.0", uint32(10080+i))})
}

func address(ip string, port uint32) *core.Address {
	return &core.Address{Address: &core.Address_SocketAddress{SocketAddress: &core.SocketAddress{
		Address: ip, PortSpecifier: &core.SocketAddress_PortValue{PortValue: port},
	}}}
}
