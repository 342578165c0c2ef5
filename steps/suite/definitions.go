package suite

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
)

// Definition is a step definition that the scenarios of some feature files can use.
type Definition struct {
	Keyword   string   `json:"keyword"`           // Given, When or Then
	Pattern   string   `json:"pattern"`           // a regular expression that matches the whole text of a step
	Features  []string `json:"features"`          // the feature files that can use it
	Example   string   `json:"example,omitempty"` // the first step of these features that matches it
	Scenarios int      `json:"scenarios"`         // that use it
}

// Definitions returns all step definitions. Those of the same feature files are together, Given before When before Then.
func Definitions(c *features.Catalogue) ([]*Definition, error) {
	cfg := config.Default()
	cfg.Target = "http://127.0.0.1" // nothing is sent
	r, err := newRun(context.Background(), Options{Config: &cfg, Catalogue: c})
	if err != nil {
		return nil, err
	}
	defer r.target.Close() //nolint:errcheck // it has no ledger
	all := &definitions{}
	for _, f := range c.Files {
		all.feature = f.URI
		r.define(f.URI, common.NewDefinitions(all, &r.patterns), &common.Scene{})
	}
	for _, d := range all.found {
		d.findUses(c)
	}
	slices.SortFunc(all.found, func(a, b *Definition) int {
		return cmp.Or(cmp.Compare(len(b.Features), len(a.Features)), slices.Compare(a.Features, b.Features),
			cmp.Compare(slices.Index(keywords, a.Keyword), slices.Index(keywords, b.Keyword)), cmp.Compare(a.Pattern, b.Pattern))
	})
	return all.found, nil
}

var keywords = []string{"Given", "When", "Then"}

// definitions collects the step definitions that are registered for each feature file.
type definitions struct {
	feature string
	found   []*Definition
}

// Given implements [common.Definer].
func (d *definitions) Given(expression, _ any) { d.add("Given", expression) }

// When implements [common.Definer].
func (d *definitions) When(expression, _ any) { d.add("When", expression) }

// Then implements [common.Definer].
func (d *definitions) Then(expression, _ any) { d.add("Then", expression) }

func (d *definitions) add(keyword string, expression any) {
	pattern := expression.(*regexp.Regexp).String()
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "^(?:"), ")$")
	for _, known := range d.found {
		if known.Keyword == keyword && known.Pattern == pattern {
			known.Features = append(known.Features, d.feature)
			return
		}
	}
	d.found = append(d.found, &Definition{Keyword: keyword, Pattern: pattern, Features: []string{d.feature}})
}

func (d *Definition) findUses(c *features.Catalogue) {
	expression := regexp.MustCompile("^(?:" + d.Pattern + ")$")
	for _, s := range c.Scenarios() {
		if !slices.Contains(d.Features, s.URI) {
			continue
		}
		keyword, used := "", ""
		for _, step := range s.Steps {
			if step.Keyword != "And" && step.Keyword != "But" {
				keyword = step.Keyword
			}
			if keyword == d.Keyword && expression.MatchString(step.Text) {
				used = step.Text
			}
		}
		if used != "" {
			d.Scenarios++
			d.Example = cmp.Or(d.Example, used)
		}
	}
}
