package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
)

// MaxBody limits the body of a response, in bytes after decompression.
const MaxBody = 8 << 20

// large is the size above which only one body at a time is read, decoded and judged. Smaller bodies have too few JSON
// values to need much memory, even if many are judged at the same time. Scenarios keep their responses until they end.
// Therefore a text in a large body is replaced by its length and digest, which are enough to compare it, and only the
// beginning of a large body that is not JSON is kept.
const large = 48 << 10

var errTimeout = errors.New("no response in time")

var errTooLarge = errors.New("the body is larger than 8 MiB")

// received is a response whose body was read.
type received struct {
	*exchange.Response
	large  bool          // holds the slot of large bodies
	waited time.Duration // time of the wait for that slot
}

// readBody reads the body of a response. A large body waits for a slot. This wait does not count toward the time limit of
// the request, which begins again.
func (c *Client) readBody(ctx context.Context, a *received, body io.Reader, timer *time.Timer) error {
	first, err := io.ReadAll(io.LimitReader(body, large+1))
	a.Body = first
	if err != nil || len(first) <= large {
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
	a.large = true
	rest, err := io.ReadAll(io.LimitReader(body, MaxBody+1-int64(len(a.Body))))
	a.Body = append(a.Body, rest...)
	if err == nil && len(a.Body) > MaxBody {
		err = errTooLarge
	}
	if err != nil {
		c.releaseLarge(a)
	}
	return err
}

// releaseLarge releases the slot of large bodies if the response holds it.
func (c *Client) releaseLarge(a *received) {
	if a.large {
		<-c.large
		a.large = false
	}
}

// shorten shortens the long texts of a body after the exchange was recorded and judged with the whole body.
func shorten(a *exchange.Response) {
	a.Body = shortened(a.Body, a.IsJSON())
	if a.Received != nil {
		a.Received = shortened(a.Received, a.IsJSON())
	}
}

func shortened(body []byte, isJSON bool) []byte {
	if len(body) <= large {
		return body
	}
	if !isJSON {
		return bytes.Clone(body[:large])
	}
	var compact, short bytes.Buffer
	_ = json.Compact(&compact, body) // valid JSON
	for rest := compact.Bytes(); len(rest) > 0; {
		n := lengthOfFirst(rest)
		token := rest[:n]
		if n > large {
			token = withoutEscapes(token)
		}
		if len(token) <= large {
			short.Write(token)
		} else {
			begin := beginning(bytes.Trim(token, `"`))
			fmt.Fprintf(&short, `"%s(%d bytes, SHA-256 %x)"`, begin, len(token), sha256.Sum256(token))
		}
		rest = rest[n:]
	}
	return bytes.Clone(short.Bytes())
}

// Short returns a text in the form that scenarios see in responses: see large.
func Short(text string) string {
	token, _ := json.Marshal(text) // a string can always be encoded
	var short string
	_ = json.Unmarshal(shortened(token, true), &short) // valid JSON
	return short
}

// withoutEscapes returns a JSON string with as few escapes as possible, because escapes lengthen a short text. Numbers do
// not change.
func withoutEscapes(token []byte) []byte {
	var text string
	if json.Unmarshal(token, &text) != nil {
		return token
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can always be encoded
	return bytes.TrimSuffix(plain.Bytes(), []byte("\n"))
}

// beginning returns the beginning of a long text. Like the whole text, it is too long to be used as an ID or an address.
func beginning(text []byte) string {
	begin := safe.Prefix(string(text[:2*maxAddress]), maxAddress+1)
	for !json.Valid([]byte(`"` + begin + `"`)) { // the cut is within an escape
		begin = begin[:len(begin)-1]
	}
	return begin
}

// lengthOfFirst returns the length of the first string, number or character of a JSON text.
func lengthOfFirst(part []byte) int {
	if part[0] != '"' {
		return max(1, len(part)-len(bytes.TrimLeft(part, "0123456789.eE+-")))
	}
	for i := 1; ; i++ {
		switch part[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// Limits of the recorded headers of a response, in bytes. A typical response has one or two thousand.
const (
	keptHeaders = 4 << 10
	perValue    = 32 // in addition to a name and value
)

// importantHeaders are kept first.
var importantHeaders = []string{"Content-Type", "Content-Length", "Content-Encoding", "Date", "Location", "Retry-After",
	"Www-Authenticate", "Allow"}

// omittedHeaders replaces the headers that are not kept.
const omittedHeaders = "..."

// headersOf returns the recorded headers of a response: the important ones, then the others by name, up to the limit.
func headersOf(h http.Header) http.Header {
	names := slices.Clone(importantHeaders)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !slices.Contains(importantHeaders, name) {
			names = append(names, name)
		}
	}
	kept, room, omitted := http.Header{}, keptHeaders, 0
	for _, name := range names {
		for _, v := range h[name] {
			size := len(name) + len(v) + perValue
			if size > room { // a value is not cut, because a part of a secret would not be redacted
				omitted++
				continue
			}
			room -= size
			name = strings.Clone(name) // the original shares memory with all headers
			kept[name] = append(kept[name], strings.Clone(v))
		}
	}
	if omitted > 0 {
		kept[omittedHeaders] = []string{fmt.Sprintf("%d more values", omitted)}
	}
	return kept
}
