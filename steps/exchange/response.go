package exchange

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
)

// Response is a response of the target. Body uses the interface's names for neutral words. The recorded exchange has the
// original body.
type Response struct {
	Request  Request
	Status   int
	Header   http.Header
	Body     []byte
	Received []byte // the body with the target's names; nil if equal to Body
	Sent     time.Time
	Took     time.Duration
	Cut      bool          // Body is not the whole body, because a recording lacks the rest
	Queued   time.Duration // wait before it was sent, for the rate and for a slot among the requests in flight
	ID       int           // of the recorded exchange

	TLS       *tls.ConnectionState // state of the connection; nil over http
	Forwarded string               // the address that responded, if a redirect on the same host was followed

	isJSON *bool // result of IsJSON; nil before CheckJSON
}

// Wire returns the original body.
func (a *Response) Wire() []byte {
	if a.Received == nil {
		return a.Body
	}
	return a.Received
}

// RedirectedBase returns the base address to which a response redirects a request: its location without the path of the
// request. It returns "" if the response is not a redirect, or if its location has another path, a user or the same base.
func RedirectedBase(r Request, a *Response) string {
	from, err := url.Parse(r.URL())
	location := a.Forwarded
	if a.Status/100 == 3 {
		location = cmp.Or(location, a.Header.Get("Location"))
	}
	if err != nil || location == "" {
		return ""
	}
	to, err := from.Parse(location)
	if err != nil || to.User != nil {
		return ""
	}
	to.RawQuery, to.Fragment = "", ""
	base, hasPath := strings.CutSuffix(to.String(), r.Path)
	if !hasPath || base == r.Base {
		return ""
	}
	return base
}

// IsPage reports whether the body looks like HTML.
func (a *Response) IsPage() bool { return bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")) }

// Ended returns when the response was complete.
func (a *Response) Ended() time.Time { return a.Sent.Add(a.Took) }

// OK reports whether the status is 2xx.
func (a *Response) OK() bool { return a.Status >= 200 && a.Status < 300 }

// IsRefused reports whether the status is 4xx.
func (a *Response) IsRefused() bool { return a.Status >= 400 && a.Status < 500 }

// IsJSON reports whether the body is a JSON text within the limits of the function [IsJSON].
func (a *Response) IsJSON() bool {
	if a.isJSON != nil {
		return *a.isJSON
	}
	return IsJSON(a.Body)
}

// CheckJSON computes the result of IsJSON once, and returns it. Call it before other goroutines read the response.
func (a *Response) CheckJSON() bool {
	is := IsJSON(a.Body)
	a.isJSON = &is
	return is
}

// IsArray reports whether the body is a JSON array.
func (a *Response) IsArray() bool {
	return a.IsJSON() && bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte{'['})
}

// Get returns the value at a path of the body (GJSON syntax). If the body is not JSON, the value does not exist.
func (a *Response) Get(path string) gjson.Result {
	if !a.IsJSON() {
		return gjson.Result{}
	}
	return gjson.GetBytes(a.Body, path)
}

// IsJSON reports whether a body is one JSON text of bounded depth and with a bounded number of values. GJSON recurses
// without a limit, so a hostile body could crash the process.
func IsJSON(body []byte) bool { return spec.Bounded(body) && json.Valid(body) }

// Values yields all values within an object or an array, each before its children, with the path of names and indices to
// it. The slice is valid until the next value.
func Values(of gjson.Result) iter.Seq2[[]string, gjson.Result] {
	return func(yield func([]string, gjson.Result) bool) { yieldBelow(nil, of, yield) }
}

// yieldBelow yields the values within a value. It returns false if the consumer has stopped.
func yieldBelow(path []string, of gjson.Result, yield func([]string, gjson.Result) bool) (more bool) {
	more = true
	if !of.IsObject() && !of.IsArray() {
		return more
	}
	at := 0
	of.ForEach(func(key, item gjson.Result) bool {
		name := key.String()
		if of.IsArray() {
			name = strconv.Itoa(at)
		}
		at++
		to := append(path, name)
		more = yield(to, item) && yieldBelow(to, item, yield)
		return more
	})
	return more
}
