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

// MaxBody is how much of an answer is read, in bytes after decompression.
const MaxBody = 8 << 20

// large is the size of a body above which it is read, decoded and judged alone: a smaller one has too few JSON values
// to take much memory, however many are judged at once. Of a text that is larger, scenarios get the length and digest:
// they hold answers as long as they run, and two long texts are equal if these are. Of a large body that is no JSON
// they get as much.
const large = 48 << 10

// errSilent says that no answer came in time.
var errSilent = errors.New("no answer in time")

var errTooLarge = errors.New("the body is larger than 8 MiB")

// received is a response whose body was read.
type received struct {
	*exchange.Response
	alone  bool          // holds the place of a large body
	waited time.Duration // for that place
}

// readInto reads the body of a response. A large body waits for its place. This wait does not count toward the time limit of
// the request, which begins again.
func (c *Client) readInto(ctx context.Context, a *received, body io.Reader, timer *time.Timer) error {
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
	rest, err := io.ReadAll(io.LimitReader(body, MaxBody+1-int64(len(a.Body))))
	a.Body = append(a.Body, rest...)
	if err == nil && len(a.Body) > MaxBody {
		err = errTooLarge
	}
	a.alone = err == nil
	if err != nil {
		<-c.large
	}
	return err
}

// leavePlace lets the next large body be read.
func (c *Client) leavePlace(a *received) {
	if a.alone {
		<-c.large
		a.alone = false
	}
}

// shorten shortens long texts of a body. The exchange was recorded and judged with the whole body.
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
	_ = json.Compact(&compact, body) // it is JSON
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

// withoutEscapes returns a JSON text with as few escapes as possible: the same text may be written with six bytes for each
// of its characters. Numbers stay as they are.
func withoutEscapes(token []byte) []byte {
	var text string
	if json.Unmarshal(token, &text) != nil {
		return token
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can always be encoded
	return bytes.TrimSuffix(plain.Bytes(), []byte("\n"))
}

// beginning is so much of a long text that it is as unusable as an id or an address as the whole of it.
func beginning(text []byte) string {
	begin := safe.Prefix(string(text[:2*maxAddress]), maxAddress+1)
	for !json.Valid([]byte(`"` + begin + `"`)) { // it ends within an escape
		begin = begin[:len(begin)-1]
	}
	return begin
}

// lengthOfFirst is the length of the text, the number or the sign that a part of a JSON text begins with.
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

// What is kept of the headers of an answer, in bytes. Servers send one or two thousand; each value costs some dozens
// more.
const (
	keptHeaders = 4 << 10
	perValue    = 32
)

// looked are the headers that are kept before any other.
var looked = []string{"Content-Type", "Content-Length", "Content-Encoding", "Date", "Location", "Retry-After",
	"Www-Authenticate", "Allow"}

// leftOut is in place of the names of headers that are not kept.
const leftOut = "..."

// headersOf are the headers of an answer, as many as are kept: those that are looked at, then the others by name.
func headersOf(h http.Header) http.Header {
	isLooked := func(name string) bool { return slices.Contains(looked, name) }
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(h)), isLooked)
	kept, room, omitted := http.Header{}, keptHeaders, 0
	for _, name := range append(slices.Clone(looked), others...) {
		for _, v := range h[name] {
			size := len(name) + len(v) + perValue
			if size > room { // never a part: a secret that is cut is not found
				omitted++
				continue
			}
			room -= size
			name = strings.Clone(name) // it shares the memory of all headers
			kept[name] = append(kept[name], strings.Clone(v))
		}
	}
	if omitted > 0 {
		kept[leftOut] = []string{fmt.Sprintf("%d more values", omitted)}
	}
	return kept
}
