package recording

import (
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// Redactor removes credentials from exchanges that are being recorded. Callers remain distinct: callers of the
// configuration have the names of its keys, and others a number. It may be used concurrently.
type Redactor struct {
	mu      sync.Mutex
	callers *callers
}

// NewRedactor returns a redactor with the callers of a configuration.
func NewRedactor(t *target.Target) *Redactor { return &Redactor{callers: newCallers(t, false)} }

// Exchange returns an exchange as an archive may have it. size is that of the whole body of the response.
func (r *Redactor) Exchange(e Entry, size int) reports.Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.callers
	address, query, hasQuery := strings.Cut(e.URL, "?")
	at := location{base: base{side: sideOf(address)}, path: address, query: query}
	c.learn(e, at, &spec.Operation{})
	request := exchange.Request{Side: at.side, Path: address, Query: query}
	c.identify(&request, e)
	text := c.target.Redact.Record
	x := reports.Exchange{Method: e.Method, URL: text(request.Path), Status: e.Status,
		Request: c.target.Redact.Request(request.Header, c.without(e.Body)), MS: float64(e.Took) / float64(time.Millisecond),
		Response: reports.Message{Headers: safe.Copy(map[string][]string(c.shown(e.Response)), text)}}
	if hasQuery {
		x.URL += "?" + text(request.Query)
	}
	shown := c.without(e.ResponseBody)
	x.Response.Body = text(string(shown))
	if size > len(e.ResponseBody) { // the same difference as before the secrets were replaced
		x.Response.Size = len(x.Response.Body) + size - len(e.ResponseBody)
	}
	if e.Status == 0 {
		x.Error = "the server did not respond"
	}
	return x
}

// sideOf returns the half of the interface to which an address probably belongs.
func sideOf(address string) spec.Side {
	if strings.Contains(address, "/v2/deployments") {
		return spec.ControlPlane
	}
	return spec.AgentServer
}
