package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
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
	words  spec.Words
	Reach
	recorded atomic.Int64 // of bodies of answers, in bytes
}

// What is recorded of the bodies of answers, in bytes.
const (
	allBodies   = 4 << 20 // in one run; of what comes later only the beginning
	beginning   = 2 << 10
	longestSeen = 32 << 10 // a secret, in whatever spelling
)

// exchange is the exchange as it went over the wire, without secrets.
func (w *recorder) exchange(ctx context.Context, r client.Request, a *client.Answer, cause string,
	found []spec.Violation,
) reports.Exchange {
	x := reports.Exchange{
		Method:  r.Method,
		URL:     w.redact.Record(r.URL()),
		Request: w.redact.Request(r.Header, w.words.ToTarget(r.Side, r.Body)),
		Error:   w.redact.Record(cause),
	}
	x.Scenario = attributed(ctx).Scenario
	if a != nil {
		x.Status = a.Status
		x.MS = float64(a.Took.Microseconds()) / 1000
		x.Response = w.body(a.Wire())
		x.Response.Headers = safe.Copy(map[string][]string(a.Header), w.redact.Record)
	}
	x.Curl = w.redact.Curl(x.Method, x.URL, x.Request, w.Via)
	for _, v := range found {
		problem := fmt.Sprintf("%s: %s: expected %s, got %s", v.Pointer, v.Keyword, v.Expected, v.Actual)
		x.Problems = append(x.Problems, w.redact.Excerpt(problem))
	}
	return x
}

// body is the body of an answer without secrets, or its beginning with the size and the digest of the whole.
func (w *recorder) body(body []byte) reports.Message {
	limit := reports.MaxBody
	if w.recorded.Add(int64(min(len(body), limit))) > allBodies {
		limit = beginning
	}
	if len(body) <= limit {
		return reports.Message{Body: w.redact.Record(string(body))}
	}
	sum := sha256.Sum256(body)
	// A secret that the first cut has broken is in what the second one leaves out, however long the names of secrets are.
	text := w.redact.Record(string(body[:min(len(body), limit+longestSeen)]))
	if len(body) > limit+longestSeen {
		text = text[:max(0, len(text)-longestSeen)]
	}
	text = strings.Clone(safe.Prefix(text, limit)) // a part of a text keeps all of it in memory
	return reports.Message{Body: text, Size: len(body), SHA256: hex.EncodeToString(sum[:])}
}

// violations are violations without secrets in what they quote.
func (w *recorder) violations(found []spec.Violation) []spec.Violation {
	for i := range found {
		v := &found[i]
		v.Actual = w.redact.Excerpt(v.Actual)
		for _, text := range []*string{&v.Pointer, &v.Expected, &v.Operation} {
			*text = w.redact.Text(*text)
		}
	}
	return found
}
