package evidence

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Reach is how the target is reached, as far as it decides what is written of an exchange.
type Reach struct {
	TenantHeader string              // whose value names an owner, and is no token
	Gateway      []string            // headers of which the same is true, since a gateway wants them, in canonical form
	Via          *reports.Connection // for the curl lines; nil where the addresses say it
}

// recorder writes exchanges down without secrets.
type recorder struct {
	redact *client.Redactor
	Reach
}

// exchange is the exchange as it went over the wire, without secrets.
func (w *recorder) exchange(ctx context.Context, r client.Request, wire client.Wire, a *client.Answer, cause string, found []spec.Violation) reports.Exchange {
	address := r.Base + r.Path
	if wire.Query != "" {
		address += "?" + wire.Query
	}
	x := reports.Exchange{
		Method:  r.Method,
		URL:     w.redact.Record(address),
		Request: reports.Message{Headers: w.redact.Header(r.Header), Body: w.redact.Record(string(wire.Body)), Secrets: w.redact.Places(r.Header, wire.Body)},
		Error:   w.redact.Record(cause),
	}
	x.Scenario = attributed(ctx).name
	if a != nil {
		x.Status = a.Status
		x.MS = float64(a.Took.Microseconds()) / 1000
		x.Response = reports.Message{Headers: w.redact.Header(a.Header), Body: w.redact.Record(string(a.Wire()))}
	}
	x.Curl = w.curl(&x)
	for _, v := range found {
		x.Problems = append(x.Problems, w.redact.Excerpt(fmt.Sprintf("%s: %s: expected %s, got %s", v.Pointer, v.Keyword, v.Expected, v.Actual)))
	}
	return x
}

// curl is the command that sends the request of an exchange again.
func (w *recorder) curl(x *reports.Exchange) string {
	return w.redact.Curl(x.Method, x.URL, x.Request, w.Via)
}

// violations are violations without secrets in what they quote.
func (w *recorder) violations(found []spec.Violation) []spec.Violation {
	for i := range found {
		v := &found[i]
		v.Actual, v.Pointer, v.Expected = w.redact.Excerpt(v.Actual), w.redact.Text(v.Pointer), w.redact.Text(v.Expected)
		v.Operation = w.redact.Text(v.Operation)
	}
	return found
}
