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

// unknownAnsweredWith configures a target that answers each GET of an unknown deployment, or of a revision too, with a status.
func unknownAnsweredWith(t world, revisions bool, status func(nth int64) int) *config.Config {
	t.Helper()
	cfg := configure(t, startIndependent(t, independent.Options{}))
	var asked atomic.Int64
	cfg.Target = changedBy(t, cfg.Target, func(*http.Request) {}, func(a *http.Response, body []byte) []byte {
		isMeant := a.Request.Method == http.MethodGet && (revisions || !strings.Contains(a.Request.URL.Path, "/revisions"))
		if isMeant && a.StatusCode == http.StatusNotFound {
			a.StatusCode = status(asked.Add(1))
		}
		return body
	})
	return cfg
}

// TestAFailureSaysWhatExplainsItAndWhetherItWasSeenAgain has the 404 of GET of a deployment changed, always or once. A requirement that
// wants no more than another one is its own cause where that one has passed.
func TestAFailureSaysWhatExplainsItAndWhetherItWasSeenAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		most      int64 // so many answers are changed
		only      []string
		explained map[string][]string // failed requirements, and what explains them
		seen      int
		revisions bool
	}{
		"a cause and what it explains":              {http.StatusOK, 100, []string{"CP-GET-2", "CP-GET-4"}, map[string][]string{"CP-GET-2": nil, "CP-GET-4": {"CP-GET-2"}}, 2, false},
		"a cause that explains one of two failures": {http.StatusOK, 100, []string{"CP-GET-2", "CP-GET-4"}, map[string][]string{"CP-GET-2": nil, "CP-GET-4": nil}, 2, true},
		"the second alone":                          {http.StatusConflict, 100, []string{"CP-GET-2", "CP-GET-4"}, map[string][]string{"CP-GET-4": nil}, 2, false},
		"the cause is not selected":                 {http.StatusOK, 100, []string{"CP-GET-4"}, map[string][]string{"CP-GET-4": nil}, 2, false},
		"once":                                      {http.StatusOK, 1, []string{"CP-GET-2"}, map[string][]string{"CP-GET-2": nil}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t world) {
				res := judge(t, unknownAnsweredWith(t, c.revisions, func(nth int64) int {
					if nth > c.most {
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
				assert.Equal(t, len(c.explained), len(explained), "%v", explained)
				for id, by := range c.explained {
					assert.ElementsMatch(t, by, explained[id], id)
				}
				require.NotEmpty(t, res.Findings)
				assert.Equal(t, []int{2, c.seen}, []int{res.Findings[0].Judged, res.Findings[0].Seen})
			})
		})
	}
}

// TestAStopWhileFailuresAreJudgedAgainLeavesTheVerdicts ends the run at the first answer of the second judgement that fails.
func TestAStopWhileFailuresAreJudgedAgainLeavesTheVerdicts(t *testing.T) {
	inBubble(t, func(t world) {
		verdicts := map[bool]map[string]reports.Verdict{}
		for _, stops := range []bool{false, true} {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			cfg := unknownAnsweredWith(t, false, func(nth int64) int {
				if nth == 5 && stops { // four requests ask for deployments that are unknown
					stop()
				}
				return http.StatusConflict
			})
			catalogue, oracle, err := steps.Requirements()
			require.NoError(t, err)
			res, err := steps.Run(ctx, steps.Options{Dial: t.dial(), Config: cfg, Catalogue: catalogue, Oracle: oracle, ID: "test", Seed: 1,
				Version: "test", Select: suite.Selection{Only: []string{"CP-GET-*", "CP-INVARIANT-*"}}})
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
