package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a result file that is read: it may come from anywhere. That of a run with 1,800 exchanges has 5 MB, and some
// ten thousands of elements.
const (
	maxFile          = 64 << 20
	maxElements      = 400_000 // of all lists
	maxReadIDInBytes = 1 << 10
)

// Elements counts the elements of all lists in a JSON text. A list of empty objects is short as a text, and takes hundreds of times
// as much memory when it is decoded: whoever decodes a foreign text counts first. Of a text that is no JSON the count means nothing.
func Elements(doc []byte) (n int) {
	var lists []bool // which of the values around a place are lists, the outermost first
	empty := false   // nothing stands in the innermost list yet
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		inList := len(lists) > 0 && lists[len(lists)-1]
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case ']', '}':
			lists = lists[:max(len(lists)-1, 0)]
		case ',':
			if inList {
				n++
			}
		default:
			if empty {
				n++
			}
			if c == '[' || c == '{' {
				lists = append(lists, c == '[')
			} else if c == '"' {
				i = endOfString(doc, i)
			}
		}
		empty = c == '['
	}
	return n
}

// endOfString is the place of the quotation mark that ends the string which begins at a place.
func endOfString(doc []byte, at int) int {
	for at++; at < len(doc) && doc[at] != '"'; at++ {
		if doc[at] == '\\' {
			at++
		}
	}
	return at
}

// IsSegment tells whether an id can be one segment of a path, and the name of a file: not empty, no slash, no dot segment, no control character, and
// at most so many bytes.
func IsSegment(id string, most int) bool {
	return id != "" && id != "." && id != ".." && len(id) <= most && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) })
}

// checkIDs refuses ids of a foreign result that are no ids: they become names of files and of places in pages.
func checkIDs(r *Result) error {
	ids := []string{}
	for _, q := range r.Requirements {
		ids = append(ids, q.ID)
	}
	for _, f := range r.Findings {
		ids = append(ids, f.ID, f.Requirement)
	}
	for _, id := range ids {
		if !IsSegment(id, maxReadIDInBytes) {
			return fmt.Errorf("%q is no id: one has 1 to %d bytes, no slash and no control character", safe.Cut(id, 100), maxReadIDInBytes)
		}
	}
	return nil
}
