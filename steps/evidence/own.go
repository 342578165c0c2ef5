package evidence

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
)

// OwnMistakes returns what is wrong with our own requests.
func (c *Collector) OwnMistakes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.mistakes)
}

// OwnToken says in how many answers the caller's own token stands in clear, and where it was seen first. Who may read
// such an answer, a log or a report of it can act as that caller.
type OwnToken struct {
	Answers  int
	Exchange int
	Pointer  string // JSON pointer into the body; empty where the body is no JSON
}

// OwnToken returns what was seen of the callers' own tokens.
func (c *Collector) OwnToken() OwnToken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ownToken
}

// ownTokenIn looks for the credentials of a request in its answer, and returns where they are; nil if nowhere. Only
// those of the configuration count, and of these only secrets: a tenant ID names who owns something.
func (w *recorder) ownTokenIn(r client.Request, a *client.Answer) *string {
	if a == nil || !r.Trusted {
		return nil
	}
	for _, token := range w.tokensOf(r.Header) {
		if at, found := tokenIn(a, token); found {
			at = safe.Cut(w.redact.Text(at), maxID)
			return &at
		}
	}
	return nil
}

// tokensOf are the secrets that a request carries, without their schemes.
func (w *recorder) tokensOf(h http.Header) (tokens []string) {
	for name, values := range h {
		for _, v := range values {
			if name == w.TenantHeader || slices.Contains(w.Gateway, name) || w.redact.Own(v) == v {
				continue
			}
			if _, token, both := strings.Cut(v, " "); both {
				v = token
			}
			tokens = append(tokens, v)
		}
	}
	return tokens
}

// tokenIn tells whether a body holds the token, and in which string of its JSON.
func tokenIn(a *client.Answer, token string) (pointer string, found bool) {
	quoted, _ := json.Marshal(token)
	if !bytes.Contains(a.Body, []byte(token)) && !bytes.Contains(a.Body, quoted[1:len(quoted)-1]) {
		return "", false
	}
	if a.IsJSON() { // of bounded depth
		pointer = PointerTo(gjson.ParseBytes(a.Body), token)
	}
	return pointer, true
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// PointerTo is a JSON pointer to the first string or number of an object or array that contains a text, "" where none
// does.
func PointerTo(value gjson.Result, text string) (pointer string) {
	for way, item := range client.Values(value) {
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
