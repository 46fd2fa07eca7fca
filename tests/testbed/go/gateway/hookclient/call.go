package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// rawCodec passes bytes through: what is compared is what was on the wire.
type rawCodec struct{}

func (rawCodec) Name() string                    { return "proto" }
func (rawCodec) Marshal(v any) ([]byte, error)   { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(b []byte, v any) error { *v.(*[]byte) = bytes.Clone(b); return nil }

// hook is one method, a request, and which fields of the response must be
// which of the request.
type hook struct {
	name     string
	request  proto.Message
	response proto.Message
	fields   map[protowire.Number]protowire.Number // request's to response's
}

// result is what is printed of a call.
type result struct {
	Hook         string `json:"hook"`
	Code         string `json:"code"` // gRPC's, "OK" when it succeeded
	Error        string `json:"error,omitempty"`
	RequestBytes int    `json:"requestBytes"`
	AnswerBytes  int    `json:"answerBytes"`
	Resources    int    `json:"resources"` // in the request
	Identical    bool   `json:"identical"` // each came back, in order, byte for byte
	Readable     bool   `json:"readable"`  // the answer is a message of Envoy Gateway's
	Difference   string `json:"difference,omitempty"`
	MS           int64  `json:"ms"`
}

const service = "/envoygateway.extension.EnvoyGatewayExtension/"

func (h hook) call(conn *grpc.ClientConn, timeout time.Duration) result {
	out := result{Hook: h.name}
	request, err := proto.MarshalOptions{Deterministic: true}.Marshal(h.request)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.RequestBytes = len(request)
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	defer stop()
	var answer []byte
	start := time.Now()
	err = conn.Invoke(ctx, service+h.name, &request, &answer)
	out.MS = time.Since(start).Milliseconds()
	out.Code, out.AnswerBytes = status.Code(err).String(), len(answer)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	h.compare(request, answer, &out)
	return out
}

func (h hook) compare(request, answer []byte, out *result) {
	if err := proto.Unmarshal(answer, h.response); err != nil {
		out.Difference = err.Error()
		return
	}
	out.Readable = true
	sent, err := split(request)
	if err != nil {
		out.Difference = err.Error()
		return
	}
	got, err := split(answer)
	if err != nil {
		out.Difference = err.Error()
		return
	}
	out.Identical = true
	for from, to := range h.fields {
		out.Resources += len(sent[from])
		if d := difference(sent[from], got[to]); d != "" {
			out.Identical = false
			out.Difference = fmt.Sprintf("request's field %d, answer's field %d: %s", from, to, d)
		}
	}
}

func difference(sent, got [][]byte) string {
	if len(sent) != len(got) {
		return fmt.Sprintf("%d sent, %d came back", len(sent), len(got))
	}
	for i := range sent {
		if !bytes.Equal(sent[i], got[i]) {
			return fmt.Sprintf("number %d differs: %x was sent, %x came back", i, cut(sent[i]), cut(got[i]))
		}
	}
	return ""
}

func cut(b []byte) []byte { return b[:min(len(b), 200)] }

// split lists the length-delimited fields of a message by number.
func split(b []byte) (map[protowire.Number][][]byte, error) {
	fields := map[protowire.Number][][]byte{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		n = protowire.ConsumeFieldValue(number, kind, b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b)
			fields[number] = append(fields[number], value)
		}
		b = b[n:]
	}
	return fields, nil
}
