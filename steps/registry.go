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

// book is where the definitions of one scenario are written.
type book struct {
	registry *registry
	sc       *godog.ScenarioContext
}

func (b *book) given(pattern string, definition any) {
	b.sc.Given(b.registry.sentence(pattern), definition)
}
func (b *book) when(pattern string, definition any) {
	b.sc.When(b.registry.sentence(pattern), definition)
}
func (b *book) then(pattern string, definition any) {
	b.sc.Then(b.registry.sentence(pattern), definition)
}
