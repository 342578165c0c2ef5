package evidence

import (
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
	exchanges := c.Exchanges()
	for _, o := range c.which(func(o *Observation) bool { return o.Trusted }) {
		if pointer, found := c.recorder.ownTokenIn(&exchanges[o.ID-1]); found {
			if note.Count++; note.Count == 1 {
				note.Exchange, note.Pointer = o.ID, pointer
			}
		}
	}
	return note
}

// ownTokenIn tells whether the recorded answer to credentials of the configuration holds the name of one that the
// request carried, and in which string of its JSON. Only secrets count: a tenant ID names who owns something.
func (w *recorder) ownTokenIn(x *reports.Exchange) (pointer string, found bool) {
	for _, place := range x.Request.Secrets {
		if place.Header == "" || place.Header == w.TenantHeader || slices.Contains(w.Gateway, place.Header) {
			continue
		}
		for _, v := range x.Request.Headers[place.Header] {
			name := v[max(strings.IndexByte(v, '$'), 0):] // without the scheme
			if !strings.Contains(x.Response.Body, name) {
				continue
			}
			if client.IsJSON([]byte(x.Response.Body)) { // of bounded depth
				pointer = PointerTo(gjson.Parse(x.Response.Body), name)
			}
			return safe.Cut(pointer, maxID), true
		}
	}
	return "", false
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
