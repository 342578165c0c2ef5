package steps

import (
	"regexp"
	"sync"

	"github.com/cucumber/godog"
)

// registry connects sentences with their definitions. Patterns are compiled once for a run: godog asks for the
// definitions of every scenario anew.
type registry struct {
	mu       sync.Mutex
	compiled map[string]*regexp.Regexp
}

// sentence compiles a pattern to match whole sentences.
func (r *registry) sentence(pattern string) *regexp.Regexp {
	r.mu.Lock()
	defer r.mu.Unlock()
	if re := r.compiled[pattern]; re != nil {
		return re
	}
	re := regexp.MustCompile("^" + pattern + "$")
	r.compiled[pattern] = re
	return re
}

// pattern returns the pattern that the sentence matches: what stays the same when its values differ.
func (r *registry) pattern(sentence string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for pattern, re := range r.compiled {
		if re.MatchString(sentence) {
			return pattern
		}
	}
	return sentence
}

// book is where the definitions of one scenario are written, and what their sentences need of the configuration.
type book struct {
	registry *registry
	sc       *godog.ScenarioContext // nil where nothing is to be executed
	needs    []need
}

// need is what a sentence needs of the configuration: each check gets what the pattern captures first, and returns
// the outcome that skips the scenario.
type need struct {
	pattern string
	checks  []func(captured string) error
}

func (b *book) given(pattern string, definition any) {
	if b.sc != nil {
		b.sc.Given(b.registry.sentence(pattern), definition)
	}
}
func (b *book) when(pattern string, definition any) {
	if b.sc != nil {
		b.sc.When(b.registry.sentence(pattern), definition)
	}
}
func (b *book) then(pattern string, definition any) {
	if b.sc != nil {
		b.sc.Then(b.registry.sentence(pattern), definition)
	}
}

// configured is a given that the configuration alone decides: its definition can be asked before there is a run.
func (b *book) configured(pattern string, definition func() error) {
	b.given(pattern, definition)
	b.requires(pattern, anyway(definition))
}

// requires says what a sentence needs of the configuration before there is a run. Its definition may do much else.
func (b *book) requires(pattern string, checks ...func(captured string) error) {
	b.needs = append(b.needs, need{pattern, checks})
}

// anyway makes a check of one that does not look at what the sentence says.
func anyway(check func() error) func(string) error {
	return func(string) error { return check() }
}
