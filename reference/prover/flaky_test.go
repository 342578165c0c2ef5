package prover

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/steps"
)

// flaky are servers whose rollback fails every third time: the messages of the prior run remain, or an unknown message is
// added.
const flaky = `
- fault: messages-stay
  breaks: the messages of the prior run remain in the state after every third rollback
  fails: AS-ROLLBACK-3
  changes:
    - when: [create-run, request.multitask_strategy = rollback, thread.status = busy, every 3 of all]
      do: kept.left = <state.values.messages>
    - when: [get-state, kept.left is filled]
      do: prepend answer.values.messages <kept.left>

- fault: message-is-unknown
  breaks: the state has an unknown message after every third rollback
  fails: AS-ROLLBACK-3
  changes:
    - when: [create-run, request.multitask_strategy = rollback, thread.status = busy, every 3 of all]
      do: kept.hello = true
    - when: [get-state, kept.hello is present, thread.status = idle]
      do: 'prepend answer.values.messages {type: human, content: hello}'
`

// TestBaselineOfAFlakyServer writes a baseline after several repetitions. With it, test runs of the same server pass, and
// a failure of another kind in the same requirement is new.
func TestBaselineOfAFlakyServer(t *testing.T) {
	t.Parallel()
	p, err := newProver(Options{})
	require.NoError(t, err)
	rows, err := deviate.Load("flaky.yaml", []byte(flaky))
	require.NoError(t, err)
	known := filepath.Join(t.TempDir(), "known.yaml")
	judge := func(ctx context.Context, e environment, row *deviate.Row, runs, repeat int) (all []*reports.Result) {
		server := p.reference(proof.Row{Kind: proof.Fault, Name: row.Name}, faults.Around(row, &deviate.Count{}))
		cfg, stop, err := server.begin(ctx, e)
		require.NoError(t, err)
		defer stop()
		o := p.options(e, cfg)
		o.Repeat = repeat
		o.Select = steps.Selection{Only: []string{"AS-ROLLBACK-3", "AS-STATE-1"}, Tags: "not @situation"}
		for range runs {
			result, err := steps.Run(ctx, o)
			require.NoError(t, err)
			all = append(all, result)
		}
		return all
	}
	err = inBubble(t, func(ctx context.Context, e environment) {
		result := judge(ctx, e, rows[0], 1, 5)[0]
		q := result.Requirement("AS-ROLLBACK-3")
		assert.Equal(t, reports.Failed, q.Verdict, "the worst verdict")
		assert.True(t, q.Repetitions.Differ(), q.Repetitions)
		assert.Equal(t, 5, result.Requirement("AS-STATE-1").Repetitions[reports.Passed])
		assert.Equal(t, 1, overview.Of(result).Display().Exit)
		_, err := baseline.Write(known, result)
		require.NoError(t, err)
	})
	require.NoError(t, err)
	for at, same := range []bool{true, false} {
		b, err := baseline.Load(known)
		require.NoError(t, err)
		failed := 0
		err = inBubble(t, func(ctx context.Context, e environment) {
			for _, result := range judge(ctx, e, rows[at], 10, 1) {
				baseline.Apply(result, b, time.Now())
				hasFailed := result.Requirement("AS-ROLLBACK-3").Verdict == reports.Failed
				if hasFailed {
					failed++
				}
				assert.Equal(t, same || !hasFailed, overview.Of(result).Display().Exit == 0, overview.Of(result).FirstLine())
			}
		})
		require.NoError(t, err)
		assert.Positive(t, failed, rows[at].Name)
	}
}
