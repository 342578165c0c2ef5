package common

import (
	"context"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Expressions are those of the step definitions that a test run offers, and the sentences that they match.
type Expressions struct {
	mu       sync.Mutex
	used     map[string]bool   // patterns of the definitions that were offered
	patterns map[string]string // by sentence
}

// NewExpressions returns none yet.
func NewExpressions() *Expressions {
	return &Expressions{used: map[string]bool{}, patterns: map[string]string{}}
}

// Pattern returns the pattern that a sentence of the run has matched: what stays the same when its values differ.
func (x *Expressions) Pattern(sentence string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.patterns[sentence]
}

// Unused are the patterns that no sentence has matched.
func (x *Expressions) Unused() (patterns []string) {
	for pattern := range x.used {
		if !slices.Contains(slices.Collect(maps.Values(x.patterns)), pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

// compiled caches expressions (*regexp.Regexp) by pattern: a process may make many test runs.
var compiled sync.Map

// compile returns the expression that matches a sentence as a whole.
func compile(pattern string) *regexp.Regexp {
	if known, has := compiled.Load(pattern); has {
		return known.(*regexp.Regexp)
	}
	made := regexp.MustCompile("^(?:" + pattern + ")$")
	compiled.Store(pattern, made)
	return made
}

// matching returns the expression of a pattern, nil where none of the sentences matches it.
func (x *Expressions) matching(pattern string, sentences []features.Step) *regexp.Regexp {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := compile(pattern)
	x.used[pattern] = true
	for _, s := range sentences {
		if x.patterns[s.Text] == pattern || e.MatchString(s.Text) {
			x.patterns[s.Text] = pattern
			return e
		}
	}
	return nil
}

// Definer takes step definitions: godog's [godog.ScenarioContext].
type Definer interface {
	Given(expression, function any)
	When(expression, function any)
	Then(expression, function any)
}

// Definitions has godog take the definitions that one scenario needs. With all of them in each scenario a run takes a
// tenth more time and 30 MB more memory.
type Definitions struct {
	to          Definer
	expressions *Expressions
	sentences   []features.Step
}

// DefinitionsFor are those of the scenario that says the sentences.
func DefinitionsFor(sentences []features.Step, to Definer, x *Expressions) *Definitions {
	return &Definitions{to, x, sentences}
}

// Given defines a precondition.
func (d *Definitions) Given(pattern string, function any) { d.define(d.to.Given, pattern, function) }

// When defines an act.
func (d *Definitions) When(pattern string, function any) { d.define(d.to.When, pattern, function) }

// Then defines a judgement.
func (d *Definitions) Then(pattern string, function any) { d.define(d.to.Then, pattern, function) }

func (d *Definitions) define(take func(expression, function any), pattern string, function any) {
	if e := d.expressions.matching(pattern, d.sentences); e != nil {
		take(e, returning(function))
	}
}

// ended is what a step definition panics with that [Check] has ended.
type ended struct{ err error }

// Check ends the step with the error, as if its definition had returned it; it does nothing without one. It is for the
// goroutine of the definition, and for functions that are tried.
func Check(err error) {
	if err != nil {
		panic(ended{err})
	}
}

// Must is Check for what comes with a value.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Requires is Check for what a step that acts or judges needs before: what is wrong with it blocks.
func Requires(err error) { Check(outcome.AsPrecondition(err)) }

// Given is Requires for what comes with a value.
func Given[T any](value T, err error) T { return Must(value, outcome.AsPrecondition(err)) }

// Needs is Requires for an act that ends by Check.
func Needs(act func()) { Requires(Try(act)) }

// Try returns the error with which the function was ended.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ended:
			err = r.err
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// Retry looks again and again until it is done, for as long as an answer may take.
func Retry(ctx context.Context, t *target.Target, look func() (done bool)) {
	Check(t.RetryFor(ctx, t.Config.Timeouts.Request, func() (bool, error) { return look(), nil }))
}

// returning is a definition that returns the error by which it was ended. The function may have no result.
func returning(function any) any {
	f := reflect.ValueOf(function)
	in := make([]reflect.Type, f.Type().NumIn())
	for i := range in {
		in[i] = f.Type().In(i)
	}
	of := reflect.FuncOf(in, []reflect.Type{reflect.TypeFor[error]()}, false)
	return reflect.MakeFunc(of, func(arguments []reflect.Value) (results []reflect.Value) {
		err := Try(func() { results = f.Call(arguments) })
		if len(results) == 0 {
			results = []reflect.Value{reflect.ValueOf(&err).Elem()}
		}
		return results
	}).Interface()
}
