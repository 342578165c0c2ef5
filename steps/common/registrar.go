package common

import (
	"context"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/outcome"
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
		if each.matches(sentence) {
			d = each
			break
		}
	}
	ds.found[sentence] = d
	return d
}

// All returns the definitions, in no order.
func (ds *Definitions) All() []*Definition {
	ds.mu.RLock()
	defer ds.mu.RUnlock()
	return slices.Collect(maps.Values(ds.byPattern))
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
func (ds *Definitions) define(kind Kind, pattern string, properties []Property) *Definition {
	ds.mu.RLock()
	d := ds.byPattern[pattern]
	ds.mu.RUnlock()
	if d != nil {
		return d
	}
	d = &Definition{Pattern: pattern, Kind: kind, prefix: literal(pattern), sentence: regexp.MustCompile("^(?:" + pattern + ")$")}
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
	Kind    Kind
	Costs   []plane.Cost
	// OnRecord says that the sentence looks only at what the run has recorded, and sends no request.
	OnRecord bool

	prefix   string // of its sentences
	sentence *regexp.Regexp
	needs    []func(captured string) error
	open     func(captured string) bool // whether it needs no valid credentials; nil: it does
	writes   func(sentence string) bool // whether it sends what may change the target; nil: only if it has costs
}

func (d *Definition) matches(sentence string) bool {
	return strings.HasPrefix(sentence, d.prefix) && d.sentence.MatchString(sentence)
}

// Defines tells whether the definition is one of the sentence.
func (d *Definition) Defines(kind Kind, sentence string) bool {
	return d.Kind == kind && d.matches(sentence)
}

// Kind is the kind of a sentence, by its keyword.
type Kind string

// The kinds of sentences: precondition, act and judgement.
const (
	Given Kind = "Given"
	When  Kind = "When"
	Then  Kind = "Then"
)

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

// Registrar takes the functions of the sentences for one scenario, and calls them. godog gets one step that matches every
// sentence: matching hundreds of patterns anew for each scenario would take an eighth of the time of a run.
type Registrar struct {
	definitions *Definitions
	functions   map[*Definition]any // nil for a sentence that the scenario says, before it is registered
}

// NewRegistrar returns one that fills the definitions where they are new, and keeps the functions of the sentences that
// a scenario says: all scenarios of a run have one at the same time. Where there is no scenario it keeps none.
func NewRegistrar(definitions *Definitions, s *features.Scenario) *Registrar {
	r := &Registrar{definitions, map[*Definition]any{}}
	if s != nil {
		for _, step := range s.Steps {
			r.functions[definitions.Find(step.Text)] = nil
		}
	}
	return r
}

func (r *Registrar) register(kind Kind, pattern string, function any, properties []Property) {
	d := r.definitions.define(kind, pattern, properties)
	if _, says := r.functions[d]; says {
		r.functions[d] = function
	}
}

// Call calls the function of a sentence of the kind. That there is none is a mistake of the suite.
func (r *Registrar) Call(ctx context.Context, kind Kind, sentence string) error {
	d := r.definitions.Find(sentence)
	if d == nil || d.Kind != kind {
		return outcome.SuiteError("no definition for %s %q", kind, sentence)
	}
	function := reflect.ValueOf(r.functions[d])
	var arguments []reflect.Value
	captured := d.sentence.FindStringSubmatch(sentence)[1:]
	for i := range function.Type().NumIn() {
		switch in := function.Type().In(i); in.Kind() {
		case reflect.Interface:
			arguments = append(arguments, reflect.ValueOf(ctx))
			continue
		case reflect.Int:
			n, err := strconv.Atoi(captured[0])
			if err != nil {
				return outcome.SuiteError("%q: %v", sentence, err)
			}
			arguments = append(arguments, reflect.ValueOf(n))
		default:
			arguments = append(arguments, reflect.ValueOf(captured[0]))
		}
		captured = captured[1:]
	}
	err, _ := function.Call(arguments)[0].Interface().(error)
	return err
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

// WithoutCredentials says that a precondition or an act needs no valid credentials, for what the pattern captures first
// where a condition is given.
func WithoutCredentials(when ...func(captured string) bool) Property {
	return func(d *Definition) {
		d.open = func(captured string) bool {
			return !slices.ContainsFunc(when, func(holds func(string) bool) bool { return !holds(captured) })
		}
	}
}

// NeedsCredentials tells whether the sentence needs valid credentials. A judgement asks for nothing by itself.
func (d *Definition) NeedsCredentials(sentence string) bool {
	if d.Kind == Then {
		return false
	}
	m := d.sentence.FindStringSubmatch(sentence)
	return m == nil || d.open == nil || !d.open(append(m, "")[1])
}

// Uses says that a sentence needs a shared deployment, and with it all that one is created with.
func Uses(fixtures ...*plane.Fixture) Property {
	return func(d *Definition) {
		for _, f := range fixtures {
			d.needs = append(d.needs, Whatever(f.Lacks))
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

// Writes says that a sentence sends requests that may create, change or remove something at the target, such as those that must be
// refused: only the sentences for which a condition holds, where one is given. A run that only reads skips them. What a sentence
// creates ([Creates], [Uses]) is written too.
func Writes(when ...func(sentence string) bool) Property {
	return func(d *Definition) {
		d.writes = func(sentence string) bool {
			return !slices.ContainsFunc(when, func(holds func(string) bool) bool { return !holds(sentence) })
		}
	}
}

// Writes tells whether the sentence sends requests that may create, change or remove something at the target.
func (d *Definition) Writes(sentence string) bool {
	return len(d.Costs) > 0 || d.writes != nil && d.writes(sentence)
}

// Given registers a precondition.
func (r *Registrar) Given(pattern string, function any, properties ...Property) {
	r.register(Given, pattern, function, properties)
}

// When registers an act.
func (r *Registrar) When(pattern string, function any, properties ...Property) {
	r.register(When, pattern, function, properties)
}

// Then registers a judgement.
func (r *Registrar) Then(pattern string, function any, properties ...Property) {
	r.register(Then, pattern, function, properties)
}

// OnRecord says that a sentence looks only at what the run has recorded.
func OnRecord(d *Definition) { d.OnRecord = true }

// Configured registers a precondition that the configuration alone decides: its function is also its check.
func (r *Registrar) Configured(pattern string, function func() error) {
	r.Given(pattern, function, Needs(Whatever(function)))
}

// Allow returns a context in which a step may create what its definition says, and no more.
func (d *Definition) Allow(ctx context.Context) context.Context {
	return plane.WithAllowance(ctx, d.Pattern, d.Costs...)
}
