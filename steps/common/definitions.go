package common

import (
	"regexp"
	"sync"
)

// Definer takes step definitions: godog's [godog.ScenarioContext].
type Definer interface {
	Given(expression, function any)
	When(expression, function any)
	Then(expression, function any)
}

// Definitions registers the step definitions of one scenario. A pattern matches a sentence as a whole.
type Definitions struct {
	to Definer
}

// NewDefinitions returns the definitions of a scenario, of which none is registered yet.
func NewDefinitions(to Definer) *Definitions { return &Definitions{to} }

// Given registers a precondition.
func (d *Definitions) Given(pattern string, function any) { d.to.Given(compile(pattern), function) }

// When registers an act.
func (d *Definitions) When(pattern string, function any) { d.to.When(compile(pattern), function) }

// Then registers a judgement.
func (d *Definitions) Then(pattern string, function any) { d.to.Then(compile(pattern), function) }

// compiled keeps expressions (*regexp.Regexp) by pattern: each scenario registers the definitions of its feature.
var compiled sync.Map

func compile(pattern string) *regexp.Regexp {
	known, has := compiled.Load(pattern)
	if !has {
		known, _ = compiled.LoadOrStore(pattern, regexp.MustCompile("^(?:"+pattern+")$"))
	}
	return known.(*regexp.Regexp)
}
