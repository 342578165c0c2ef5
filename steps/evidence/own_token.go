package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
)

// OwnToken says in how many answers the caller's own token stands in clear, and where it was seen first. Who may read such an answer,
// a log or a report of it can act as that caller.
type OwnToken struct {
	Answers  int
	Exchange int
	Pointer  string // JSON pointer into the body; empty where the body is no JSON
}

// noteOwnToken notes where a caller's own token was seen.
func (c *Collector) noteOwnToken(id int, pointer string) {
	if c.ownToken.Answers++; c.ownToken.Answers == 1 {
		c.ownToken.Exchange, c.ownToken.Pointer = id, pointer
	}
}

// OwnToken returns what was seen of the callers' own tokens.
func (c *Collector) OwnToken() OwnToken {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ownToken
}

// ownTokenIn looks for the credentials of a request in its answer, and returns where they are; nil if nowhere. Only those of the
// configuration count, and of these only secrets: a tenant ID names who owns something.
func (w *recorder) ownTokenIn(r client.Request, a *client.Answer) *string {
	for _, token := range w.tokensOf(r.Header) {
		if at, found := tokenIn(a, token); found {
			at = safe.Cut(w.redact.Text(at), maxGivenID)
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
	body := a.Body
	quoted, _ := json.Marshal(token)
	if !bytes.Contains(body, []byte(token)) && !bytes.Contains(body, quoted[1:len(quoted)-1]) {
		return "", false
	}
	if a.IsJSON() { // of bounded depth
		pointer, _ = pointerTo(gjson.ParseBytes(body), token)
	}
	return pointer, true
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointerTo finds the first string that contains the text.
func pointerTo(value gjson.Result, text string) (pointer string, found bool) {
	if !value.IsObject() && !value.IsArray() {
		return "", value.Type == gjson.String && strings.Contains(value.Str, text)
	}
	at := 0
	value.ForEach(func(key, item gjson.Result) bool {
		name := escapePointer.Replace(key.String())
		if value.IsArray() {
			name = fmt.Sprint(at)
		}
		at++
		var below string
		if below, found = pointerTo(item, text); found {
			pointer = "/" + name + below
		}
		return !found
	})
	return pointer, found
}
