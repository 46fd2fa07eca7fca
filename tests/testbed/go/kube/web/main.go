// Command web is the HTTP server behind the testbed's Services and tailnet
// nodes. It answers a text, or at /echo what it was asked, as JSON. With
// -forward it is a TCP forwarder instead.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	listen := flag.String("listen", ":8080", "address to listen on")
	forward := flag.String("forward", "", "address to forward connections to")
	text := flag.String("text", "hello", "what to answer")
	flag.Parse()
	if *forward != "" {
		log.Fatal(forwardTo(*listen, *forward))
	}
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

func forwardTo(listen, target string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			up, err := net.Dial("tcp", target)
			if err != nil {
				return
			}
			defer up.Close()
			go func() {
				io.Copy(up, conn)
				up.(*net.TCPConn).CloseWrite()
			}()
			io.Copy(conn, up)
		}()
	}
}
