package suite

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/situations"
	"github.com/agentconform/agentconform/steps/target"
)

func TestParseTags(t *testing.T) {
	tags := []string{"@must", "@slow", "@CP-LIST-3"}
	for expression, want := range map[string]bool{
		"":                                  true,
		"@must":                             true,
		"@MUST":                             true,
		"@should":                           false,
		"not @should":                       true,
		"@must and not @slow":               false,
		"@should or @slow":                  true,
		"@should or @slow and @must":        true,
		"(@should or @slow) and @nothing":   false,
		"not (@should or @may)":             true,
		"@should and @slow or @must":        true,
		"@should and (@slow or @must)":      false,
		"NOT @should AND @must":             true,
		"((((@must))))":                     true,
		"@cp-list-3 and not(@should)":       true,
		"@should or (@must and(not @slow))": false,
	} {
		match, _, err := parseTags(expression)
		require.NoError(t, err, expression)
		assert.Equal(t, want, match(tags), expression)
	}
	for expression, message := range map[string]string{
		"must": "is not a tag", "@": "is not a tag", "@a @b": "not complete", "@a and": "not complete", "not": "not complete",
		"(@a": "not complete", "@a)": "not complete", "and @a": "not complete", "@a && @b": "is not a tag", "~@a": "is not a tag",
		"()": "not complete",
	} {
		_, _, err := parseTags(expression)
		assert.ErrorContains(t, err, message, expression)
	}
}

func FuzzParseTags(f *testing.F) {
	f.Add("@a and not (@b or @c)")
	f.Add("not not not")
	f.Fuzz(func(_ *testing.T, expression string) {
		if match, _, err := parseTags(expression); err == nil {
			match([]string{"@a"})
		}
	})
}

func TestIDsAreSelectedInAnyCase(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	selected, err := Selection{Only: []string{"cp-list-3"}}.Apply(catalogue)
	require.NoError(t, err)
	assert.Equal(t, catalogue.Find("CP-LIST-3").Scenarios, selected)
}

// TestBinding checks which requirements count as MUST because of --fail-on.
func TestBinding(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	none, err := Binding(c, nil)
	require.NoError(t, err)
	secure, err := Binding(c, []string{"@security"})
	require.NoError(t, err)
	for _, id := range []string{"CP-AUTH-5", "CP-AUTH-6", "AS-AUTHZ-1", "AS-AUTHZ-2", "AS-AUTHZ-3", "AS-AUTHZ-4"} {
		assert.True(t, secure(c.Find(id)), id)
		assert.Contains(t, []string{"isolation", "security"}, c.Find(id).Subject, "the headline names it")
		assert.False(t, none(c.Find(id)), id)
	}
	assert.False(t, secure(c.Find("CP-UPDATE-1")))
	both, err := Binding(c, []string{"@security and not @control-plane", "should"})
	require.NoError(t, err)
	for id, want := range map[string]bool{
		"AS-AUTHZ-1": true, "CP-AUTH-5": true, "CP-AUTH-1": false, "CP-UPDATE-1": false, "CP-REV-3": true,
	} {
		assert.Equal(t, want, both(c.Find(id)), id)
	}
	for _, wrong := range []string{
		"@securty", "security", "@a &&", "", " ", "@security or @securty", "@control-plane and @agent-server", "Should", "must",
	} {
		_, err := Binding(c, []string{"@security", wrong})
		assert.ErrorContains(t, err, "--fail-on")
	}
}

func TestUndefinedStep(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	s := c.Find("CP-LIST-3").Scenarios[0]
	step := features.Step{Text: "the request is refused with 422 and an eror naming \"limit\"", Line: 7}
	assert.Equal(t, `features/control_plane/list.feature:7: no definition matches "the request is refused with 422 and an eror naming `+
		`\"limit\""; did you mean "the request is refused with 422 and an error that names \"limit\""?`, undefined(c, s, step))
}

// defined has the kind of each definition that a feature registers, by its expression.
type defined map[string]string

func (d defined) Given(expression, _ any) { d[expression.(*regexp.Regexp).String()] = "Given" }
func (d defined) When(expression, _ any)  { d[expression.(*regexp.Regexp).String()] = "When" }
func (d defined) Then(expression, _ any)  { d[expression.(*regexp.Regexp).String()] = "Then" }

// TestEveryStepHasOneDefinition checks that each step of a feature has exactly one definition of its kind, and that
// each definition is used.
func TestEveryStepHasOneDefinition(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	c := config.Default()
	r := &run{target: &target.Target{Config: &c}}
	r.plane = plane.New(r.target, nil, r.start)
	r.agents = agent.New(r.target, r.plane, nil, 1, 1)
	r.invariants = invariants.NewRecord(r.target, nil)
	r.situations = &situations.Situations{}
	byFeature := map[string]defined{}
	isUsed := map[string]bool{}
	compiled := map[string]*regexp.Regexp{}
	for _, s := range catalogue.Scenarios() {
		if byFeature[s.URI] == nil {
			byFeature[s.URI] = defined{}
			r.define(s.URI, common.NewDefinitions(byFeature[s.URI], &r.patterns), &common.Scene{})
		}
		kind := ""
		for _, step := range s.Steps {
			if step.Keyword == "Given" || step.Keyword == "When" || step.Keyword == "Then" {
				kind = step.Keyword
			}
			var kinds []string
			for expression, of := range byFeature[s.URI] {
				if compiled[expression] == nil {
					compiled[expression] = regexp.MustCompile(expression)
				}
				if compiled[expression].MatchString(step.Text) {
					kinds = append(kinds, of)
					isUsed[expression] = true
				}
			}
			if len(kinds) == 0 {
				t.Error(undefined(catalogue, s, step)) // finds the most similar step, which takes long
			} else {
				assert.Equal(t, []string{kind}, kinds, "features/%s:%d: %s", s.URI, step.Line, step.Text)
			}
		}
	}
	for uri, all := range byFeature {
		for expression := range all {
			assert.True(t, isUsed[expression], "%s: no step matches %s", uri, expression)
		}
	}
}
