package judge

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// snapshot returns a deployment with revisions. The last one is the latest.
func snapshot(id int, revisions ...string) Snapshot {
	s := Snapshot{Deployment: numbered(id, 200, `{}`), List: numbered(id, 200, `{}`), Revisions: revisions}
	s.Latest = revisions[len(revisions)-1]
	return s
}

// expectedNew returns the text of the steps for the required number of new revisions.
func expectedNew(want int) string {
	return []string{"the same revisions as before", "1 new revision, and all earlier ones",
		"2 new revisions, one for each update that returned 2xx"}[want]
}

func updateRows() []judgetest.Row {
	act := respond("PATCH", "/v2/deployments/d", 200, `{}`)
	before := snapshot(1, "a", "b")
	creates := func(want int, after ...string) error {
		return CreatesRevisions(act, before, snapshot(2, after...), want, expectedNew(want))
	}
	second := func(latest, first, second string) error {
		return NamesSecond(before, snapshot(2, "a", "b", latest), first, second)
	}
	names := func(latest string) error {
		after := snapshot(2, "a", "b", "c")
		after.Deployment = respond("GET", "/v2/deployments/d", 200, `{"latest_revision_id":"`+latest+`"}`)
		return NamesRevision(before, after, "c")
	}
	served := func(status int) error { return WasServed(respond("PATCH", "/v2/deployments/d", status, `{}`)) }
	byOther, refused := respond("PATCH", "/v2/deployments/d", 200, `{}`), respond("PATCH", "/v2/deployments/d", 422, `{}`)
	byOther.Request.Caller.Name = "the other tenant"
	refused.Request.Body = []byte(`{"source_revision_config":{"repo_ref":1}}`)
	adds := func(a *exchange.Response) error {
		return CreatesRevisions(a, before, snapshot(2, "a", "b", "c"), 0, expectedNew(0))
	}
	return []judgetest.Row{
		{Name: "another tenant creates a revision", Got: adds(byOther), Kind: outcome.Changed},
		{Name: "a refused update creates a revision", Got: adds(refused), Kind: outcome.Changed},
		{Name: "an update creates one revision", Got: creates(1, "a", "b", "c")},
		{Name: "an update creates two revisions", Got: creates(1, "a", "b", "c", "d"),
			Kind: outcome.ExtraItem, Actual: "2 new, 4 in total (2 before)"},
		{Name: "an update creates no revision", Got: creates(1, "a", "b"), Kind: outcome.NoEffect, Actual: "0 new"},
		{Name: "an update removes an earlier revision", Got: creates(1, "b", "c"), Kind: outcome.MissingItem, Actual: "1 new"},
		{Name: "the list has an earlier revision twice", Got: creates(1, "a", "b", "b", "c")}, // CP-LIST-6 judges that
		{Name: "the list has the new revision twice", Got: creates(1, "a", "b", "c", "c")},
		{Name: "an update removes an earlier revision, and another is listed twice", Got: creates(1, "b", "b", "c"), Kind: outcome.MissingItem},
		{Name: "two updates create two revisions", Got: creates(2, "a", "b", "c", "d")},
		{Name: "two updates create one revision", Got: creates(2, "a", "b", "c"), Kind: outcome.NoEffect, Actual: "1 new"},
		{Name: "an update without a source creates nothing", Got: creates(0, "a", "b")},
		{Name: "an update without a source creates a revision", Got: creates(0, "a", "b", "c"),
			Kind: outcome.Changed, Actual: "1 new"},
		{Name: "an update without a source changes the latest revision", Got: creates(0, "b", "a"),
			Kind: outcome.Changed, Actual: "a, although no revision is new"},
		{Name: "an update without a source is sent before the latest revision is named", Got: CreatesRevisions(act,
			Snapshot{Revisions: before.Revisions}, snapshot(2, "a", "b"), 0, "the same revisions as before")},
		{Name: "an update without a source shortens the list", Got: creates(0, "b")},

		{Name: "the new revision is the latest", Got: names("c")},
		{Name: "the latest revision is the one before the update", Got: names("b"),
			Kind: outcome.WrongValue, Pointer: "/latest_revision_id", Actual: "b, the revision before the update"},
		{Name: "the latest revision is another one", Got: names("x"),
			Kind: outcome.WrongValue, Pointer: "/latest_revision_id", Actual: `"x"`},
		{Name: "the second of two revisions is the latest", Got: second("d", "c", "d")},
		{Name: "the first of two revisions is the latest", Got: second("c", "c", "d"),
			Kind: outcome.Stale, Pointer: "/latest_revision_id", Actual: "c, with 3 revisions (2 before)"},
		{Name: "the second update has no effect", Got: second("c", "c", "c"),
			Kind: outcome.NoEffect, Pointer: "/latest_revision_id", Actual: "c, with 3 revisions (2 before)"},

		{Name: "an update is served", Got: served(200)},
		{Name: "an update is refused that may be refused", Got: served(422), Verdict: reports.Skipped},
		{Name: "an update crashes the server", Got: served(500), Verdict: reports.Inconclusive},
	}
}

func keptRows() []judgetest.Row {
	latest := func(status int) error {
		return LatestHasSource(judgetest.Response(status, `{"source":"x"}`), "git_host")
	}
	unchanged := func(before, now string) error {
		return ReadOnlyUnchanged(judgetest.Response(200, `{"id":"d"`+now+`}`), judgetest.Response(200, `{"id":"d"`+before+`}`))
	}
	const created, later = `,"created_at":"2026-01-01T00:00:00Z"`, `,"created_at":"2026-01-01T00:00:01Z"`
	return []judgetest.Row{
		{Name: "the latest revision has another source", Got: latest(200), Kind: outcome.WrongValue, Pointer: "/source"},
		{Name: "the latest revision is not found", Got: latest(404)},

		{Name: "created_at is unchanged", Got: unchanged(created, created)},
		{Name: "there is no created_at", Got: unchanged(``, ``)},
		{Name: "an update changes created_at", Got: unchanged(created, later),
			Kind: outcome.Changed, Pointer: "/created_at", Actual: `"2026-01-01T00:00:01Z"`},
		{Name: "an update removes created_at", Got: unchanged(created, ``),
			Kind: outcome.Changed, Pointer: "/created_at", Actual: "nothing"},
		{Name: "an update adds created_at", Got: unchanged(``, created), Kind: outcome.Changed, Pointer: "/created_at"},
		{Name: "an update changes the id",
			Got:  ReadOnlyUnchanged(judgetest.Response(200, `{"id":"x"}`), judgetest.Response(200, `{"id":"d"}`)),
			Kind: outcome.Changed, Pointer: "/id", Actual: `"x"`},
	}
}
