package reports

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of what is kept of one exchange. A target may send megabytes; a report that holds them all cannot be
// opened.
const (
	MaxBody   = 64 << 10 // of a body
	maxHeader = 8 << 10  // of a header's value, of the address and of an error text
	maxName   = 256      // of a header's name
	maxValues = 200      // header values in one direction
)

// bounded returns x with everything cut that exceeds the bounds of evidence.
func bounded(x Exchange) Exchange {
	x.URL, x.Error, x.Curl = safe.Cut(x.URL, maxHeader), safe.Cut(x.Error, maxHeader), safe.Cut(x.Curl, MaxBody)
	x.Request, x.Response = x.Request.bounded(), x.Response.bounded()
	return x
}

// bounded cuts headers, and the body at a rune boundary. Size and SHA256 tell of the whole body where the kept text is
// not all of it: cut, or no UTF-8 (which no JSON file can hold). Where they are already set, someone before us has cut
// and knew better.
func (m Message) bounded() Message {
	if whole := m.Body; len(whole) > MaxBody || !utf8.ValidString(whole) {
		m.Body = safe.Prefix(whole, MaxBody)
		if m.Size == 0 {
			m.Size, m.SHA256 = len(whole), fmt.Sprintf("%x", sha256.Sum256([]byte(whole)))
		}
	}
	kept := map[string][]string{}
	for i, h := range m.SortedHeaders() {
		if i == maxValues {
			kept["..."] = []string{fmt.Sprintf("more than %d header values: the rest is left out", maxValues)}
			break
		}
		name := safe.Cut(h[0], maxName)
		kept[name] = append(kept[name], safe.Cut(h[1], maxHeader))
	}
	m.Headers = kept
	return m
}

// FullSize is the length of the whole body in bytes, of which Body may hold only the beginning.
func (m Message) FullSize() int { return max(m.Size, len(m.Body)) }

// secretPointers are the places of a body at which the suite puts secrets.
var secretPointers = regexp.MustCompile(`^/secrets/[0-9]{1,9}/value$`)

// SecretSpans are the recorded places of secrets in the body, as byte offsets of JSON texts with their quotation marks,
// in their order.
func (m Message) SecretSpans() [][2]int {
	var found [][2]int
	for _, place := range m.Secrets {
		if !secretPointers.MatchString(place.Pointer) {
			continue
		}
		value := gjson.Get(m.Body, strings.ReplaceAll(strings.TrimPrefix(place.Pointer, "/"), "/", "."))
		if value.Type == gjson.String && value.Index > 0 {
			found = append(found, [2]int{value.Index, value.Index + len(value.Raw)})
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	return found
}

// SortedHeaders lists the headers in the order in which every reader expects them: by name.
func (m Message) SortedHeaders() [][2]string {
	all := [][2]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		for _, value := range m.Headers[name] {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

// Header returns the first value of a header, whatever the case of its name.
func (m Message) Header(name string) string {
	for _, h := range m.SortedHeaders() {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}
