package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// defineLists registers the sentences about lists of revisions (sections 2, 4, 7 and 8).
func (w *World) defineLists(r *common.Definitions) {
	// a long history where it can be created, else that of the existing deployment
	r.Given(`a deployment (?:with more than 20 revisions|whose revisions are known|whose revisions have settled)`,
		w.existing(w.plane.Fixtures.Long))
	r.Given(`an empty list of its revisions`, w.anEmptyList)
	r.Given(`paging through its revisions by computed offsets works`, w.canBePaged)
	r.Given(`an invalid limit and an invalid offset that are each refused by name`, w.twoInvalidParameters)
	r.When(`the client lists its revisions`, func(ctx context.Context) { w.list(ctx, "", false) })
	r.When(`the client (?:lists|filters) its revisions (?:with|by) (limit|offset|status|remote_reconciled) "([^"]*)"`,
		w.clientListsWith)
	r.When(`the client lists its revisions with (that filter|both of them)`, func(ctx context.Context, which string) {
		w.list(ctx, w.query, which == "both of them")
	})
	r.When(`the list is read`, func() error { return nil })
	r.When(`the client lists its revisions from (the end|one past the end|far past the end)`,
		func(ctx context.Context, place string) {
			beyond := map[string]int{"the end": 0, "one past the end": 1, "far past the end": 100_000}[place]
			w.list(ctx, plane.PageOf(1, w.known()+beyond), false)
		})
	r.When(`the client lists all its revisions twice`, func(ctx context.Context) {
		for range 2 {
			w.whole = append(w.whole, w.read(ctx, ""))
			retrieved("the list", w.whole[len(w.whole)-1].Answer)
		}
	})
	// pages that grow find a target that takes an offset for the number of a page
	r.When(`the client pages through (its revisions|each filtered list), `+
		`(?:(\d+) at a time|each page larger than the one before), by (computed|returned) offsets`, w.clientPages)
	r.When(`the client passes on the offset of the last page, (\d+) at a time`, w.clientPagesOn)
	r.Then(`no revision was returned again`, w.noneReturnedAgain)
	r.Then(`the (?:list|update) is answered with 2xx`, w.served)
	r.Then(`the list has an array "resources" and an integer "offset"`, func() error {
		a := w.scene.Answer
		return cmp.Or(outcome.WantAt(a.Get("resources").IsArray(), a, "resources", "an array in resources"),
			outcome.WantAt(common.IsInteger(a.Get("offset")), a, "offset", "an integer in offset"))
	})
	r.Then(`it holds (as many revisions as the limit allows, or all|exactly 20 revisions|no revision)`, w.holds)
	r.Then(`every revision was returned exactly once`, w.eachHoldsItsOwn)
	r.Then(`(?:the request|each of these requests) is refused with 422 and an error that names "(\w+)"(?: and "(\w+)")?`,
		w.eachIsRefusedNaming)
	r.Then(`both times the revisions are ordered from the newest to the oldest`, w.newestFirst)
	r.Then(`each revision has the "source" of the deployment`, w.eachHasSource)
	w.defineFilters(r)
	w.defineValues(r)
}

// clientListsWith sends a value that may hold a character as Go writes it, such as \x00.
func (w *World) clientListsWith(ctx context.Context, parameter, value string) {
	w.list(ctx, parameter+"="+url.QueryEscape(common.Must(strconv.Unquote(`"`+value+`"`))), true)
}

// known is how many revisions the run knows of.
func (w *World) known() int { return len(w.Deployment.Revisions) }

// anEmptyList asks for a page far past the end.
func (w *World) anEmptyList(ctx context.Context) error {
	if l := w.page(ctx, "offset=1000"); !l.Answer.OK() || len(l.Rows) > 0 {
		return outcome.Blocked("offset 1000 does not return an empty list: %s", outcome.Seen(l.Answer))
	}
	return nil
}

// twoInvalidParameters finds an invalid value of each parameter that the target refuses with an error that names it.
func (w *World) twoInvalidParameters(ctx context.Context) error {
	for _, candidates := range [][]string{{"limit=0", "limit=101", "limit=ten"}, {"offset=-1", "offset=ten"}} {
		name, _, _ := strings.Cut(candidates[0], "=")
		refused := slices.IndexFunc(candidates, func(query string) bool {
			w.list(ctx, query, true)
			return w.scene.Answer.Status == http.StatusUnprocessableEntity && judge.Names(w.scene.Answer, name)
		})
		if refused < 0 {
			return outcome.Blocked("no invalid %s is refused with an error that names it", name)
		}
		w.query = plane.Query(w.query, candidates[refused])
	}
	return nil
}

// holds wants so many revisions, and no less where there are more. It does not judge how nothing is written, as long as
// there is a place for it.
func (w *World) holds(ctx context.Context, what string) error {
	want, a := defaultLimit, w.scene.Answer
	switch what {
	case "no revision":
		if want = 0; !a.Get("resources").Exists() {
			return outcome.Inconclusive("the answer has no resources: %s", outcome.Seen(a))
		}
	case "as many revisions as the limit allows, or all":
		want = min(common.Must(strconv.Atoi(strings.TrimPrefix(a.Request.Query, "limit="))), w.known())
	}
	return w.unlessChanged(ctx, judge.HasCount(a, want, w.known()))
}

// newestFirst checks the order of the revisions that the test run has created.
func (w *World) newestFirst() error {
	for _, l := range w.whole {
		var rows []listedRevision
		for _, row := range l.Rows {
			number := slices.Index(w.Deployment.Revisions, row.Get("id").String())
			if number >= 0 {
				created, _ := plane.Instant(row.Get("created_at"))
				rows = append(rows, listedRevision{number, created})
			}
		}
		if len(rows) < 2 {
			return outcome.Inconclusive("the list has %d of the known revisions: an order needs at least 2", len(rows))
		}
		if !isNewestFirst(rows) {
			return outcome.Violated(l.Answer, "the revisions from the newest to the oldest", "another order").At("/resources")
		}
	}
	return nil
}

// listedRevision is a revision in a list: its number, counted in the order of creation, and the created_at that is shown,
// or zero.
type listedRevision struct {
	number  int
	created time.Time
}

// isNewestFirst reports whether no revision stands after an older one. Revisions with the same created_at may stand in
// any order.
func isNewestFirst(rows []listedRevision) bool {
	for i, later := range rows {
		for _, earlier := range rows[:i] {
			isTie := !later.created.IsZero() && later.created.Equal(earlier.created)
			if later.number > earlier.number && !isTie {
				return false
			}
		}
	}
	return true
}

func (w *World) eachHasSource() error {
	source := w.Deployment.Source()
	if source == "" { // that of an existing deployment is unknown
		return w.canCreate()
	}
	l := w.whole[0]
	if len(l.Rows) == 0 {
		return outcome.Inconclusive("the list is empty, so no source can be compared")
	}
	return sourcesAre(source, l)
}

func sourcesAre(source string, l plane.List) error {
	for i, row := range l.Rows {
		place := fmt.Sprintf("resources.%d.source", i)
		common.Check(outcome.WantAt(row.Get("source").String() == source, l.Answer, place, "source "+source))
	}
	return nil
}

// eachIsRefusedNaming wants a refusal with 422 whose errors name the parameters.
func (w *World) eachIsRefusedNaming(first, second string) error {
	parameters := []string{first}
	if second != "" {
		parameters = append(parameters, second)
	}
	return w.scene.EachCase(func(c common.Case) error {
		request := cmp.Or(c.What, c.Answer.Request.Query)
		return judge.RefusesParameter(c.Answer, request, "", parameters...)
	})
}

// comparison is a list, and which revisions it is to hold.
type comparison struct {
	plane.List
	want []string           // their ids
	what string             // describes them for people
	with *exchange.Response // shows them; nil where the run knows them
}

// compare notes what a list is to hold.
func (w *World) compare(l plane.List, want []string, what string, with *exchange.Response) {
	w.compared = append(w.compared, comparison{l, want, what, with})
}

// read reads all that a filter keeps, whatever the pages.
func (w *World) read(ctx context.Context, filter string) plane.List {
	return common.Must(w.plane.ListAll(ctx, w.Deployment.ID, filter))
}

func (w *World) page(ctx context.Context, query string) plane.List {
	w.list(ctx, query, false)
	return plane.ListOf(w.scene.Answer)
}

// clientPages has pages compared with the revisions that the run made itself, or with the whole filtered list.
func (w *World) clientPages(ctx context.Context, of, sizes, offsets string) {
	size, _ := strconv.Atoi(sizes) // 0 where each page is larger than the one before
	pages := w.pageThrough
	if offsets == "returned" {
		pages = w.pageOn
	}
	if of == "its revisions" {
		w.compare(pages(ctx, "", w.known(), size), w.Deployment.Revisions, "over all pages", nil)
		return
	}
	for _, status := range w.statuses(ctx).occurring {
		whole := w.read(ctx, statusFilter(status))
		if read := pages(ctx, statusFilter(status), len(whole.Rows), size); len(whole.Rows) > 0 {
			w.compare(read, whole.IDs(), "with status "+status+" over all pages", whole.Answer)
		}
	}
}

// pageThrough reads pages by computed offsets until one begins past the end, so that a row too many is seen. With size
// 0 the first has one revision, and each other one more than the one before.
func (w *World) pageThrough(ctx context.Context, filter string, revisions, size int) (all plane.List) {
	for n, offset := 1, 0; ; n++ {
		limit := cmp.Or(size, n)
		page := w.page(ctx, plane.Query(plane.PageOf(limit, offset), filter))
		if offset < revisions || n == 1 || page.Answer.OK() {
			all.Rows, all.Answer = append(all.Rows, page.Rows...), page.Answer
		}
		if offset >= revisions {
			return all
		}
		offset += limit
	}
}

// pageOn reads on by the returned offsets, until a page is not full or so many revisions must have been seen.
func (w *World) pageOn(ctx context.Context, filter string, revisions, size int) (all plane.List) {
	query := plane.Query("limit="+strconv.Itoa(size), filter)
	for range revisions + 2 {
		page := w.page(ctx, query)
		all.Rows, all.Answer = append(all.Rows, page.Rows...), page.Answer
		if !page.Answer.OK() || len(page.Rows) < size || len(all.Rows) >= revisions {
			break
		}
		offset := page.Answer.Get("offset")
		if !common.IsInteger(offset) {
			common.Check(outcome.Inconclusive("the returned offset is no integer to pass on: %s", outcome.Shown(offset)))
		}
		isPlace := offset.Num >= 0 && offset.Num <= math.MaxInt32
		common.Check(outcome.WantAt(isPlace, page.Answer, "offset", "an offset that fetches the next page"))
		query = plane.Query(plane.PageOf(size, int(offset.Num)), filter)
	}
	return all
}

// clientPagesOn reads the page at the offset that the last page returned, if it is one.
func (w *World) clientPagesOn(ctx context.Context, size int) {
	offset := w.compared[len(w.compared)-1].Answer.Get("offset")
	w.further = plane.List{}
	if common.IsInteger(offset) && offset.Num >= 0 && offset.Num <= math.MaxInt32 {
		w.further = w.page(ctx, plane.PageOf(size, int(offset.Num)))
	}
}

// noneReturnedAgain compares the page behind the last one with the pages before it.
func (w *World) noneReturnedAgain(ctx context.Context) error {
	before := w.compared[len(w.compared)-1]
	again := returnedAgain(before.IDs(), w.further.IDs())
	if again == "" {
		return nil
	}
	return w.unlessChanged(ctx, outcome.Violated(w.further.Answer, "no revision that an earlier page has returned",
		"the revision %s again", again).At("/resources").Comparing(w.further.Answer, before.Answer))
}

// returnedAgain returns the first id of a page that was returned before, or "".
func returnedAgain(before, page []string) string {
	for _, id := range page {
		if slices.Contains(before, id) {
			return id
		}
	}
	return ""
}

// canBePaged reads the whole history in pages of five.
func (w *World) canBePaged(ctx context.Context) error {
	w.clientPages(ctx, "its revisions", "5", "computed")
	err := w.eachHoldsItsOwn(ctx)
	w.compared = nil
	return err
}

// eachCompared judges all lists that the act has compared.
func (w *World) eachCompared(ctx context.Context, judge func(comparison) error) error {
	if len(w.compared) == 0 {
		return outcome.Inconclusive("no list could be compared: none is to hold a revision, or what a list keeps has changed")
	}
	return w.unlessChanged(ctx, w.unlessUnsettled(ctx, outcome.FirstOf(w.compared, judge)))
}

func (w *World) eachHoldsItsOwn(ctx context.Context) error {
	return w.eachCompared(ctx, comparison.differs)
}

// differs tells what the list holds in place of its revisions, or nothing. One that was refused holds none, and has to
// be served where none is wanted, too.
func (c comparison) differs() error {
	times := map[string]int{}
	for _, id := range c.IDs() {
		times[id]++
	}
	missing, repeated := 0, 0
	for _, id := range c.want {
		switch n := times[id]; {
		case n == 0:
			missing++
		case n > 1:
			repeated++
		}
		delete(times, id)
	}
	expected := fmt.Sprintf("%d revisions %s, each once", len(c.want), c.what)
	switch {
	case !c.Answer.OK():
		return outcome.Violated(c.Answer, expected, "%s", outcome.Seen(c.Answer)).Comparing(c.Answer, c.with)
	case missing+repeated+len(times) > 0:
		return outcome.Violated(c.Answer, expected, "%d: %d missing, %d repeated, %d unexpected",
			len(c.Rows), missing, repeated, len(times)).At("/resources").Comparing(c.Answer, c.with)
	}
	return nil
}
