package client

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// What is kept of the headers of an answer: a server has some dozens of names, and each name and value costs a
// hundred bytes.
const (
	keptNames  = 64
	keptValues = 16 // of one name
)

// looked are the headers that are kept however many others there are.
var looked = []string{"Content-Type", "Content-Length", "Content-Encoding", "Date", "Location", "Retry-After", "Www-Authenticate", "Allow"}

// leftOut is in place of the names of headers that are not kept.
const leftOut = "..."

// headersOf are the headers of an answer: those that are looked at, and the first of all others by name.
func headersOf(h http.Header) http.Header {
	kept := h
	if len(h) > keptNames {
		kept = http.Header{leftOut: {fmt.Sprintf("%d names of headers in all", len(h))}}
		for _, name := range append(slices.Clone(looked), slices.Sorted(maps.Keys(h))[:keptNames]...) {
			if values := h[name]; values != nil {
				kept[strings.Clone(name)] = values // a name shares the memory of all headers
			}
		}
	}
	for name, values := range kept {
		if n := len(values); n > keptValues {
			kept[name] = append(slices.Clone(values[:keptValues]), fmt.Sprintf("... (%d in all)", n))
		}
	}
	return kept
}
