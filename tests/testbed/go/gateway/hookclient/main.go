// Command hookclient calls an Envoy Gateway extension server as Envoy Gateway
// does: with grpc-go and with Envoy Gateway's own messages. It prints what it
// saw as JSON, and tells whether what the server must not touch came back as it
// was, byte for byte.
//
//	hookclient -address HOST:PORT                    each hook once
//	hookclient -address HOST:PORT -closes 1000       connect, call, close, so often
//	hookclient -address HOST:PORT -size 1024,2048    one call with each size of request
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// limit is what the client itself may send and take: more than servers allow.
const limit = 256 << 20

func main() {
	address := flag.String("address", "127.0.0.1:5005", "extension server")
	clusters := flag.Int("clusters", 1000, "clusters in PostTranslateModify")
	closes := flag.Int("closes", 0, "connect, call and close so many times")
	sizes := flag.String("size", "", "sizes in bytes of requests to send, with commas")
	timeout := flag.Duration("timeout", 30*time.Second, "of each call")
	flag.Parse()
	var out any
	switch {
	case *closes > 0:
		out = closeOften(*address, *closes, *timeout)
	case *sizes != "":
		out = sendSizes(*address, *sizes, *timeout)
	default:
		out = callAll(*address, *clusters, *timeout)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		log.Fatal(err)
	}
}

func dial(address string) *grpc.ClientConn {
	c, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limit), grpc.MaxCallSendMsgSize(limit), grpc.ForceCodec(rawCodec{})))
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func callAll(address string, clusters int, timeout time.Duration) []result {
	conn := dial(address)
	defer conn.Close()
	var results []result
	for _, h := range hooks(clusters) {
		results = append(results, h.call(conn, timeout))
	}
	return results
}

// closed is the outcome of many short connections.
type closed struct {
	Calls  int            `json:"calls"`
	Failed map[string]int `json:"failed"` // by error
	MS     int64          `json:"ms"`
}

func closeOften(address string, times int, timeout time.Duration) closed {
	out := closed{Failed: map[string]int{}}
	start := time.Now()
	h := translate(3)
	for range times {
		conn := dial(address)
		if r := h.call(conn, timeout); r.Error != "" {
			out.Failed[r.Error]++
		} else {
			out.Calls++
		}
		conn.Close()
	}
	out.MS = time.Since(start).Milliseconds()
	return out
}

func sendSizes(address, sizes string, timeout time.Duration) []result {
	conn := dial(address)
	defer conn.Close()
	var results []result
	for _, s := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			log.Fatal(fmt.Errorf("size %q: %w", s, err))
		}
		results = append(results, sized(n).call(conn, timeout))
	}
	return results
}
