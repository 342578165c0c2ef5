package common

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/cucumber/godog"

	"github.com/agentconform/agentconform/steps/plane"
)

// Definitions are those of all sentences. They are the same for every scenario of a run: godog asks for the functions of
// each scenario anew, but what the sentences match, need and create is worked out once.
type Definitions struct {
	mu        sync.RWMutex
	byPattern map[string]*Definition
	found     map[string]*Definition // by sentence
}

// NewDefinitions returns none yet.
func NewDefinitions() *Definitions {
	return &Definitions{byPattern: map[string]*Definition{}, found: map[string]*Definition{}}
}

// Find returns the definition of a sentence, or nil.
func (ds *Definitions) Find(sentence string) *Definition {
	ds.mu.RLock()
	d, known := ds.found[sentence]
	ds.mu.RUnlock()
	if known {
		return d
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, each := range ds.byPattern {
		if strings.HasPrefix(sentence, each.prefix) && each.sentence.MatchString(sentence) {
			d = each
			break
		}
	}
	ds.found[sentence] = d
	return d
}

// Pattern returns the pattern that the sentence matches: what stays the same when its values differ. Where none does, it
// returns the sentence.
func (ds *Definitions) Pattern(sentence string) string {
	if d := ds.Find(sentence); d != nil {
		return d.Pattern
	}
	return sentence
}

// define returns the definition of the pattern, made with the properties where it is new.
func (ds *Definitions) define(pattern string, properties []Property) *Definition {
	ds.mu.RLock()
	d := ds.byPattern[pattern]
	ds.mu.RUnlock()
	if d != nil {
		return d
	}
	d = &Definition{Pattern: pattern, prefix: literal(pattern), sentence: regexp.MustCompile("^(?:" + pattern + ")$")}
	for _, p := range properties {
		p(d)
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.byPattern[pattern] = d
	return d
}

// literal is what every sentence of a pattern begins with.
func literal(pattern string) string {
	if strings.Contains(strings.SplitN(pattern, "(", 2)[0], "|") {
		return "" // one of several sentences
	}
	if i := strings.IndexAny(pattern, `([\.*+?|{^$`); i >= 0 {
		return pattern[:max(i-1, 0)] // what follows a character may make it optional
	}
	return pattern
}

// Definition is one sentence: its pattern, what it needs of the configuration, and what it creates at the target.
type Definition struct {
	Pattern string
	Costs   []plane.Cost

	prefix   string // of its sentences
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

// Registrar registers the functions of the sentences for one scenario.
type Registrar struct {
	definitions *Definitions
	scenario    *godog.ScenarioContext // nil where nothing is to be executed
}

// NewRegistrar returns one that registers with godog; where the scenario is nil it only fills the definitions.
func NewRegistrar(definitions *Definitions, scenario *godog.ScenarioContext) *Registrar {
	return &Registrar{definitions, scenario}
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
func (r *Registrar) Given(pattern string, function any, properties ...Property) {
	if d := r.definitions.define(pattern, properties); r.scenario != nil {
		r.scenario.Given(d.sentence, function)
	}
}

// When registers an act.
func (r *Registrar) When(pattern string, function any, properties ...Property) {
	if d := r.definitions.define(pattern, properties); r.scenario != nil {
		r.scenario.When(d.sentence, function)
	}
}

// Then registers a judgement.
func (r *Registrar) Then(pattern string, function any, properties ...Property) {
	if d := r.definitions.define(pattern, properties); r.scenario != nil {
		r.scenario.Then(d.sentence, function)
	}
}

// Configured registers a precondition that the configuration alone decides: its function is also its check.
func (r *Registrar) Configured(pattern string, function func() error) {
	r.Given(pattern, function, Needs(Whatever(function)))
}

// Allow returns a context in which a step may create what its definition says, and no more.
func (d *Definition) Allow(ctx context.Context) context.Context {
	return plane.WithAllowance(ctx, d.Pattern, d.Costs...)
}
