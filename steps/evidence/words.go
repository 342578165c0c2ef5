package evidence

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
)

// Words records how the target uses the neutral words that the key vocabulary renames.
type Words struct {
	renamed   []string
	shown     map[string]bool  // words for which the target uses the configured name
	unchanged map[string]bool  // words for which it uses the name of the interface
	exchanges map[int][]string // words on which an exchange may depend, by ID
}

// Words returns the use of words so far.
func (c *Collector) Words() *Words {
	if len(c.recorder.words) == 0 {
		return &Words{}
	}
	return wordsOf(c.recorder.words, c.Observations())
}

func wordsOf(renamed spec.Words, all []*Observation) *Words {
	w := &Words{
		renamed:   renamed.Renamed(),
		shown:     map[string]bool{},
		unchanged: map[string]bool{},
		exchanges: map[int][]string{},
	}
	for _, o := range all {
		switch {
		case o.Side != spec.ControlPlane:
		case o.Status/100 == 2:
			w.exchanges[o.ID] = w.noteBody(gjson.Parse(o.Response))
		case gjson.Valid(o.Request): // an invalid body was sent on purpose
			w.exchanges[o.ID] = spec.NeutralIn(gjson.Parse(o.Request))
		}
	}
	return w
}

// noteBody records the words in the body of a response. It returns the words on which the exchange may depend.
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

// Unchanged returns the words for which the target always uses the name of the interface and never the configured one.
func (w *Words) Unchanged() []string {
	isShown := func(name string) bool { return w.shown[name] }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.unchanged)), isShown)
}

// Doubtful returns the given words that the target has never used: failures that depend on them may be mistakes of the
// configuration. [spec.AnySource] stands for the sources, unless the target has used one of them.
func (w *Words) Doubtful(words ...string) (doubtful []string) {
	shown := func(name string) bool { return w.shown[name] }
	anySource := slices.Contains(words, spec.AnySource) && !slices.ContainsFunc(spec.Sources(), shown)
	for _, name := range w.renamed {
		wanted := slices.Contains(words, name) || anySource && name != spec.NeutralField
		if wanted && !w.shown[name] {
			doubtful = append(doubtful, name)
		}
	}
	return doubtful
}

// DoubtfulIn returns the doubtful words on which an exchange may depend: the words of a request that was not served, and
// the words that a response contains or lacks.
func (w *Words) DoubtfulIn(exchange int) []string { return w.Doubtful(w.exchanges[exchange]...) }
