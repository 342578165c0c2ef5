package evidence

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Words is what a target has shown of the words of a vocabulary. It may be used by many goroutines.
type Words struct {
	vocabulary *spec.Vocabulary

	mu        sync.Mutex
	sent      map[string]bool
	taken     map[string]bool // sent in a request that was answered with 2xx
	shown     map[string]bool
	unchanged map[string]bool
	exchanges map[int]exchangeWords
}

// exchangeWords are the words of one exchange.
type exchangeWords struct {
	request, answer spec.Traces
	taken           bool // answered with 2xx
}

// NewWords notes the words of a vocabulary.
func NewWords(v *spec.Vocabulary) *Words {
	return &Words{vocabulary: v, sent: map[string]bool{}, taken: map[string]bool{}, shown: map[string]bool{}, unchanged: map[string]bool{}, exchanges: map[int]exchangeWords{}}
}

// of are the words of one exchange; the answer is nil where none came. They are nil where there is no vocabulary.
func (w *Words) of(sent spec.Traces, a *client.Answer) *observedWords {
	if w.vocabulary.Empty() {
		return nil
	}
	found := &observedWords{Request: sent}
	if a != nil {
		found.Answer, found.Understood = a.Traces, w.understood(sent, a)
	}
	return found
}

// Note notes the words of one exchange; the answer is nil where none came.
func (w *Words) Note(exchange int, sent spec.Traces, a *client.Answer) {
	status := 0
	if a != nil {
		status = a.Status
	}
	w.note(exchange, status, w.of(sent, a))
}

// note notes the words of one exchange, if there are any. The status is 0 where no answer came.
func (w *Words) note(exchange, status int, words *observedWords) {
	if words == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	x := exchangeWords{request: words.Request}
	maps.Copy(w.sent, x.request.Used)
	if status != 0 {
		x.answer = words.Answer
		maps.Copy(w.shown, x.answer.Used)
		maps.Copy(w.unchanged, x.answer.Unchanged)
		for _, name := range words.Understood {
			w.shown[name] = true
		}
		if x.taken = status/100 == 2; x.taken {
			maps.Copy(w.taken, x.request.Used)
		}
	}
	w.exchanges[exchange] = x
}

// understood are the words without a place in answers that the target has understood: it accepted a request that must have them,
// its answer repeats them, or its refusal names them.
func (w *Words) understood(sent spec.Traces, a *client.Answer) (names []string) {
	for name := range sent.Used {
		if w.Shown(name) || w.vocabulary.InAnswers(name) {
			continue
		}
		as := w.vocabulary.OnWire(name)
		switch {
		case a.OK() && sent.Required[name], a.OK() && repeats(a, as), a.Status == http.StatusUnprocessableEntity && locates(a, as):
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// repeats tells whether the object in an answer has the word as a key or a value.
func repeats(a *client.Answer, word string) (found bool) {
	if !a.IsJSON() || len(a.Wire()) > 64<<10 {
		return false
	}
	var object map[string]json.RawMessage
	_ = json.Unmarshal(a.Wire(), &object) // nil where it is none
	for key, value := range object {
		var text string
		found = found || key == word || json.Unmarshal(value, &text) == nil && text == word
	}
	return found
}

// locates tells whether a validation error names the word in a loc.
func locates(a *client.Answer, word string) bool {
	return slices.ContainsFunc(a.Get("detail.#.loc|@flatten").Array(), func(part gjson.Result) bool {
		return part.Type == gjson.String && part.Str == word
	})
}

// Shown tells whether the target has shown that it uses the word.
func (w *Words) Shown(name string) bool { return w.has(w.shown, name) }

// Sent tells whether a request had the word.
func (w *Words) Sent(name string) bool { return w.has(w.sent, name) }

// Unchanged tells whether the target uses the interface's name, and never the one to which the vocabulary maps it.
func (w *Words) Unchanged(name string) bool { return !w.Shown(name) && w.has(w.unchanged, name) }

func (w *Words) has(set map[string]bool, name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return set[name]
}

// Doubtful returns those of the words that the target has never shown to use: what failed over them may be the
// configuration's fault. Of an enumeration it is the values that were sent, where any was.
func (w *Words) Doubtful(names ...string) (doubtful []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		rivals := w.vocabulary.Rivals(name)
		another := !w.unchanged[name] && !w.taken[name] && slices.ContainsFunc(rivals, func(r string) bool { return w.taken[r] })
		if !w.shown[name] && !another && !slices.Contains(doubtful, name) {
			doubtful = append(doubtful, name)
		}
	}
	slices.Sort(doubtful)
	return doubtful
}

// DoubtfulIn returns the doubtful words on which what an exchange shows may depend: that it sent, and that its answer lacks.
func (w *Words) DoubtfulIn(exchange int) []string {
	w.mu.Lock()
	x := w.exchanges[exchange]
	var direct, indirect []string
	for _, set := range []map[string]bool{x.answer.Unchanged, x.answer.Missing} {
		for name := range set {
			if !w.shown[name] {
				direct = append(direct, name)
			}
		}
	}
	for name := range x.request.Used { // of an accepted request the answers tell, where they have a place for the word
		if !w.shown[name] && (!x.taken || !w.vocabulary.InAnswers(name)) {
			direct = append(direct, name)
		}
	}
	for name := range x.answer.Absent { // a field that need not be there
		if w.taken[name] {
			indirect = append(indirect, name)
		}
	}
	for name := range x.answer.Replaced {
		indirect = append(indirect, name)
	}
	w.mu.Unlock()
	all := append(direct, w.Doubtful(indirect...)...)
	slices.Sort(all)
	return slices.Compact(all)
}
