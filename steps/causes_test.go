package steps_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// configureUnknown configures a target that replaces the 404 for an unknown deployment with a status. The number of the
// response selects the status. If revisions is set, the same applies to unknown revisions.
func configureUnknown(t world, revisions bool, status func(nth int64) int) *config.Config {
	t.Helper()
	cfg := configure(t, startIndependent(t, independent.Options{}))
	var responses atomic.Int64
	cfg.Target = serveProxy(t, cfg.Target, func(*http.Request) {}, func(a *http.Response, body []byte) []byte {
		isRevision := strings.Contains(a.Request.URL.Path, "/revisions")
		isSelected := a.Request.Method == http.MethodGet && (revisions || !isRevision)
		if isSelected && a.StatusCode == http.StatusNotFound {
			a.StatusCode = status(responses.Add(1))
		}
		return body
	})
	return cfg
}

// TestExplainedAndRepeatedFailures checks which failures have a cause, and how often they were seen, if the 404 for an
// unknown deployment is replaced always or once. A failure has no cause if the requirement that would explain it has
// passed or is not selected.
func TestExplainedAndRepeatedFailures(t *testing.T) {
	t.Parallel()
	const always = 100
	both := []string{"CP-GET-2", "CP-GET-4"}
	for name, c := range map[string]struct {
		status    int
		replaced  int64 // the number of responses whose status is replaced
		revisions bool  // also for unknown revisions
		only      []string
		explained map[string][]string // the failed requirements, with the requirements that explain them
		seen      int                 // the number of judgements with the first failure
	}{
		"a cause explains the other failure": {status: http.StatusOK, replaced: always, only: both, seen: 2,
			explained: map[string][]string{"CP-GET-2": nil, "CP-GET-4": {"CP-GET-2"}}},
		"a cause explains one of two failures": {status: http.StatusOK, replaced: always, revisions: true, only: both, seen: 2,
			explained: map[string][]string{"CP-GET-2": nil, "CP-GET-4": nil}},
		"only the second fails": {status: http.StatusConflict, replaced: always, only: both, seen: 2,
			explained: map[string][]string{"CP-GET-4": nil}},
		"the cause is not selected": {status: http.StatusOK, replaced: always, only: []string{"CP-GET-4"}, seen: 2,
			explained: map[string][]string{"CP-GET-4": nil}},
		"once": {status: http.StatusOK, replaced: 1, only: []string{"CP-GET-2"}, seen: 1,
			explained: map[string][]string{"CP-GET-2": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				res := judge(t, configureUnknown(t, c.revisions, func(nth int64) int {
					if nth > c.replaced {
						return http.StatusNotFound
					}
					return c.status
				}), func(o *steps.Options) { o.Select = suite.Selection{Only: c.only} })
				explained := map[string][]string{}
				for _, q := range res.Requirements {
					if q.Verdict == reports.Failed {
						explained[q.ID] = q.ExplainedBy
					}
				}
				assert.Len(t, explained, len(c.explained))
				for id, by := range c.explained {
					assert.ElementsMatch(t, by, explained[id], id)
				}
				require.NotEmpty(t, res.Findings)
				assert.Equal(t, []int{2, c.seen}, []int{res.Findings[0].Judged, res.Findings[0].Seen})
			})
		})
	}
}

// TestStopInSecondJudgementKeepsVerdicts stops the test run at the first response of the second judgement of failures.
func TestStopInSecondJudgementKeepsVerdicts(t *testing.T) {
	runInBubble(t, func(t world) {
		verdicts := map[bool]map[string]reports.Verdict{}
		for _, stops := range []bool{false, true} {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			cfg := configureUnknown(t, false, func(nth int64) int {
				if nth == 7 && stops { // the first judgement sends six such requests
					stop()
				}
				return http.StatusConflict
			})
			catalogue, oracle, err := steps.Requirements()
			require.NoError(t, err)
			res, err := steps.Run(ctx, steps.Options{
				Dial: t.dial(), Config: cfg, Catalogue: catalogue, Oracle: oracle, ID: "test", Seed: 1, Version: "test",
				Select: suite.Selection{Only: []string{"CP-GET-*", "CP-INVARIANT-*"}},
			})
			require.NoError(t, err)
			assert.Empty(t, res.Run.Stopped)
			assert.Equal(t, stops, ctx.Err() != nil)
			verdicts[stops] = map[string]reports.Verdict{}
			for _, q := range res.Requirements {
				verdicts[stops][q.ID] = q.Verdict
			}
		}
		assert.Equal(t, verdicts[false], verdicts[true])
	})
}
