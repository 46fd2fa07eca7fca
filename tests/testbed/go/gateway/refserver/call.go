package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	pb "github.com/envoyproxy/gateway/proto/extension"
)

// result of one server.
type result struct {
	P50         []float64 `json:"p50"` // milliseconds, of each round
	P99         []float64 `json:"p99"`
	AnswerBytes int       `json:"answerBytes"`
	answer      []byte
	conn        *grpc.ClientConn
}

func call(args []string) error {
	flags := flag.NewFlagSet("call", flag.ExitOnError)
	file := flags.String("request", "", "file with the encoded request")
	rounds := flags.Int("rounds", 3, "how often each server has its turn")
	calls := flags.Int("calls", 30, "in each turn")
	warmup := flags.Int("warmup", 5, "calls before them that do not count")
	equal := flags.String("equal", "", "NAME,NAME: their answers must mean the same")
	if err := flags.Parse(args); err != nil {
		return err
	}
	request, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	results, names := map[string]*result{}, []string{}
	for _, arg := range flags.Args() {
		name, address, _ := strings.Cut(arg, "=")
		conn, err := dial(address)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		defer conn.Close()
		results[name] = &result{conn: conn}
		names = append(names, name)
	}
	for range *rounds {
		for _, name := range names {
			if err := results[name].turn(request, *warmup, *calls); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if err := sameMeaning(results, *equal); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

func dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limit), grpc.MaxCallSendMsgSize(limit), grpc.ForceCodec(rawCodec{})))
}

// turn calls one after the other, and keeps the median.
func (r *result) turn(request []byte, warmup, calls int) error {
	times := make([]float64, 0, calls)
	for i := range warmup + calls {
		start := time.Now()
		if err := r.conn.Invoke(context.Background(), "/"+service+"/"+method, &request, &r.answer); err != nil {
			return err
		}
		if i >= warmup {
			times = append(times, float64(time.Since(start).Nanoseconds())/1e6)
		}
	}
	slices.Sort(times)
	r.P50 = append(r.P50, times[len(times)/2])
	r.P99 = append(r.P99, times[len(times)*99/100])
	r.AnswerBytes = len(r.answer)
	return nil
}

// sameMeaning is the proof that two servers did the same work.
func sameMeaning(results map[string]*result, names string) error {
	if names == "" {
		return nil
	}
	var first *pb.PostTranslateModifyResponse
	for name := range strings.SplitSeq(names, ",") {
		answer := &pb.PostTranslateModifyResponse{}
		if err := proto.Unmarshal(results[name].answer, answer); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if first == nil {
			first = answer
		} else if !proto.Equal(first, answer) {
			return fmt.Errorf("the answers of %s differ: %s", names, difference(first, answer))
		}
	}
	return nil
}

func difference(a, b *pb.PostTranslateModifyResponse) string {
	for i, c := range a.Clusters {
		if i >= len(b.Clusters) || !proto.Equal(c, b.Clusters[i]) {
			return fmt.Sprintf("cluster %d: %v is not %v", i, c, b.Clusters[min(i, len(b.Clusters)-1)])
		}
	}
	return fmt.Sprintf("%d and %d clusters, %d and %d route configurations",
		len(a.Clusters), len(b.Clusters), len(a.Routes), len(b.Routes))
}
