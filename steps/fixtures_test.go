package steps_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// served stands for fixtures of which so many requests were served.
type served int

func (served) Listening() string             { return "0.0.0.0:8090" }
func (served) Advertised() string            { return "http://ci.example:8090" }
func (served) Contents() []string            { return nil }
func (s served) Fetched() int                { return int(s) }
func (served) Reached(context.Context) error { return nil }

// TestPollsThatEndInVainNameTheFixtures has every revision stay BUILDING. Where nothing was fetched from the fixtures, each poll that
// ran out of its time or was cut short says so, and names the key; where something was, nothing does.
func TestPollsThatEndInVainNameTheFixtures(t *testing.T) {
	t.Parallel()
	const key = "fixtures.advertise"
	together(t, []int{0, 1}, func(fetched int) string { return map[int]string{0: "nothing fetched", 1: "fetched"}[fetched] }, func(t *testing.T, fetched int) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		c.Target = renamed(t, c.Target, "DEPLOYED", "BUILDING")
		c.Timeouts.Request, c.Timeouts.Poll = 2*time.Second, 2*time.Second
		res := judge(t, c, func(o *steps.Options) {
			o.Fixtures, o.Select.Only, o.Concurrency = served(fetched), []string{"CP-POLL-*", "CP-UPDATE-*"}, 1
		})
		findings := findingsOf(res, "CP-POLL-1")
		require.Len(t, findings, 1)
		notes := slices.DeleteFunc(slices.Clone(res.Notes), func(n reports.Note) bool { return n.Kind != reports.NoteFixtures })
		blocked, named := 0, 0
		for _, q := range res.Requirements {
			if q.Verdict == reports.Blocked {
				blocked++
				if slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: key}) {
					named++
					assert.Contains(t, q.Reason, key, q.ID)
				}
			}
		}
		assert.Positive(t, blocked)
		if fetched > 0 {
			assert.NotContains(t, findings[0].Hint, key)
			assert.Empty(t, notes)
			assert.Zero(t, named)
			return
		}
		assert.Contains(t, findings[0].Hint, "http://ci.example:8090")
		assert.Contains(t, findings[0].Hint, key)
		require.Len(t, notes, 1)
		assert.Contains(t, notes[0].Text, key)
		assert.Equal(t, blocked, named)
	})
}
