package common

import (
	"context"
	"regexp"
	"sync"

	"github.com/cucumber/godog"

	"github.com/agentconform/agentconform/steps/plane"
)

// Patterns are the compiled patterns of sentences. They are compiled once for a run: godog asks for the definitions of
// every scenario anew.
type Patterns struct {
	mu       sync.Mutex
	compiled map[string]*regexp.Regexp
	found    map[string]string // patterns by sentence
}

// Of returns the pattern that the sentence matches: what stays the same when its values differ. Where none does, it
// returns the sentence.
func (p *Patterns) Of(sentence string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pattern, known := p.found[sentence]; known {
		return pattern
	}
	if p.found == nil {
		p.found = map[string]string{}
	}
	p.found[sentence] = sentence
	for pattern, re := range p.compiled {
		if re.MatchString(sentence) {
			p.found[sentence] = pattern
			break
		}
	}
	return p.found[sentence]
}

// sentence compiles a pattern to match whole sentences.
func (p *Patterns) sentence(pattern string) *regexp.Regexp {
	p.mu.Lock()
	defer p.mu.Unlock()
	if re := p.compiled[pattern]; re != nil {
		return re
	}
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	if p.compiled == nil {
		p.compiled = map[string]*regexp.Regexp{}
	}
	p.compiled[pattern] = re
	return re
}

// Definition is one sentence: its pattern, what it needs of the configuration, and what it creates at the target.
type Definition struct {
	Pattern string
	Costs   []plane.Cost

	sentence *regexp.Regexp
	needs    []func(captured string) error
}

// Lacks returns what the sentence needs and the configuration lacks: the errors that would skip the scenario.
func (d *Definition) Lacks(sentence string) (found []error) {
	m := d.sentence.FindStringSubmatch(sentence)
	if m == nil {
		return nil
	}
	for _, check := range d.needs {
		if err := check(append(m, "")[1]); err != nil {
			found = append(found, err)
		}
	}
	return found
}

// Registrar takes the definitions of the sentences of one scenario.
type Registrar struct {
	definitions map[string]*Definition // by pattern
	patterns    *Patterns
	scenario    *godog.ScenarioContext // nil where nothing is to be executed
}

// NewRegistrar returns one that registers with godog; where the scenario is nil it only lists the definitions.
func NewRegistrar(patterns *Patterns, scenario *godog.ScenarioContext) *Registrar {
	return &Registrar{definitions: map[string]*Definition{}, patterns: patterns, scenario: scenario}
}

// Property says more about a definition than its function.
type Property func(*Definition)

// Needs says what a sentence needs of the configuration, so that it is known before there is a run. Each check gets what
// the pattern captures first, and returns the outcome that skips the scenario. The definition itself has to make the same
// checks.
func Needs(checks ...func(captured string) error) Property {
	return func(d *Definition) { d.needs = append(d.needs, checks...) }
}

// Whatever makes a check of one that does not look at what the sentence says.
func Whatever(check func() error) func(string) error {
	return func(string) error { return check() }
}

// Uses says that a sentence needs a shared deployment.
func Uses(fixtures ...*plane.Fixture) Property {
	return func(d *Definition) {
		for _, f := range fixtures {
			d.Costs = append(d.Costs, f.Needed()...)
		}
	}
}

// Creates says how many deployments a sentence creates for itself at most, and how many revisions beside the first one of
// each. A sentence that creates more than it says ends its scenario as a mistake of the suite.
func Creates(deployments, revisions int) Property {
	return func(d *Definition) {
		d.Costs = append(d.Costs, plane.Cost{Deployments: deployments, Revisions: revisions})
	}
}

// Given registers a precondition.
func (r *Registrar) Given(pattern string, definition any, properties ...Property) {
	re := r.note(pattern, properties)
	if r.scenario != nil {
		r.scenario.Given(re, definition)
	}
}

// When registers an act.
func (r *Registrar) When(pattern string, definition any, properties ...Property) {
	re := r.note(pattern, properties)
	if r.scenario != nil {
		r.scenario.When(re, definition)
	}
}

// Then registers a judgement.
func (r *Registrar) Then(pattern string, definition any, properties ...Property) {
	re := r.note(pattern, properties)
	if r.scenario != nil {
		r.scenario.Then(re, definition)
	}
}

// Configured registers a precondition that the configuration alone decides: its definition is also its check.
func (r *Registrar) Configured(pattern string, definition func() error) {
	r.Given(pattern, definition, Needs(Whatever(definition)))
}

func (r *Registrar) note(pattern string, properties []Property) *regexp.Regexp {
	d := &Definition{Pattern: pattern, sentence: r.patterns.sentence(pattern)}
	for _, p := range properties {
		p(d)
	}
	r.definitions[pattern] = d
	return d.sentence
}

// Find returns the definition of a sentence, or nil.
func (r *Registrar) Find(sentence string) *Definition { return r.definitions[r.patterns.Of(sentence)] }

// Allow returns a context in which a step may create what its definition says, and no more.
func (d *Definition) Allow(ctx context.Context) context.Context {
	return plane.WithAllowance(ctx, d.Pattern, d.Costs...)
}
