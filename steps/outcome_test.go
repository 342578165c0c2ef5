package steps

import (
	"context"
	"errors"
	"fmt"
	"testing"

	messages "github.com/cucumber/messages/go/v21"
	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// TestJudge says which verdict a step's return has, by the kind of its sentence.
func TestJudge(t *testing.T) {
	const given, when, then = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION, messages.PickleStepType_OUTCOME
	live := context.Background()
	ended, end := context.WithCancelCause(live)
	end(errors.New("interrupted"))
	broken := violated(nil, "a", "b")
	for name, c := range map[string]struct {
		ctx     context.Context
		kind    messages.PickleStepType
		err     error
		verdict reports.Verdict
		reason  string
	}{
		"a violation under Then":             {live, then, broken, reports.Failed, "expected a, got b"},
		"a violation under When":             {live, when, broken, reports.Failed, "expected a, got b"},
		"a violation under Given":            {live, given, broken, reports.Blocked, "expected a, got b"},
		"a wrapped violation under Given":    {live, given, fmt.Errorf("fixture: x: %w", broken), reports.Blocked, "fixture: x: expected a, got b"},
		"not configured":                     {live, given, needs("key"), reports.Skipped, "set key"},
		"nothing observed":                   {live, then, inconclusive("x"), reports.Inconclusive, "x"},
		"silence under When":                 {live, when, &client.NoAnswer{Cause: "no answer within 1s", Timeout: true}, reports.Failed, "no answer within 1s"},
		"silence under Given":                {live, given, &client.NoAnswer{Cause: "no answer within 1s", Timeout: true}, reports.Blocked, "no answer"},
		"a closed connection under When":     {live, when, &client.NoAnswer{Cause: "closed", Closed: true}, reports.Failed, "closed"},
		"a target that has gone":             {live, when, &client.NoAnswer{Cause: "cannot connect"}, reports.Inconclusive, "cannot connect"},
		"the run has ended":                  {ended, when, context.Cause(ended), reports.Inconclusive, "not finished: interrupted"},
		"a mistake of the suite":             {live, then, errors.New("nil map"), reports.Inconclusive, "the suite itself failed here"},
		"a mistake of the suite under Given": {live, given, errors.New("nil map"), reports.Inconclusive, "the suite itself failed here"},
	} {
		t.Run(name, func(t *testing.T) {
			o := judge(c.ctx, c.kind, c.err)
			assert.Equal(t, c.verdict, o.verdict)
			assert.Contains(t, o.reason, c.reason)
		})
	}
	assert.Nil(t, judge(live, then, nil))
}

func TestSeenIsShort(t *testing.T) {
	a := &client.Answer{Status: 500, Body: make([]byte, 1<<20)}
	assert.Less(t, len(seen(a)), 300)
	assert.Contains(t, seen(&client.Answer{Status: 204}), "empty body")
}
