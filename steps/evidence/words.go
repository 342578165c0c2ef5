package evidence

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Words is what a target has shown of the neutral words that the key vocabulary renames. It may be used by many
// goroutines.
type Words struct {
	renamed []string

	mu        sync.Mutex
	shown     map[string]bool
	unchanged map[string]bool
	exchanges map[int][]string // words on which what an exchange shows may depend
}

// NewWords notes the words that are renamed.
func NewWords(w spec.Words) *Words {
	return &Words{
		renamed: w.Renamed(), shown: map[string]bool{}, unchanged: map[string]bool{}, exchanges: map[int][]string{},
	}
}

// Note notes the words of one exchange; the answer is nil where none came.
func (w *Words) Note(exchange int, r client.Request, a *client.Answer) {
	if len(w.renamed) == 0 || r.Side != spec.ControlPlane {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case a == nil || !a.OK():
		if gjson.ValidBytes(r.Body) { // else it was sent on purpose
			w.exchanges[exchange] = spec.NeutralIn(gjson.ParseBytes(r.Body))
		}
	case a.IsJSON():
		w.exchanges[exchange] = w.noteBody(gjson.ParseBytes(a.Body))
	}
}

// noteBody returns the words on which what an answer shows may depend. The caller holds the lock.
func (w *Words) noteBody(body gjson.Result) (depends []string) {
	present := spec.NeutralIn(body)
	for _, word := range present {
		name, unmapped := strings.CutPrefix(word, spec.Unmapped)
		switch {
		case unmapped:
			w.unchanged[name] = true
			depends = append(depends, name)
		case slices.Contains(w.renamed, name):
			w.shown[name] = true
		}
	}
	if source := body.Get("source"); source.Exists() && !slices.Contains(spec.Sources(), source.Str) {
		depends = append(depends, spec.AnySource)
	}
	if body.Get("source_revision_config").IsObject() && !slices.Contains(present, spec.NeutralField) {
		depends = append(depends, spec.NeutralField)
	}
	return depends
}

// Unchanged lists the words that the target uses as the interface does, and never as vocabulary has them.
func (w *Words) Unchanged() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.unchanged)) {
		if !w.shown[name] {
			names = append(names, name)
		}
	}
	return names
}

// Doubtful returns those of the words that the target has never shown to use: what failed over them may be the
// configuration's fault. [spec.AnySource] stands for the sources: a target that has shown one of them knows what a
// source is.
func (w *Words) Doubtful(words ...string) (doubtful []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := func(name string) bool { return w.shown[name] }
	for _, name := range w.renamed {
		wanted := slices.Contains(words, name) ||
			name != spec.NeutralField && slices.Contains(words, spec.AnySource) && !slices.ContainsFunc(spec.Sources(), shown)
		if wanted && !w.shown[name] {
			doubtful = append(doubtful, name)
		}
	}
	return doubtful
}

// DoubtfulIn returns the doubtful words on which what an exchange shows may depend: of a request that was not served,
// and what its answer has or lacks.
func (w *Words) DoubtfulIn(exchange int) []string {
	w.mu.Lock()
	words := w.exchanges[exchange]
	w.mu.Unlock()
	return w.Doubtful(words...)
}
