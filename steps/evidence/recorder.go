package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Reach describes the connection to the target, as far as it affects the record.
type Reach struct {
	TenantHeader string              // header whose value names a tenant and is not a token
	Gateway      []string            // headers for a gateway, in canonical form; their values are not tokens of the caller
	Via          *reports.Connection // for the curl lines; nil if the addresses are enough
}

// recorder records exchanges without secrets.
type recorder struct {
	redact *client.Redactor
	words  spec.Words
	Reach
	recorded  atomic.Int64 // size of the recorded response bodies
	spellings sync.Map     // cache of the spellings ([]string) by credential
}

// spellingsOf returns the spellings of a credential. Every response is searched for them, so they are cached.
func (w *recorder) spellingsOf(credential string) []string {
	if known, has := w.spellings.Load(credential); has {
		return known.([]string)
	}
	made := client.SpellingsOf(credential)
	w.spellings.Store(credential, made)
	return made
}

// Limits of recorded response bodies, in bytes.
const (
	allBodies   = 4 << 20 // in one test run; after that, only the beginning of each is recorded
	beginning   = 2 << 10
	longestSeen = 32 << 10 // longest spelling of a secret
)

// exchange returns the exchange as it was sent and received, without secrets.
func (w *recorder) exchange(ctx context.Context, r exchange.Request, a *exchange.Response, cause string,
	found []spec.Violation,
) reports.Exchange {
	x := reports.Exchange{
		Method:  r.Method,
		URL:     w.redact.Record(r.URL()),
		Request: w.redact.Request(r.Header, w.words.ToTarget(r.Side, r.Body)),
		Error:   w.redact.Record(cause),

		Repeated: r.Repeated,
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

// body returns the body of a response without secrets. For a long body, it returns the beginning with the size and digest
// of the whole.
func (w *recorder) body(body []byte) reports.Message {
	limit := reports.MaxBody
	if w.recorded.Add(int64(min(len(body), limit))) > allBodies {
		limit = beginning
	}
	if len(body) <= limit {
		return reports.Message{Body: w.redact.Record(string(body))}
	}
	sum := sha256.Sum256(body)
	// If the first cut splits a secret, the second one removes its remaining part. The names of secrets may be long.
	text := w.redact.Record(string(body[:min(len(body), limit+longestSeen)]))
	if len(body) > limit+longestSeen {
		text = text[:max(0, len(text)-longestSeen)]
	}
	text = strings.Clone(safe.Prefix(text, limit)) // a substring would keep the whole text in memory
	return reports.Message{Body: text, Size: len(body), SHA256: hex.EncodeToString(sum[:])}
}

// violations removes secrets from the texts of violations.
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

// OwnMistakes returns the contract violations that the suite's own requests contain by mistake.
func (c *Collector) OwnMistakes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.mistakes)
}

// OwnToken returns a note about responses that contain the caller's own token in clear: their number, which may be 0, and
// the place of the first. Everybody who can read such a response, a log or a report of it can act as that caller.
func (c *Collector) OwnToken() reports.Note {
	note := reports.Note{Kind: reports.NoteOwnToken, Text: "a response contains the caller's own token in clear"}
	for _, o := range c.which(func(o *Observation) bool { return o.Trusted && o.ownToken != nil }) {
		note.Count++
		if note.Count == 1 {
			note.Exchange, note.Pointer = o.ID, *o.ownToken
		}
	}
	return note
}

// ownTokenIn returns the pointer to a JSON string of the response that contains a credential of the request, or nil. Only
// secrets count. A tenant ID is not a secret.
func (w *recorder) ownTokenIn(r exchange.Request, sent reports.Message, a *exchange.Response) *string {
	for _, place := range sent.Secrets {
		if place.Header == "" || place.Header == w.TenantHeader || slices.Contains(w.Gateway, place.Header) {
			continue
		}
		for _, v := range r.Header[place.Header] {
			token := v[strings.IndexByte(v, ' ')+1:] // without the scheme
			spelled := w.spellingsOf(token)
			if quoted, _ := json.Marshal(token); len(token) < client.ShortestSpelled {
				spelled = []string{string(quoted)} // a short token may be a part of any text
			}
			if !slices.ContainsFunc(spelled, func(s string) bool { return bytes.Contains(a.Body, []byte(s)) }) {
				continue
			}
			pointer := ""
			if a.IsJSON() { // the depth is bounded
				pointer = safe.Cut(w.redact.Text(PointerTo(gjson.ParseBytes(a.Body), token)), maxID)
			}
			return &pointer
		}
	}
	return nil
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// PointerTo returns a JSON pointer to the first string or number of an object or array that contains a text, or "".
func PointerTo(value gjson.Result, text string) (pointer string) {
	for way, item := range exchange.Values(value) {
		if item.Type == gjson.JSON || !strings.Contains(item.String(), text) {
			continue
		}
		for _, name := range way {
			pointer += "/" + escapePointer.Replace(name)
		}
		return pointer
	}
	return ""
}
