// Command web is the HTTP server behind the testbed's Services and tailnet
// nodes. It answers a text, or at /echo what it was asked, as JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	listen := flag.String("listen", ":8080", "address to listen on")
	text := flag.String("text", "hello", "what to answer")
	flag.Parse()
	host, _ := os.Hostname()
	if h := os.Getenv("HOSTNAME"); h != "" {
		host = h
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, *text) })
	http.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"text": *text, "server": host, "client": r.RemoteAddr, "method": r.Method,
			"host": r.Host, "url": r.URL.String(), "proto": r.Proto, "headers": r.Header,
		})
	})
	log.Fatal(http.ListenAndServe(*listen, nil))
}
