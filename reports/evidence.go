package reports

import (
	"crypto/sha256"
	"encoding/hex"
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

// Bounded returns x with everything cut that exceeds the bounds of evidence.
func Bounded(x Exchange) Exchange {
	x.URL = safe.Cut(x.URL, maxHeader)
	x.Error = safe.Cut(x.Error, maxHeader)
	x.Curl = safe.Cut(x.Curl, MaxBody)
	x.Request = boundedMessage(x.Request)
	x.Response = boundedMessage(x.Response)
	return x
}

// boundedMessage cuts the body at a rune boundary. Size and SHA256 tell of the whole body where the kept text is
// not all of it: cut, or no UTF-8 (which no JSON file can hold). Where they are already set, someone before us has
// cut and knew better.
func boundedMessage(m Message) Message {
	whole := m.Body
	if len(whole) > MaxBody || !utf8.ValidString(whole) {
		m.Body = safe.Prefix(whole, MaxBody)
		if m.Size == 0 {
			sum := sha256.Sum256([]byte(whole))
			m.Size, m.SHA256 = len(whole), hex.EncodeToString(sum[:])
		}
	}
	m.Headers = boundedHeaders(m.Headers)
	return m
}

func boundedHeaders(h map[string][]string) map[string][]string {
	kept, values := make(map[string][]string, len(h)), 0
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			if values++; values > maxValues {
				kept["..."] = []string{fmt.Sprintf("more than %d header values: the rest is left out", maxValues)}
				return kept
			}
			key := safe.Cut(name, maxName)
			kept[key] = append(kept[key], safe.Cut(v, maxHeader))
		}
	}
	return kept
}

// FullSize is the length of the whole body in bytes, of which Body may hold only the beginning.
func (m Message) FullSize() int { return max(m.Size, len(m.Body)) }

// secretPointers are the places of a body at which the suite puts secrets.
var secretPointers = regexp.MustCompile(`^/secrets/[0-9]{1,9}/value$`)

// SecretSpans are the recorded places of secrets in the body, as byte offsets of JSON texts with their quotation marks, in
// their order.
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

// boundedCause returns a typed cause whose names are cut: they may quote the target.
func boundedCause(skip *Skip, by []Blocker) (*Skip, []Blocker) {
	if skip != nil {
		skip = &Skip{Kind: skip.Kind, Key: safe.Cut(skip.Key, maxHeader)}
	}
	var blockers []Blocker
	for _, b := range by {
		blockers = append(blockers, Blocker{Kind: b.Kind, Name: safe.Cut(b.Name, maxHeader)})
	}
	return skip, blockers
}
