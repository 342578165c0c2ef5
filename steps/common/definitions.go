package common

import (
	"regexp"
	"sync"
)

// Definer registers step definitions with godog. It is a godog.ScenarioContext.
type Definer interface {
	Given(expression, function any)
	When(expression, function any)
	Then(expression, function any)
}

// Definitions registers the step definitions of one scenario. A pattern must match the whole sentence.
type Definitions struct {
	to Definer
}

// NewDefinitions returns definitions that are registered with godog.
func NewDefinitions(to Definer) *Definitions { return &Definitions{to} }

// Given registers the definition of a precondition.
func (d *Definitions) Given(pattern string, function any) { d.to.Given(compile(pattern), function) }

// When registers the definition of an act.
func (d *Definitions) When(pattern string, function any) { d.to.When(compile(pattern), function) }

// Then registers the definition of a check.
func (d *Definitions) Then(pattern string, function any) { d.to.Then(compile(pattern), function) }

// compiled has the expressions (*regexp.Regexp) by pattern, because each scenario registers its definitions anew.
var compiled sync.Map

func compile(pattern string) *regexp.Regexp {
	known, has := compiled.Load(pattern)
	if !has {
		known, _ = compiled.LoadOrStore(pattern, regexp.MustCompile("^(?:"+pattern+")$"))
	}
	return known.(*regexp.Regexp)
}
