package overview_test

import (
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/stretchr/testify/assert"
)

func TestGroupsFollowTypedCauses(t *testing.T) {
	q := func(id, reason string, by ...reports.Blocker) *reports.Requirement {
		return &reports.Requirement{ID: id, Verdict: reports.Blocked, Reason: reason, BlockedBy: by}
	}
	target, other := reports.Blocker{Kind: reports.ByTarget, Name: "http://host"}, reports.Blocker{Kind: reports.ByTarget, Name: "http://other"}
	groups := overview.ByCause([]*reports.Requirement{
		q("A-1", "no answer", reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"}),
		q("A-2", "GET /v2/x: cannot connect", target), q("A-3", "POST /v2/y: cannot connect", target),
		q("A-7", "GET /v2/x: cannot connect", other), q("A-8", "GET /v2/x: no answer within 5s", other),
		q("A-4", "cannot connect"), q("A-5", "cannot connect"), q("A-6", ""),
	})
	var got [][2]string
	for _, g := range groups {
		got = append(got, [2]string{overview.Names(g.Requirements), g.Reason})
	}
	assert.Equal(t, [][2]string{
		{"A-2, A-3", "http://host gave no usable answer: cannot connect"}, // the texts differ, the error does not
		{"A-7, A-8", "http://other gave no usable answer"},
		{"A-1", "no answer"},
		{"A-4", "cannot connect"}, {"A-5", "cannot connect"}, // no cause is known: texts make no group
		{"A-6", "no reason was given"},
	}, got)
}

func TestACauseInWords(t *testing.T) {
	group := func(q reports.Requirement) string {
		other := q
		q.Reason, other.Reason = "one", "two"
		return overview.ByCause([]*reports.Requirement{&q, &other})[0].Reason
	}
	seen := map[string]bool{}
	for _, kind := range reports.SkipKinds {
		for _, key := range []string{"", "users"} {
			said := group(reports.Requirement{Verdict: reports.Skipped, Skip: &reports.Skip{Kind: kind, Key: key}})
			assert.Contains(t, said, key)
			assert.False(t, seen[said] || said == string(kind), "%s %q", kind, said)
			seen[said] = true
		}
	}
	for _, kind := range reports.BlockerKinds {
		said := group(reports.Requirement{Verdict: reports.Blocked, BlockedBy: []reports.Blocker{{Kind: kind, Name: "it"}}})
		assert.Contains(t, said, "it")
		assert.False(t, seen[said] || said == string(kind)+": it", "%s: %q", kind, said)
		seen[said] = true
	}
}

func TestSectionInWords(t *testing.T) {
	assert.Equal(t, "interface, section 5.7", overview.Section("5.7"))
	assert.Equal(t, "interface, sections 7, 8", overview.Section("7, 8"))
	assert.Equal(t, "relied on by clients in the field", overview.Section("field"))
}
