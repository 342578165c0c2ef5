package steps_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/har"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/recording"
	"github.com/agentconform/agentconform/steps/target"
)

// TestRepetitionsShareDeployments judges a conforming server twice. The second repetition finds deployments that the first
// one has changed, and nothing fails because of that.
func TestRepetitionsShareDeployments(t *testing.T) {
	runInBubble(t, func(t world) {
		c := configure(t, startIndependent(t, independent.Options{Edition: config.Cloud}))
		var planned target.Event
		var options steps.Options
		res := judge(t, c, func(o *steps.Options) {
			o.Repeat = 2
			o.Select = steps.Selection{Only: []string{"CP-UPDATE-*", "CP-INVARIANT-*", "CP-LIST-1", "AS-ROLLBACK-3"}, Tags: "not @situation"}
			o.Progress = func(e target.Event) {
				if e.Kind == target.Planned {
					planned = e
				}
			}
			options = *o
		})
		assert.Equal(t, reports.Conformant, res.Verdict, res.Headline)
		assert.Equal(t, []int{2, 2}, []int{res.Run.Repeat, res.Run.Repeated})
		for _, q := range res.Requirements {
			assert.Equal(t, 2, q.Repetitions[q.Verdict], "%s %s", q.ID, q.Repetitions)
		}
		created := map[string]int{} // by the shared fixture
		deployments := 0
		for _, e := range res.Ledger {
			if e.Kind == "deployment" {
				created[e.CreatedBy]++
				deployments++
			}
		}
		assert.Equal(t, 1, created["fixture: a deployment"])
		assert.LessOrEqual(t, deployments, planned.Deployments, "the banner counts all repetitions")
		assert.Greater(t, res.Counts.Exchanges, len(res.Exchanges), "the result has the exchanges of the last repetition")

		var archive bytes.Buffer
		require.NoError(t, har.Write(&archive, res))
		from, err := recording.Read(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
		require.NoError(t, err)
		options.Repeat, options.Select, options.Progress = 1, steps.Selection{}, nil
		judged, err := steps.JudgeRecording(context.Background(), options, from)
		require.NoError(t, err)
		assert.Empty(t, judged.Findings, "updates of earlier repetitions explain what their deployments show")
	})
}

// TestRepetitionsEndEarly ends a test run when the second of three repetitions begins.
func TestRepetitionsEndEarly(t *testing.T) {
	runInBubble(t, func(t world) {
		c := configure(t, startIndependent(t, independent.Options{Edition: config.Cloud}))
		catalogue, oracle, err := steps.Requirements()
		require.NoError(t, err)
		ctx, end := context.WithCancelCause(context.Background())
		o := steps.Options{Dial: t.dial(), Config: c, Catalogue: catalogue, Oracle: oracle, Seed: 1, Repeat: 3,
			Select: steps.Selection{Only: []string{"CP-GET-1", "AS-RUN-1"}}}
		o.Progress = func(e target.Event) {
			if e.Kind == target.Repeating {
				end(&steps.Stopped{By: "a test"})
			}
		}
		res, err := steps.Run(ctx, o)
		require.NoError(t, err)
		assert.Equal(t, reports.Incomplete, res.Verdict)
		assert.Equal(t, "a test", res.Run.Stopped)
		assert.Equal(t, 2, res.Run.Repeated, "the second one began")
		for _, q := range res.Requirements {
			assert.Equal(t, reports.Passed, q.Verdict, "the first repetition was whole: %s", q.ID)
			assert.Equal(t, "passed 1 of 1", q.Repetitions.String(), q.ID)
		}
	})
}

// TestRepetitionsOfAnUnreachableTarget checks that the target is tried once.
func TestRepetitionsOfAnUnreachableTarget(t *testing.T) {
	runInBubble(t, func(t world) {
		c := config.Default()
		c.Target = "http://127.0.0.1:9"
		res := judge(t, &c, func(o *steps.Options) { o.Repeat = 5 })
		assert.Equal(t, reports.Incomplete, res.Verdict)
		assert.Equal(t, 1, res.Run.Repeated)
	})
}
