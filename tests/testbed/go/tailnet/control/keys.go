package main

import (
	"fmt"
	"slices"
	"time"
)

// authKey is a key as the tests' HTTP API minted it.
type authKey struct {
	ID            string    `json:"id"`
	Key           string    `json:"key"`
	Tags          []string  `json:"tags"`
	Reusable      bool      `json:"reusable"`
	Ephemeral     bool      `json:"ephemeral"`
	Preauthorized bool      `json:"preauthorized"`
	Created       time.Time `json:"created"`
	Expires       time.Time `json:"expires"`
	Description   string    `json:"description"`
	Used          bool      `json:"used"`
	Revoked       bool      `json:"revoked"`
}

// useKey finds the key of that text and marks it used. Its errors are what a
// client is told, in the words of the real control server.
func (t *tailnet) useKey(text string, requested []string) (*authKey, error) {
	k := t.keyOf(text)
	switch {
	case k == nil, k.Revoked:
		return nil, fmt.Errorf("invalid key: API key does not exist")
	case k.Used && !k.Reusable, !k.Expires.IsZero() && time.Now().After(k.Expires):
		return nil, fmt.Errorf("invalid key: API key %s not valid", k.ID)
	}
	for _, tag := range requested {
		if !slices.Contains(k.Tags, tag) {
			return nil, fmt.Errorf("requested tags %v are invalid or not permitted", requested)
		}
	}
	k.Used = true
	return k, nil
}

func (t *tailnet) keyOf(text string) *authKey {
	for _, k := range t.keys {
		if k.Key == text {
			return k
		}
	}
	return nil
}
