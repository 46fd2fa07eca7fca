// Command queuebench measures controller-runtime's priority queue: 1000 keys are
// added, then each is taken and given back, as its own BenchmarkAddGetDone does.
// It prints a JSON list of the keys per second of each round.
//
//	queuebench -rounds 3 -duration 500ms
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

const keys = 1000

func main() {
	rounds := flag.Int("rounds", 3, "how often to measure")
	duration := flag.Duration("duration", 500*time.Millisecond, "of each round")
	flag.Parse()
	// Strings, as ours are; the original has numbers, which are a little faster.
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("namespace-%d/object-%d", i%10, i)
	}
	q := priorityqueue.New[string]("bench")
	defer q.ShutDown()
	run(q, names, *duration) // warm-up
	rates := []float64{}
	for range *rounds {
		rates = append(rates, run(q, names, *duration))
	}
	if err := json.NewEncoder(os.Stdout).Encode(rates); err != nil {
		log.Fatal(err)
	}
}

// run gives the keys per second that went through the queue.
func run(q priorityqueue.PriorityQueue[string], names []string, duration time.Duration) float64 {
	start, done := time.Now(), 0
	for time.Since(start) < duration {
		for _, name := range names {
			q.Add(name)
		}
		for range names {
			name, _ := q.Get()
			q.Done(name)
		}
		done += len(names)
	}
	return float64(done) / time.Since(start).Seconds()
}
