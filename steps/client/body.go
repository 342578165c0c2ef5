package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/spec"
)

// MaxBody is how much of an answer is read, in bytes after decompression.
const MaxBody = 8 << 20

// Large bodies are read and judged one at a time.
const (
	large       = 256 << 10 // bytes
	largeBodies = 1
)

// errSilent says that no answer came in time.
var errSilent = errors.New("no answer in time")

var errTooLarge = errors.New("the body is larger than 8 MiB")

// readInto reads the body of an answer. While it waits for the place of a large one, the time of the request stands still: the target
// does not wait for us.
func (c *Client) readInto(ctx context.Context, a *Answer, response *http.Response, left *allowance) (err error) {
	defer response.Body.Close()
	if a.Body, err = io.ReadAll(io.LimitReader(response.Body, large+1)); err != nil || len(a.Body) <= large {
		return err
	}
	left.pause()
	err = c.large.Acquire(ctx, 1)
	left.resume()
	if err != nil {
		return context.Cause(ctx)
	}
	if c.largeBody == nil {
		c.largeBody = make([]byte, 0, MaxBody+1+bytes.MinRead) // or it would grow for the last byte
	}
	whole := bytes.NewBuffer(c.largeBody)
	whole.Write(a.Body)
	_, err = whole.ReadFrom(io.LimitReader(response.Body, MaxBody+1-int64(len(a.Body))))
	if err == nil && whole.Len() > MaxBody {
		err = errTooLarge
	}
	if err != nil {
		c.large.Release(1)
		return err
	}
	a.Body, a.leave = whole.Bytes(), func() { c.large.Release(1) }
	return nil
}

// leavePlace lets the next large body be read, into the memory of this one: shorten comes before it.
func (a *Answer) leavePlace() {
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
}

// allowance is the time that a request has.
type allowance struct {
	timer  *time.Timer
	left   time.Duration
	since  time.Time // from when on it runs, or stands still
	paused time.Duration
}

// allow calls end when the time has passed.
func allow(d time.Duration, end func()) *allowance {
	return &allowance{timer: time.AfterFunc(d, end), left: d, since: time.Now()}
}

func (t *allowance) pause() {
	t.timer.Stop()
	now := time.Now()
	t.left -= now.Sub(t.since)
	t.since = now
}

func (t *allowance) resume() {
	now := time.Now()
	t.paused += now.Sub(t.since)
	t.since = now
	t.timer.Reset(max(t.left, 0))
}

// kind is what a body is.
type kind int

const (
	unknown kind = iota // not looked at yet
	isJSON              // one JSON text within the bounds
	noJSON
)

func kindOf(body []byte) kind {
	if valuesIn(body) <= spec.MaxValues && json.Valid(body) {
		return isJSON
	}
	return noJSON
}

// valuesIn counts the values of a JSON text, up to one more than the bound: every value but the outermost stands behind a comma or
// is the first of its array or object. Of a text that is no JSON the count means nothing.
func valuesIn(body []byte) int {
	if len(body) <= spec.MaxValues {
		return 1
	}
	n, quoted, opened := 1, false, false
	for i := 0; i < len(body) && n <= spec.MaxValues; i++ {
		c := body[i]
		switch {
		case quoted:
			quoted = c != '"'
			if c == '\\' {
				i++
			}
			continue
		case c == ' ', c == '\t', c == '\n', c == '\r':
			continue
		case c == ',', opened && c != ']' && c != '}':
			n++
		}
		quoted, opened = c == '"', c == '[' || c == '{'
	}
	return n
}
