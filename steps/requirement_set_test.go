package steps_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec/requirements"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/suite"
)

// TestRequirementSet judges a target that returns 200 for an unknown deployment, which fails CP-GET-2 (MUST) and CP-GET-4
// (SHOULD). The requirement sets lack some of the failures.
func TestRequirementSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*requirements.Set)
		verdict reports.Conclusion
		failed  []string // requirements that count
		shown   []string // requirements that fail but do not count
	}{
		"the set has everything": {
			change:  func(*requirements.Set) {},
			verdict: reports.NonConformant, failed: []string{"CP-GET-2", "CP-GET-4"},
		},
		"the set lacks the requirements that fail": {
			change: func(s *requirements.Set) {
				delete(s.Requirements, "CP-GET-2")
				delete(s.Requirements, "CP-GET-4")
			},
			verdict: reports.Conformant, shown: []string{"CP-GET-2", "CP-GET-4"},
		},
		"the set lacks the scenarios that fail": {
			change: func(s *requirements.Set) {
				for _, id := range []string{"CP-GET-2", "CP-GET-4"} {
					for digest := range s.Requirements[id].Scenarios {
						delete(s.Requirements[id].Scenarios, digest)
					}
				}
			},
			verdict: reports.Conformant, shown: []string{"CP-GET-2", "CP-GET-4"},
		},
		"the MUST was a SHOULD": {
			change: func(s *requirements.Set) {
				q := s.Requirements["CP-GET-2"]
				q.Level = "SHOULD"
				s.Requirements["CP-GET-2"] = q
			},
			verdict: reports.Conformant, failed: []string{"CP-GET-2", "CP-GET-4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				cfg := configureUnknown(t, false, func(int64) int { return http.StatusOK })
				res := judge(t, cfg, func(o *steps.Options) {
					o.Select = suite.Selection{Only: []string{"CP-GET-*", "CP-LIST-3"}}
					o.Set = o.Catalogue.Set("0.0")
					c.change(o.Set)
				})
				assert.Equal(t, c.verdict, res.Verdict)
				assert.Equal(t, "0.0", res.Suite.Set)
				assert.Equal(t, c.failed, failedOf(res.Requirements))
				if c.shown == nil {
					assert.Nil(t, res.NotScored)
					return
				}
				require.NotNil(t, res.NotScored)
				assert.Equal(t, c.shown, failedOf(res.NotScored.Requirements))
				assert.NotEmpty(t, res.NotScored.Findings)
				assert.Empty(t, res.Findings)
			})
		})
	}
}

func failedOf(all []reports.Requirement) (ids []string) {
	for _, q := range all {
		if q.Verdict == reports.Failed {
			ids = append(ids, q.ID)
		}
	}
	return ids
}
