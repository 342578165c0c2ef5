package common

import (
	"regexp"
	"slices"
	"sync"
)

// Definer registers step definitions with godog. It is a godog.ScenarioContext.
type Definer interface {
	Given(expression, function any)
	When(expression, function any)
	Then(expression, function any)
}

// Definitions registers the step definitions of one scenario. A pattern must match the whole text of a step.
type Definitions struct {
	to       Definer
	patterns *Patterns
	steps    []string
}

// Patterns caches the patterns of the definitions as expressions (*regexp.Regexp), because each scenario registers its
// definitions again.
type Patterns struct{ compiled sync.Map }

// NewDefinitions returns definitions. If steps are given, only definitions whose patterns match a step are registered
// with godog.
func NewDefinitions(to Definer, patterns *Patterns, steps ...string) *Definitions {
	return &Definitions{to, patterns, steps}
}

// Given registers the definition of a precondition.
func (d *Definitions) Given(pattern string, function any) { d.define(d.to.Given, pattern, function) }

// When registers the definition of an act.
func (d *Definitions) When(pattern string, function any) { d.define(d.to.When, pattern, function) }

// Then registers the definition of a check.
func (d *Definitions) Then(pattern string, function any) { d.define(d.to.Then, pattern, function) }

func (d *Definitions) define(register func(expression, function any), pattern string, function any) {
	expression := d.patterns.expression(pattern)
	if len(d.steps) == 0 || slices.ContainsFunc(d.steps, expression.MatchString) {
		register(expression, function)
	}
}

func (p *Patterns) expression(pattern string) *regexp.Regexp {
	known, has := p.compiled.Load(pattern)
	if !has {
		known, _ = p.compiled.LoadOrStore(pattern, regexp.MustCompile("^(?:"+pattern+")$"))
	}
	return known.(*regexp.Regexp)
}
