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
	recorded  atomic.Int64 // of bodies of answers, in bytes
	spellings sync.Map     // cache of the spellings ([]string) by credential
}

// spellingsOf returns the spellings of a credential. Every response is searched for them.
func (w *recorder) spellingsOf(credential string) []string {
	if known, has := w.spellings.Load(credential); has {
		return known.([]string)
	}
	made := client.SpellingsOf(credential)
	w.spellings.Store(credential, made)
	return made
}

// What is recorded of the bodies of answers, in bytes.
const (
	allBodies   = 4 << 20 // in one run; of what comes later only the beginning
	beginning   = 2 << 10
	longestSeen = 32 << 10 // a secret, in whatever spelling
)

// exchange is the exchange as it went over the wire, without secrets.
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

// OwnMistakes returns what is wrong with our own requests.
func (c *Collector) OwnMistakes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.mistakes)
}

// OwnToken notes in how many answers the caller's own token stands in clear, and where it was seen first; the count is
// 0 where it does not. Who may read such an answer, a log or a report of it can act as that caller.
func (c *Collector) OwnToken() reports.Note {
	note := reports.Note{Kind: reports.NoteOwnToken, Text: "an answer contains the caller's own token in clear"}
	for _, o := range c.which(func(o *Observation) bool { return o.Trusted && o.ownToken != nil }) {
		if note.Count++; note.Count == 1 {
			note.Exchange, note.Pointer = o.ID, *o.ownToken
		}
	}
	return note
}

// ownTokenIn returns in which string of an answer's JSON a credential of the request stands; nil if nowhere. Only
// secrets count: a tenant ID names who owns something.
func (w *recorder) ownTokenIn(r exchange.Request, sent reports.Message, a *exchange.Response) *string {
	for _, place := range sent.Secrets {
		if place.Header == "" || place.Header == w.TenantHeader || slices.Contains(w.Gateway, place.Header) {
			continue
		}
		for _, v := range r.Header[place.Header] {
			token := v[strings.IndexByte(v, ' ')+1:] // without the scheme
			spelled := w.spellingsOf(token)
			if quoted, _ := json.Marshal(token); len(token) < client.ShortestSpelled {
				spelled = []string{string(quoted)} // a short one may be a part of any text
			}
			if !slices.ContainsFunc(spelled, func(s string) bool { return bytes.Contains(a.Body, []byte(s)) }) {
				continue
			}
			pointer := ""
			if a.IsJSON() { // of bounded depth
				pointer = safe.Cut(w.redact.Text(PointerTo(gjson.ParseBytes(a.Body), token)), maxID)
			}
			return &pointer
		}
	}
	return nil
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// PointerTo is a JSON pointer to the first string or number of an object or array that contains a text, "" where none
// does.
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
