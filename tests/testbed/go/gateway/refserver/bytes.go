package main

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// rawCodec passes bytes through.
type rawCodec struct{}

func (rawCodec) Name() string                    { return "proto" }
func (rawCodec) Marshal(v any) ([]byte, error)   { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(b []byte, v any) error { *v.(*[]byte) = bytes.Clone(b); return nil }

// renumber makes the request's bytes those of the answer, whose fields have
// numbers one lower, and drops the context, which is field 1 and comes first. It
// writes into the request.
func renumber(request []byte) ([]byte, error) {
	var answer []byte
	for len(request) > 0 {
		number, kind, n := protowire.ConsumeField(request)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if number > 15 || kind != protowire.BytesType {
			return nil, fmt.Errorf("field %d is none of PostTranslateModifyRequest", number)
		}
		switch {
		case number > 1:
			request[0] = byte(protowire.EncodeTag(number-1, kind))
			if answer == nil {
				answer = request[:0]
			}
			answer = answer[:len(answer)+n]
		case answer != nil:
			return nil, fmt.Errorf("the context comes after what it is the context of")
		}
		request = request[n:]
	}
	return answer, nil
}
