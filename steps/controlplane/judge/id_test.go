package judge

import (
	"strings"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// idRows has rows for each judgement that compares ids. A server may write the same UUID in lower case in one response
// and in capitals in another.
func idRows() []judgetest.Row {
	const a, b, c = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002",
		"cccccccc-0000-4000-8000-000000000003"
	up := strings.ToUpper
	shown := func(id string) *exchange.Response { return numbered(1, 200, `{"id":"`+id+`"}`) }
	rows := func(ids ...string) *exchange.Response {
		return judgetest.Response(200, `{"resources":[{"id":"`+strings.Join(ids, `"},{"id":"`)+`"}]}`)
	}
	newestFirst := func(ids ...string) error {
		list := rows(ids...)
		return IsNewestFirst(list, list.Get("resources").Array(), []string{a, b, c})
	}
	holds := func(ids ...string) error {
		return HoldsExactly(Listed{Response: shown(""), IDs: ids, Want: []string{a, b}, What: "with status DEPLOYED"})
	}
	spelled := func(ids ...string) error {
		return StandsForValue(Listed{Response: shown(""), IDs: ids, Want: []string{a, b}, What: "limit=2"})
	}
	creates := func(want int, after ...string) error {
		return CreatesRevisions(shown(""), snapshot(1, a, b), snapshot(2, after...), want, expectedNew(want))
	}
	second := func(latest string) error { return NamesSecond(snapshot(1, a), snapshot(2, a, b, latest), b, c) }
	follows := func(latest string) error {
		response := judgetest.Response(200, `{"latest_revision_id":"`+latest+`","source_revision_config":{"repo_ref":"x"}}`)
		return ConfigFollowsLatest([]*exchange.Response{response}, a, map[string]any{"repo_ref": "main"})
	}
	kept := func(now, before string) error {
		const config = `","source_revision_config":{"repo_ref":"main"}}`
		return ConfigUnchanged(judgetest.Response(200, `{"id":"`+now+config), judgetest.Response(200, `{"id":"`+before+config))
	}
	return []judgetest.Row{
		{Name: "the list in capitals agrees", Got: ListAgrees(rows(up(a)), []Retrieved{{a, shown(a), shown(a)}})},
		{Name: "GET in capitals agrees with the list", Got: ListAgrees(rows(a), []Retrieved{{a, shown(up(a)), shown(up(a))}})},
		{Name: "newest first in capitals", Got: newestFirst(up(c), b, up(a))},
		{Name: "oldest first in capitals", Got: newestFirst(a, up(b)), Kind: outcome.WrongOrder, Pointer: "/resources"},
		{Name: "the further page has a new revision in capitals", Got: ReturnsNoneAgain(shown(""), nil, []string{up(b)}, []string{a})},
		{Name: "the further page returns a revision again in capitals",
			Got:  ReturnsNoneAgain(shown(""), nil, []string{up(a)}, []string{b, a}),
			Kind: outcome.RepeatedItem, Pointer: "/resources", Actual: up(a)},
		{Name: "exactly the wanted revisions in capitals", Got: holds(up(b), a)},
		{Name: "one wanted revision is repeated in capitals", Got: holds(a, b, up(b)),
			Kind: outcome.RepeatedItem, Pointer: "/resources", Actual: "3 revisions; repeated: …00002"},
		{Name: "a page keeps the order in capitals", Got: KeepsOrder([]string{a, b, c}, []string{up(b), c})},
		{Name: "limit=0x2 is limit=2 in capitals", Got: spelled(a, up(b))},
		{Name: "an id in capital letters has revisions in capitals",
			Got: HoldsOwnOrRefuses(shown(""), "an id in capital letters", []string{up(a)}, []string{b, a})},
		{Name: "a revision in both lists, once in capitals",
			Got:  ShareNone(nil, shown(""), []string{a}, []string{up(a)}, []string{a}),
			Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "revision …00001 in both"},
		{Name: "the only revision in capitals", Got: HoldsOnly(shown(""), []string{up(a)}, a)},
		{Name: "the only revision twice, once in capitals", Got: HoldsOnly(shown(""), []string{a, up(a)}, a),
			Kind: outcome.ExtraItem, Pointer: "/resources"},
		{Name: "an update creates one revision, and the list is in capitals", Got: creates(1, up(a), up(b), c)},
		{Name: "an update without a source creates nothing, and the list is in capitals", Got: creates(0, up(a), up(b))},
		{Name: "an update without a source changes the latest revision, in capitals", Got: creates(0, b, up(a)),
			Kind: outcome.Changed, Actual: "although no revision is new"},
		{Name: "the second of two revisions is the latest, in capitals", Got: second(up(c))},
		{Name: "the first of two revisions is the latest, in capitals", Got: second(up(b)),
			Kind: outcome.Stale, Pointer: "/latest_revision_id", Actual: "…00002"},
		{Name: "the second update has no effect, in capitals", Got: NamesSecond(snapshot(1, a), snapshot(2, a, b), b, up(b)),
			Kind: outcome.NoEffect, Pointer: "/latest_revision_id"},
		{Name: "the config does not follow the latest revision in capitals", Got: follows(up(a)),
			Kind: outcome.WrongValue, Pointer: "/source_revision_config/repo_ref", Actual: `"x"`},
		{Name: "the first revision keeps its config, in capitals", Got: kept(up(a), a)},
		{Name: "an update shows the id in capitals", Got: ReadOnlyUnchanged(shown(up(a)), shown(a))},
		{Name: "a response shows the id of the request in capitals",
			Got:  IgnoresReadOnly([]byte(`{"id":"`+a+`"}`), shown(up(a))),
			Kind: outcome.WrongValue, Pointer: "/id", Actual: up(a)},
		{Name: "a revision of another tenant is shown in capitals", Got: IsAsForUnknown(rows(up(a)), shown(""), a),
			Kind: outcome.Leak, Actual: "200"},
	}
}
