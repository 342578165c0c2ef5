package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// polled returns a poll that ended in a status, after a timeout if it is not 0.
func polled(final, canonical string, timeout time.Duration) Poll {
	return Poll{Response: judgetest.Response(200, `{"status":"`+final+`"}`), Final: final, Canonical: canonical,
		Seen: []string{"QUEUED", final}, Timeout: timeout}
}

func lifecycleRows() []judgetest.Row {
	reaches := func(final, canonical string, timeout time.Duration) error {
		return ReachesDeployed(polled(final, canonical, timeout), "create.body.source_revision_config.repo_ref")
	}
	fails := func(final, canonical string, timeout time.Duration) error {
		return EndsFailed(polled(final, canonical, timeout), `alternatives.broken_ref, repo_ref "broken"`)
	}
	knows := func(seen ...string) error { return KnowsStatuses(judgetest.Response(200, `{}`), seen) }
	stays := func(canonical string) error {
		return StaysDeployed(judgetest.Response(200, `{"status":"x"}`), canonical)
	}
	return []judgetest.Row{
		{Name: "a revision is DEPLOYED", Got: reaches("deployed", "DEPLOYED", 0)},
		{Name: "a revision is still BUILDING", Got: reaches("BUILDING", "BUILDING", time.Minute),
			Kind: outcome.NotFinished, Pointer: "/status", Actual: "BUILDING (seen: QUEUED, BUILDING)"},
		{Name: "a revision stays in an unknown status", Got: reaches("UP", "UP", time.Minute),
			Kind: outcome.NotFinished, Pointer: "/status", Actual: "UP"},
		{Name: "a revision ends in BUILD_FAILED", Got: reaches("BUILD_FAILED", "BUILD_FAILED", 0),
			Kind: outcome.WrongValue, Pointer: "/status", Actual: "BUILD_FAILED"},

		{Name: "a broken source fails", Got: fails("build failed", "BUILD_FAILED", 0)},
		{Name: "a broken source is DEPLOYED", Got: fails("DEPLOYED", "DEPLOYED", 0),
			Kind: outcome.WrongValue, Pointer: "/status", Actual: `"DEPLOYED"`},
		{Name: "a broken source is still BUILDING", Got: fails("BUILDING", "BUILDING", time.Minute),
			Kind: outcome.NotFinished, Pointer: "/status", Actual: `"BUILDING"`},

		{Name: "all statuses are known", Got: knows("CREATING", "DEPLOYED")},
		{Name: "no status was seen", Got: knows()},
		{Name: "one status is unknown", Got: knows("CREATING", "creating"),
			Kind: outcome.WrongForm, Class: "unknown status", Pointer: "/status", Actual: `"creating"`},

		{Name: "a DEPLOYED revision stays", Got: stays("DEPLOYED")},
		{Name: "a DEPLOYED revision changes", Got: stays("UNKNOWN"),
			Kind: outcome.Changed, Pointer: "/status", Actual: `"x"`},
	}
}

func TestReachesDeployed_Hints(t *testing.T) {
	for _, c := range []struct {
		final, canonical string
		timeout          time.Duration
		want             string
	}{
		{"BUILDING", "BUILDING", time.Minute, "raise timeouts.poll"},
		{"UP", "UP", time.Minute, ""},
		{"BUILD_FAILED", "BUILD_FAILED", 0, "set create.body to a source that this target can build"},
		{"Build failed", "BUILD_FAILED", 0, "set create.body"},
		{"SKIPPED", "SKIPPED", 0, ""},
	} {
		var o *outcome.Outcome
		assert.ErrorAs(t, ReachesDeployed(polled(c.final, c.canonical, c.timeout), "create.body"), &o)
		hint := o.Violations[0].Hint
		if c.want == "" {
			assert.Empty(t, hint, c.final)
		} else {
			assert.Contains(t, hint, c.want, c.final)
		}
	}
}

func agreementRows() []judgetest.Row {
	revision := func(status string) *exchange.Response {
		return numbered(2, 200, `{"id":"b","status":"`+status+`","created_at":"2026-01-01T00:00:00Z"}`)
	}
	agrees := func(listed string, before, after *exchange.Response) error {
		list := numbered(1, 200, `{"resources":[{"id":"a"},{"id":"b","status":"`+listed+
			`","created_at":"2026-01-01T00:00:00.5Z"}]}`)
		return ListAgrees(list, []Retrieved{{"b", before, after}})
	}
	refused := judgetest.Response(500, `{"resources":[{"id":"b"}]}`)
	retrieved := []Retrieved{{"b", revision("QUEUED"), revision("QUEUED")}}
	return []judgetest.Row{
		{Name: "the list and GET agree", Got: agrees("QUEUED", revision("QUEUED"), revision("QUEUED"))},
		{Name: "the list shows another status", Got: agrees("BUILDING", revision("QUEUED"), revision("QUEUED")),
			Kind: outcome.WrongValue, Pointer: "/status", Actual: `"QUEUED"`},
		{Name: "the status changes between both GETs", Got: agrees("BUILDING", revision("QUEUED"), revision("DEPLOYED"))},
		{Name: "the list shows the status from before", Got: agrees("QUEUED", revision("QUEUED"), revision("DEPLOYED"))},
		{Name: "the list to compare is refused", Got: ListAgrees(refused, retrieved), Verdict: reports.Blocked},
		{Name: "the list to compare lacks the revision",
			Got: ListAgrees(judgetest.Response(200, `{"resources":[{"id":"a"}]}`), retrieved), Verdict: reports.Blocked},
		{Name: "the revision to compare is not found", Got: agrees("QUEUED", revision("QUEUED"), judgetest.Response(404, `{}`)),
			Verdict: reports.Blocked},
	}
}
