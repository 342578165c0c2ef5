package judge

import (
	"iter"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// rows returns the items of a JSON array with their positions.
func rows(array string) iter.Seq2[int, gjson.Result] {
	return func(yield func(int, gjson.Result) bool) {
		for i, row := range gjson.Parse(array).Array() {
			if !yield(i, row) {
				return
			}
		}
	}
}

// listOf returns a list of one page.
func listOf(array string) List {
	return List{Response: judgetest.Response(200, array), IsList: true, Rows: rows(array)}
}

// notListed returns a response that is not a list.
func notListed(status int) List {
	return List{Response: judgetest.Response(status, `{}`), Rows: rows(`[]`)}
}

// The id of a thread or a run, and how another response may show it.
const (
	shownID    = "aaaaaaaa-0000-4000-8000-000000000001"
	inCapitals = "AAAAAAAA-0000-4000-8000-000000000001"
)

const twoThreads = `[{"thread_id":"t1","metadata":{"owner":"ada","mark":"m"}},{"thread_id":"t2"},{"thread_id":"t2"}]`

func threadRows() []judgetest.Row {
	created := judgetest.Response(200, `{"thread_id":"t1"}`)
	thread := func(id string) Thread { return Thread{ID: id, Created: created} }
	trusted := func(status int) List {
		l := notListed(status)
		l.Response.Request = exchange.Request{Method: "GET", Trusted: true}
		return l
	}
	page := listOf(twoThreads)
	page.Partial = true
	return []judgetest.Row{
		{Name: "a new thread", Got: ThreadIsNew(created, "t1", false)},
		{Name: "a thread without an id", Got: ThreadIsNew(judgetest.Response(200, `{}`), "", false), Kind: outcome.Missing, Pointer: "/thread_id"},
		{Name: "a thread with a known id", Got: ThreadIsNew(created, "t1", true), Kind: outcome.WrongValue, Actual: "t1"},

		{Name: "two threads", Got: ThreadsDiffer(thread("t1"), thread("t2"))},
		{Name: "one thread twice", Got: ThreadsDiffer(thread("t1"), thread("t1")),
			Kind: outcome.WrongValue, Pointer: "/thread_id", Actual: "t1 twice"},
		{Name: "one thread twice, once in capitals", Got: ThreadsDiffer(thread(shownID), thread(inCapitals)),
			Kind: outcome.WrongValue, Pointer: "/thread_id"},
		{Name: "the second thread was not created", Got: ThreadsDiffer(thread("t1"), thread("")), Verdict: reports.Blocked},

		{Name: "the thread is listed", Got: ListHolds(listOf(twoThreads), thread("t2"))},
		{Name: "the thread is listed in capitals", Got: ListHolds(listOf(`[{"thread_id":"`+inCapitals+`"}]`), thread(shownID))},
		{Name: "the thread is not listed", Got: ListHolds(listOf(twoThreads), thread("t3")),
			Kind: outcome.MissingItem, Actual: "2 threads"},
		{Name: "the thread is on no page that was read", Got: ListHolds(page, thread("t3")), Verdict: reports.Inconclusive},
		{Name: "the list is an object", Got: ListHolds(notListed(200), thread("t1")), Kind: outcome.WrongForm},
		{Name: "the list is not found", Got: ListHolds(notListed(404), thread("t1")), Kind: outcome.Refused},
		{Name: "the list of a caller without credentials is refused", Got: ListHolds(notListed(403), thread("t1")),
			Kind: outcome.Refused},
		{Name: "the list of the user is refused", Got: ListHolds(trusted(401), thread("t1")), Verdict: reports.Blocked},
		{Name: "the list of the user fails", Got: ListHolds(trusted(500), thread("t1")), Kind: outcome.ServerError},
	}
}

func ownerRows() []judgetest.Row {
	refused := func(array string) error { return ListLacksRefused(listOf(array), "mark", "m") }
	foreign := func(l List, thread, identity string) error {
		if identity == "" {
			return ListLacksForeign(l, thread, nil)
		}
		return ListLacksForeign(l, thread, map[string]string{"owner": identity})
	}
	ofTeam := func(team string) error {
		list := listOf(`[{"thread_id":"t1","metadata":{"owner":"ada","team":"south"}},{"thread_id":"t2","metadata":{"owner":"ada"}}]`)
		return ListLacksForeign(list, "t3", map[string]string{"owner": "ada", "team": team})
	}
	filtered := func(query, body string) error {
		list := listOf(twoThreads)
		list.Response.Request.Query, list.Response.Request.Body = query, []byte(body)
		list.Response.Request.Caller.Name = "users.1"
		return ListLacksForeign(list, "t2", nil)
	}
	own := func(l List, filtered, lossy bool, id string) error {
		return ListHoldsOwn(FilteredList{List: l, Filtered: filtered, Lossy: lossy}, Thread{ID: id, Created: l.Response})
	}
	metadata := func(thread string) error {
		a := judgetest.Response(200, thread)
		return MetadataHas(a, a.Get("metadata"), "owner", "ada", "the owner")
	}
	list := func(thread string) error {
		a := judgetest.Response(200, thread)
		return MetadataHas(a, a.Get("metadata"), "list", []any{"a", 2.0}, "the list")
	}
	return []judgetest.Row{
		{Name: "no thread has the mark", Got: refused(`[{"thread_id":"t1","metadata":{"mark":"x"}}]`)},
		{Name: "a thread has the mark", Got: refused(twoThreads), Kind: outcome.Changed, Actual: `"m"`},
		{Name: "no list to look for the mark", Got: ListLacksRefused(notListed(404), "mark", "m"), Verdict: reports.Blocked},

		{Name: "no foreign thread", Got: foreign(listOf(twoThreads), "t3", "eve")},
		{Name: "no foreign thread, and no identity", Got: foreign(listOf(twoThreads), "t3", "")},
		{Name: "a refused filter shows no foreign thread", Got: foreign(notListed(422), "t1", "ada")},
		{Name: "a failed list", Got: foreign(notListed(500), "t1", "ada"), Verdict: reports.Blocked},
		{Name: "the foreign thread is listed", Got: foreign(listOf(twoThreads), "t2", ""), Kind: outcome.Leak, Pointer: "/1"},
		{Name: "the foreign thread is listed in capitals",
			Got: foreign(listOf(`[{"thread_id":"`+inCapitals+`"}]`), shownID, ""), Kind: outcome.Leak, Pointer: "/0"},
		{Name: "the foreign thread is listed with a filter in the body",
			Got:  filtered("", `{"limit":10,"offset":0,"ids":["t2"],"metadata":{"owner":"ada","a":1},"status":"idle"}`),
			Kind: outcome.Leak, Pointer: "/1"},
		{Name: "the foreign thread is listed with a filter in the URL", Got: filtered("limit=10&metadata.owner=ada", ""),
			Kind: outcome.Leak, Pointer: "/1"},
		{Name: "a thread of the foreign owner is listed", Got: foreign(listOf(twoThreads), "t3", "ada"),
			Kind: outcome.Leak, Pointer: "/0"},
		{Name: "threads of the same owner in another team or without one", Got: ofTeam("north")},
		{Name: "a thread of the same owner in the foreign team is listed", Got: ofTeam("south"), Kind: outcome.Leak, Pointer: "/0"},

		{Name: "the caller's own thread is listed", Got: own(listOf(twoThreads), false, false, "t2")},
		{Name: "the caller's own thread is listed by lossy metadata", Got: own(listOf(twoThreads), true, true, "t2")},
		{Name: "a refused filter", Got: own(notListed(422), true, false, "t2")},
		{Name: "a refused list without a filter", Got: own(notListed(422), false, false, "t2"), Verdict: reports.Blocked},
		{Name: "a list with a filter that fails", Got: own(notListed(500), true, false, "t2"), Verdict: reports.Blocked},
		{Name: "a filter by metadata that is not shown", Got: own(listOf(`[]`), true, true, "t2"), Verdict: reports.Skipped},
		{Name: "an empty list", Got: own(listOf(`[]`), true, false, "t2"), Kind: outcome.MissingItem, Actual: "0 threads"},

		{Name: "the metadata keeps a list", Got: list(`{"metadata":{"list":["a",2]}}`)},
		{Name: "the metadata has the list as a text", Got: list(`{"metadata":{"list":"[\"a\",2]"}}`),
			Kind: outcome.WrongValue, Pointer: "/metadata/list"},
		{Name: "the metadata lacks the list", Got: list(`{"metadata":{"owner":"ada"}}`),
			Kind: outcome.Missing, Pointer: "/metadata/list"},
		{Name: "the metadata names the owner", Got: metadata(`{"metadata":{"owner":"ada"}}`)},
		{Name: "the metadata names another owner", Got: metadata(`{"metadata":{"owner":"eve"}}`),
			Kind: outcome.WrongValue, Pointer: "/metadata/owner", Actual: `"eve"`},
		{Name: "the metadata names no owner", Got: metadata(`{"metadata":{}}`),
			Kind: outcome.Missing, Pointer: "/metadata/owner", Actual: "nothing"},
		{Name: "no metadata", Got: metadata(`{"metadata":null}`), Verdict: reports.Inconclusive},
	}
}
