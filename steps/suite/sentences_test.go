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
	"github.com/agentconform/agentconform/steps/target"
)

// defined counts the definitions that a sentence has, by their kind.
type defined map[string]int

func (d defined) Given(any, any) { d["Given"]++ }
func (d defined) When(any, any)  { d["When"]++ }
func (d defined) Then(any, any)  { d["Then"]++ }

// TestEverySentenceHasOneDefinition wants each sentence of the features to have exactly one meaning, of its own kind.
func TestEverySentenceHasOneDefinition(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	c := config.Default()
	r := &run{target: &target.Target{Config: &c}}
	r.plane = plane.New(r.target, nil, r.start)
	r.agents = agent.New(r.target, r.plane, nil, 1)
	r.invariants = invariants.NewRecord(r.target, nil)
	expressions := common.NewExpressions()
	asked := map[string]bool{}
	for _, s := range catalogue.Scenarios() {
		kind := ""
		for _, step := range s.Steps {
			if regexp.MustCompile("^(Given|When|Then)$").MatchString(step.Keyword) {
				kind = step.Keyword
			}
			if asked[kind+step.Text] {
				continue
			}
			asked[kind+step.Text] = true
			found := defined{}
			r.define(common.DefinitionsFor([]features.Step{step}, found, expressions), &common.Scene{})
			assert.Equal(t, defined{kind: 1}, found, "%s: %s", s.Key(), step.Text)
		}
	}
	for _, pattern := range expressions.Unused() {
		t.Errorf("no feature says %q", pattern)
	}
}
