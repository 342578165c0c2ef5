package outcome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// TestJudge says which verdict a step's return has, by the kind of its sentence.
func TestJudge(t *testing.T) {
	const given, when, then = true, false, false
	live := context.Background()
	ended, end := context.WithCancelCause(live)
	end(errors.New("interrupted"))
	broken := Violated(nil, "a", "b")
	for name, c := range map[string]struct {
		ctx     context.Context
		given   bool
		err     error
		verdict reports.Verdict
		reason  string
	}{
		"a violation under Then":             {live, then, broken, reports.Failed, "expected a, got b"},
		"a violation under When":             {live, when, broken, reports.Failed, "expected a, got b"},
		"a violation under Given":            {live, given, broken, reports.Blocked, "expected a, got b"},
		"a wrapped violation under Given":    {live, given, fmt.Errorf("fixture: x: %w", broken), reports.Blocked, "fixture: x: expected a, got b"},
		"not configured":                     {live, given, Needs("key"), reports.Skipped, "set key"},
		"nothing observed":                   {live, then, Inconclusive("x"), reports.Inconclusive, "x"},
		"silence under When":                 {live, when, &client.NoAnswer{Cause: "no answer within 1s", Timeout: true}, reports.Failed, "no answer within 1s"},
		"silence under Given":                {live, given, &client.NoAnswer{Cause: "no answer within 1s", Timeout: true}, reports.Blocked, "no answer"},
		"a closed connection under When":     {live, when, &client.NoAnswer{Cause: "closed", Closed: true}, reports.Failed, "closed"},
		"a target that has gone":             {live, when, &client.NoAnswer{Cause: "cannot connect"}, reports.Inconclusive, "cannot connect"},
		"the run has ended":                  {ended, when, context.Cause(ended), reports.Inconclusive, "not finished: interrupted"},
		"a mistake of the suite":             {live, then, errors.New("nil map"), reports.Inconclusive, "the suite itself failed here"},
		"a mistake of the suite under Given": {live, given, errors.New("nil map"), reports.Inconclusive, "the suite itself failed here"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Judge(c.ctx, c.given, "the sentence", c.err)
			assert.Equal(t, c.verdict, o.Verdict)
			assert.Contains(t, o.Reason, c.reason)
		})
	}
	assert.Nil(t, Judge(live, then, "the sentence", nil))
}

func TestReasonsAreShort(t *testing.T) {
	a := &client.Answer{Status: 500, Body: bytes.Repeat([]byte("x"), 1<<20)}
	for _, o := range []*Outcome{Violated(a, "status 200", "%s", Seen(a)), Blocked("%s", Seen(a)), Inconclusive("%s", Seen(a)), Needs(Seen(a)), Inapplicable("k", "%s", Seen(a))} {
		assert.Less(t, len(o.Reason), 300)
	}
	assert.Less(t, len(SeenShort(a)), 300)
	assert.LessOrEqual(t, len(Seen(a)), maxText+2*maxQuote)
	assert.Contains(t, Seen(&client.Answer{Status: 204}), "empty body")
}

// TestWhatBlocksIsNamed wants the cause that comes nearest to the fault: a requirement that a step names, else the
// innermost fixture, else the sentence itself.
func TestWhatBlocksIsNamed(t *testing.T) {
	broken := Violated(nil, "a", "b")
	nested := OfFixture("the agent server", fmt.Errorf("fixture: x: %w", OfFixture("a deployment", broken)))
	for name, c := range map[string]struct {
		given bool
		err   error
		want  reports.Blocker
	}{
		"a violation under Given":    {true, broken, reports.Blocker{Kind: reports.ByPrecondition, Name: "the sentence"}},
		"a fixture of a fixture":     {true, nested, reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"}},
		"a fixture elsewhere":        {false, AsPrecondition(nested), reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"}},
		"a requirement":              {true, Blocked("x").ByRequirement("CP-A-1"), reports.Blocker{Kind: reports.ByRequirement, Name: "CP-A-1"}},
		"a requirement in a fixture": {true, OfFixture("a run", Violated(nil, "a", "b").ByRequirement("AS-A-1")), reports.Blocker{Kind: reports.ByRequirement, Name: "AS-A-1"}},
		"nothing was seen":           {false, Inconclusive("x"), reports.Blocker{Kind: reports.ByObservation, Name: "the sentence"}},
		"no answer":                  {false, &client.NoAnswer{Cause: "refused", Request: client.Request{Base: "http://t"}}, reports.Blocker{Kind: reports.ByTarget, Name: "http://t"}},
		"a mistake of the suite":     {false, errors.New("nil map"), reports.Blocker{Kind: reports.BySuite, Name: "error"}},
	} {
		o := Judge(context.Background(), c.given, "the sentence", c.err)
		assert.Equal(t, []reports.Blocker{c.want}, o.BlockedBy, name)
	}
	Judge(context.Background(), true, "the sentence", broken)
	assert.Empty(t, broken.BlockedBy, "an outcome that scenarios share stays as it is")
}
