package graphconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Pos is a place in a file. A zero Line means the whole file.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

func posAt(src []byte, file string, offset int64) Pos {
	offset = max(0, min(offset, int64(len(src))))
	before := src[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	return Pos{File: file, Line: line, Col: int(offset) - bytes.LastIndexByte(before, '\n')}
}

// locate finds the value under a path of keys in a JSON document that is known to be valid. Where a key is missing, it
// is the place of the object that should have it.
func locate(src []byte, file string, keys ...string) Pos {
	dec := json.NewDecoder(bytes.NewReader(src))
	at := startOfNext(src, dec)
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return posAt(src, file, at)
	}
	for len(keys) > 0 {
		value, found := seek(src, dec, keys[0])
		if !found {
			break
		}
		at, keys = value, keys[1:]
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			break
		}
	}
	return posAt(src, file, at)
}

// seek moves dec, inside of an object, in front of the value of the key.
func seek(src []byte, dec *json.Decoder, key string) (int64, bool) {
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return 0, false
		}
		at := startOfNext(src, dec)
		if t == key {
			return at, true
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return 0, false
		}
	}
	return 0, false
}

// startOfNext skips the white space and the punctuation between tokens.
func startOfNext(src []byte, dec *json.Decoder) int64 {
	at := dec.InputOffset()
	for at < int64(len(src)) && bytes.IndexByte([]byte(" \t\r\n:,"), src[at]) >= 0 {
		at++
	}
	return at
}
