package evidence

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
)

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
func (w *recorder) ownTokenIn(r client.Request, sent reports.Message, a *client.Answer) *string {
	for _, place := range sent.Secrets {
		if place.Header == "" || place.Header == w.TenantHeader || slices.Contains(w.Gateway, place.Header) {
			continue
		}
		for _, v := range r.Header[place.Header] {
			token := v[strings.IndexByte(v, ' ')+1:] // without the scheme
			spelled := client.SpellingsOf(token)
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
