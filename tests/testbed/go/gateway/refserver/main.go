// Command refserver is what our extension server is measured against: the same
// hook, PostTranslateModify, as a Go program with grpc-go.
//
//	refserver serve -mode decode -edits FILE   decodes, edits and encodes, as Go extension servers do
//	refserver serve -mode renumber             moves the request's bytes to the answer's fields: the least there is to do
//	refserver call -request FILE NAME=HOST:PORT...   calls servers in turn, and prints how long they took
//
// A server prints its port, and serves until its stdin closes.
package main

import (
	"fmt"
	"log"
	"os"
)

// limit of a message: more than any request here has.
const limit = 256 << 20

const service, method = "envoygateway.extension.EnvoyGatewayExtension", "PostTranslateModify"

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: refserver serve|call [FLAGS]")
	}
	var err error
	switch args := os.Args[2:]; os.Args[1] {
	case "serve":
		err = serve(args)
	case "call":
		err = call(args)
	default:
		err = fmt.Errorf("no such command: %s", os.Args[1])
	}
	if err != nil {
		log.Fatal("refserver: ", err)
	}
}
