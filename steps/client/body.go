package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
)

// MaxBody is how much of an answer is read, in bytes after decompression.
const MaxBody = 8 << 20

// large is the size of a body above which it is read, decoded and judged alone: a smaller one has too few JSON values
// to take much memory, however many are judged at once.
const large = 64 << 10

// errSilent says that no answer came in time.
var errSilent = errors.New("no answer in time")

var errTooLarge = errors.New("the body is larger than 8 MiB")

// readInto reads the body of an answer. A large one waits for its place; that is no time of the target, so the time
// of its request begins again.
func (c *Client) readInto(ctx context.Context, a *Answer, body io.Reader, timer *time.Timer) (err error) {
	if a.Body, err = io.ReadAll(io.LimitReader(body, large+1)); err != nil || len(a.Body) <= large {
		return err
	}
	timer.Stop()
	began := time.Now()
	select {
	case c.large <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	a.waited = time.Since(began)
	timer.Reset(a.Request.Timeout)
	rest, err := io.ReadAll(io.LimitReader(body, MaxBody+1-int64(len(a.Body))))
	a.Body = append(a.Body, rest...)
	if a.alone = err == nil && len(a.Body) <= MaxBody; a.alone {
		return nil
	}
	<-c.large
	return cmp.Or(err, errTooLarge)
}

// leavePlace lets the next large body be read.
func (c *Client) leavePlace(a *Answer) {
	if a.alone {
		<-c.large
		a.alone = false
	}
}

// keptText is the size of a text, in bytes, above which scenarios get its length and digest: they hold answers as
// long as they run, and two long texts are equal if these are. Of a large body that is no JSON they get as much.
const keptText = 64 << 10

// shorten lets go of what nothing is looked up in. The exchange was recorded and judged whole.
func (a *Answer) shorten() {
	a.Body = shortened(a.Body, a.kind)
	if a.Received != nil {
		a.Received = shortened(a.Received, a.kind)
	}
}

func shortened(body []byte, k kind) []byte {
	if len(body) <= large {
		return body
	}
	if k != isJSON {
		return bytes.Clone(body[:keptText])
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	_ = d.Decode(&value) // it is JSON
	short, _ := json.Marshal(withShortTexts(value))
	return short
}

// withShortTexts has so much of each long text that it is as unusable as an id or an address as the whole of it.
func withShortTexts(value any) any {
	short := func(text string) string {
		if len(text) <= keptText {
			return text
		}
		return fmt.Sprintf("%s(%d bytes, SHA-256 %x)", strings.ToValidUTF8(text[:maxAddress+1], ""), len(text), sha256.Sum256([]byte(text)))
	}
	switch value := value.(type) {
	case string:
		return short(value)
	case json.Number:
		if len(value) > keptText {
			return short(value.String())
		}
	case []any:
		for i := range value {
			value[i] = withShortTexts(value[i])
		}
	case map[string]any:
		all := make(map[string]any, len(value))
		for key, item := range value {
			all[short(key)] = withShortTexts(item)
		}
		return all
	}
	return value
}

// kind is what a body is.
type kind int

const (
	unknown kind = iota // not looked at yet
	isJSON              // one JSON text within the bounds
	noJSON
)

// IsJSON tells whether a body is one JSON text within the bounds of [Answer.IsJSON].
func IsJSON(body []byte) bool { return kindOf(body) == isJSON }

func kindOf(body []byte) kind {
	if isBounded(body) && json.Valid(body) {
		return isJSON
	}
	return noJSON
}

// Values yields all values within an object or an array, each before what is within it, with the names and indices on
// the way to it. They are valid until the next one.
func Values(of gjson.Result) iter.Seq2[[]string, gjson.Result] {
	return func(yield func([]string, gjson.Result) bool) { yieldBelow(nil, of, yield) }
}

func yieldBelow(way []string, of gjson.Result, yield func([]string, gjson.Result) bool) (more bool) {
	if more = true; !of.IsObject() && !of.IsArray() {
		return more
	}
	at := 0
	of.ForEach(func(key, item gjson.Result) bool {
		name := key.String()
		if of.IsArray() {
			name = strconv.Itoa(at)
		}
		at++
		to := append(way, name)
		more = yield(to, item) && yieldBelow(to, item, yield)
		return more
	})
	return more
}

// isBounded tells whether a JSON text nests no deeper, and has no more values, than is judged: what looks at each value
// of a body looks at the rest again at each level. Every value but the outermost stands behind a comma or is the first
// of its array or object. Of a text that is no JSON it tells nothing.
func isBounded(body []byte) bool {
	values, depth, quoted, opened := 1, 0, false, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
			continue
		case quoted:
			quoted = c != '"'
			continue
		case c == ' ', c == '\t', c == '\n', c == '\r':
			continue
		case c == ']', c == '}':
			depth--
		case c == ',', opened:
			values++
		}
		c := body[i]
		if quoted, opened = c == '"', c == '[' || c == '{'; opened {
			depth++
		}
		if values > spec.MaxValues || depth > spec.MaxDepth {
			return false
		}
	}
	return true
}

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
