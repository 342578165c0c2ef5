package common

import (
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Expressions are those of the step definitions, compiled once for all scenarios of a run.
type Expressions struct {
	mu       sync.Mutex
	compiled map[string]*regexp.Regexp // each matches a sentence as a whole
	patterns map[string]string         // by sentence
}

// NewExpressions returns none yet.
func NewExpressions() *Expressions {
	return &Expressions{compiled: map[string]*regexp.Regexp{}, patterns: map[string]string{}}
}

// Pattern returns the pattern that a sentence of the run has matched: what stays the same when its values differ.
func (x *Expressions) Pattern(sentence string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.patterns[sentence]
}

// Unused are the patterns that no sentence has matched.
func (x *Expressions) Unused() (patterns []string) {
	for pattern := range x.compiled {
		if !slices.Contains(slices.Collect(maps.Values(x.patterns)), pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

// matching returns the expression of a pattern, nil where none of the sentences matches it.
func (x *Expressions) matching(pattern string, sentences []features.Step) *regexp.Regexp {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.compiled[pattern]
	if e == nil {
		e = regexp.MustCompile("^(?:" + pattern + ")$")
		x.compiled[pattern] = e
	}
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
func (d *Definitions) Given(pattern string, function any) {
	if e := d.expressions.matching(pattern, d.sentences); e != nil {
		d.to.Given(e, function)
	}
}

// When defines an act.
func (d *Definitions) When(pattern string, function any) {
	if e := d.expressions.matching(pattern, d.sentences); e != nil {
		d.to.When(e, outcome.Mutable(function))
	}
}

// Then defines a judgement.
func (d *Definitions) Then(pattern string, function any) {
	if e := d.expressions.matching(pattern, d.sentences); e != nil {
		d.to.Then(e, outcome.Mutable(function))
	}
}
