package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What scenarios keep of a large answer: they hold it as long as they run, and many run at the same time. Nothing is lost for them: two long
// texts are equal if what is kept of them is, and no element of a list that is shorter than an id names anything.
const (
	longText     = 256 << 10 // bytes of a text or number in JSON; of longer ones the beginning and the digest are kept, as a text
	keptText     = 16 << 10  // bytes; more than a URL may have, so that no id becomes one that can be sent
	longList     = 10_000    // elements; later ones are kept only if they can hold an id
	keptOther    = 64 << 10  // bytes of what is no JSON: it may be searched for a text
	shortElement = 40        // bytes: {"id":"<UUID>"} has more
)

// shorten lets go of what nothing is looked up in. The exchange was recorded and judged whole.
func (a *Answer) shorten() {
	if a.kind != isJSON && len(a.Body) > keptOther {
		a.Body = slices.Clone(a.Body[:keptOther])
		if a.Received != nil {
			a.Received = a.Body // only JSON is translated
		}
	}
	if len(a.Body) <= large {
		return
	}
	a.Body = shortened(a.Body)
	if a.Received != nil {
		a.Received = shortened(a.Received)
	}
}

// What is kept of the headers of an answer: a server has some dozens of names, and each name and value costs a hundred bytes.
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

// shortened is a JSON text without blanks between its values, without its long texts and numbers, and without short elements at the end of
// long lists.
func shortened(body []byte) []byte {
	out := make([]byte, 0, min(len(body), 2*large))
	var open []list // from the outermost to the innermost array or object
	for i := 0; i < len(body); {
		c := body[i]
		if c == '"' {
			end := endOfText(body, i)
			out = appendText(out, body[i+1:end])
			i = end + 1
			continue
		}
		inner := len(open) - 1
		switch c {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case '[', '{':
			out = append(out, c)
			open = append(open, list{is: c == '[', start: len(out), before: len(out)})
			i++
			continue
		case ',', ']', '}':
			l := &open[inner]
			if l.n++; l.is && l.n > longList && len(out)-l.start < shortElement {
				out = out[:l.before]
			}
			l.before = len(out)
			if c != ',' {
				open = open[:inner]
			}
			out = append(out, c)
			if c == ',' {
				l.start = len(out)
			}
		case ':':
			out = append(out, c)
		default:
			end := endOfLiteral(body, i)
			if end-i > longText {
				out = appendText(out, body[i:end])
			} else {
				out = append(out, body[i:end]...)
			}
			i = end
			continue
		}
		i++
	}
	return slices.Clip(out)
}

// list is an array or object that is being read.
type list struct {
	is            bool // an array
	n             int  // elements
	start, before int  // where the element begins in what is kept, and what is kept of those before it ends
}

// endOfText is the place of the closing quote of the text that begins at a place.
func endOfText(body []byte, at int) int {
	for i := at + 1; ; i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
}

// endOfLiteral is the place behind a number, true, false or null.
func endOfLiteral(body []byte, at int) int {
	if n := bytes.IndexAny(body[at:], ",]} \t\r\n"); n >= 0 {
		return at + n
	}
	return len(body)
}

// appendText adds a text with its quotes; of a long one its beginning, with its length and digest.
func appendText(out, text []byte) []byte {
	out = append(out, '"')
	if len(text) > longText {
		digest := sha256.Sum256(text)
		text = append(slices.Clone(text[:wholeUpTo(text, keptText)]), "... ("+strconv.Itoa(len(text))+" bytes, SHA-256 "+hex.EncodeToString(digest[:])+")"...)
	}
	return append(append(out, text...), '"')
}

// wholeUpTo is the greatest place up to n at which no escape and no rune of a text is cut.
func wholeUpTo(text []byte, n int) int {
	at := 0
	for {
		size := 1
		switch {
		case text[at] == '\\' && text[at+1] == 'u':
			size = 6
		case text[at] == '\\':
			size = 2
		case text[at] >= utf8.RuneSelf:
			_, size = utf8.DecodeRune(text[at:])
		}
		if at+size > n {
			return at
		}
		at += size
	}
}
