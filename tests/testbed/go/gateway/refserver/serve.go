package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"google.golang.org/grpc"

	pb "github.com/envoyproxy/gateway/proto/extension"
)

func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	mode := flags.String("mode", "decode", "decode or renumber")
	file := flags.String("edits", "", "JSON file: what becomes of which cluster")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := newServer(*mode, *file)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	return server.Serve(listener)
}

func newServer(mode, file string) (*grpc.Server, error) {
	sizes := []grpc.ServerOption{grpc.MaxRecvMsgSize(limit), grpc.MaxSendMsgSize(limit)}
	switch mode {
	case "decode":
		edits, err := readEdits(file)
		if err != nil {
			return nil, err
		}
		server := grpc.NewServer(sizes...)
		pb.RegisterEnvoyGatewayExtensionServer(server, &decoding{edits: edits})
		return server, nil
	case "renumber":
		server := grpc.NewServer(append(sizes, grpc.ForceServerCodec(rawCodec{}))...)
		server.RegisterService(&renumbering, nil)
		return server, nil
	}
	return nil, fmt.Errorf("no such mode: %s", mode)
}

// decoding is an extension server as they are usually written.
type decoding struct {
	pb.UnimplementedEnvoyGatewayExtensionServer
	edits map[string]edit
}

func (d *decoding) PostTranslateModify(_ context.Context, r *pb.PostTranslateModifyRequest) (*pb.PostTranslateModifyResponse, error) {
	for _, c := range r.Clusters {
		if e, ours := d.edits[c.Name]; ours {
			e.apply(c)
		}
	}
	return &pb.PostTranslateModifyResponse{Clusters: r.Clusters, Secrets: r.Secrets, Listeners: r.Listeners, Routes: r.Routes}, nil
}

var renumbering = grpc.ServiceDesc{
	ServiceName: service,
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: method,
		Handler: func(_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var request []byte
			if err := read(&request); err != nil {
				return nil, err
			}
			answer, err := renumber(request)
			return &answer, err
		},
	}},
}
