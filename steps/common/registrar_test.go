package common

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

func shared(_ *plane.Deployment, err error) error { return err }

func register(build func(*Registrar, *plane.Plane)) (*Definitions, *plane.Plane) {
	c := config.Default()
	definitions := NewDefinitions()
	p := plane.New(&target.Target{Config: &c}, nil, time.Time{})
	build(NewRegistrar(definitions, nil), p)
	return definitions, p
}

func TestASentenceIsFoundByItsPattern(t *testing.T) {
	definitions, _ := register(func(r *Registrar, _ *plane.Plane) {
		r.Given(`a run`, nil)
		r.When(`the client lists (\d+) rows?`, nil)
		r.Then(`a? b`, nil)
	})
	for sentence, pattern := range map[string]string{
		"a run": `a run`, "the client lists 2 rows": `the client lists (\d+) rows?`, "the client lists 1 row": `the client lists (\d+) rows?`,
		" b": `a? b`, "a run that ends": "a run that ends",
	} {
		assert.Equal(t, pattern, definitions.Pattern(sentence))
	}
	assert.Nil(t, definitions.Find("a run that ends"))
}

func TestWhatASentenceNeedsIsAskedBeforehand(t *testing.T) {
	definitions, _ := register(func(r *Registrar, _ *plane.Plane) {
		r.Given(`a (first|second) ref`, nil, Needs(func(which string) error {
			if which == "second" {
				return outcome.Needs("alternatives.repo_ref")
			}
			return nil
		}))
	})
	assert.Empty(t, definitions.Find("a first ref").Lacks("a first ref"))
	assert.Len(t, definitions.Find("a second ref").Lacks("a second ref"), 1)
}

// TestASentenceCreatesNoMoreThanItSays wants a cost that is not declared to be a mistake of the suite, and no verdict about
// the target.
func TestASentenceCreatesNoMoreThanItSays(t *testing.T) {
	definitions, p := register(func(r *Registrar, p *plane.Plane) {
		r.When(`it creates one`, nil, Creates(1, 1))
		r.When(`it says nothing`, nil)
		r.When(`it uses one`, nil, Uses(p.Fixtures.Deployed))
	})
	ctx := definitions.Find("it creates one").Allow(t.Context())
	require.NoError(t, p.TakeDeployment(ctx))
	require.NoError(t, p.TakeRevision(ctx, &plane.Deployment{}))
	for name, err := range map[string]error{
		"a second deployment": p.TakeDeployment(ctx),
		"a second revision":   p.TakeRevision(ctx, &plane.Deployment{}),
		"one without a cost":  p.TakeDeployment(definitions.Find("it says nothing").Allow(t.Context())),
		"one beside a shared": p.TakeDeployment(definitions.Find("it uses one").Allow(t.Context())),
		"another fixture":     shared(p.Shared(definitions.Find("it uses one").Allow(t.Context()), p.Fixtures.Long)),
	} {
		o := outcome.Judge(t.Context(), false, "it creates one", err)
		require.NotNil(t, o, name)
		assert.Equal(t, reports.Inconclusive, o.Verdict, name)
		assert.Equal(t, reports.BySuite, o.BlockedBy[0].Kind, name)
		assert.Contains(t, o.Reason, "declare it where it is registered", name)
	}
}
