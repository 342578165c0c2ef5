package controlplane

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// lists has the lists of revisions that are judged.
type lists struct {
	*World
	query    string         // query of the next request
	whole    []plane.List   // lists that the last act read completely
	compared []judge.Listed // lists that must contain certain revisions
	further  plane.List     // the page at the offset of the last page
}

// define registers the steps about lists of revisions (sections 2, 4, 7 and 8).
func (w *lists) define(r *common.Definitions) {
	// a long history if it can be created, else that of the existing deployment
	r.Given(`a deployment (?:with more than 20 revisions|whose revisions are known|whose revisions have settled)`,
		w.existing(w.plane.Fixtures.Long))
	r.Given(`an empty list of its revisions`, w.readEmptyList)
	r.Given(`paging through its revisions by computed offsets works`, w.canBePaged)
	r.Given(`an invalid limit and an invalid offset that are each refused with an error that names them`, w.findInvalidParameters)
	r.When(`the client lists its revisions`, func(ctx context.Context) error { return w.list(ctx, "", false) })
	r.When(`the client (?:lists|filters) its revisions (?:with|by) (limit|offset|status|remote_reconciled) "([^"]*)"`,
		w.clientListsWith)
	r.When(`the client lists its revisions with (that filter|both of them)`,
		func(ctx context.Context, which string) error { return w.list(ctx, w.query, which == "both of them") })
	r.When(`the list is read`, func() error { return nil })
	r.When(`the client lists its revisions from (the end|one past the end|far past the end)`, w.clientListsFrom)
	r.When(`the client lists all its revisions twice`, w.clientListsTwice)
	// pages of growing size detect a server that takes an offset for a page number
	r.When(`the client pages through (its revisions|each filtered list), `+
		`(?:(\d+) at a time|each page larger than the one before|without a limit), by (computed|returned) offsets`, w.clientPages)
	r.When(`the client lists on from the offset of the last page, (\d+) at a time`, w.clientPagesOn)
	r.Then(`no revision was returned again`, w.noneReturnedAgain)
	r.Then(`the (?:list|update) returns 2xx`, w.served)
	r.Then(`the list has an array "resources" and an integer "offset"`,
		func() error { return judge.HasListForm(w.scene.Response) })
	r.Then(`it holds (as many revisions as the limit allows, or all|exactly 20 revisions|no revision)`, w.holds)
	r.Then(`every revision was returned exactly once`, w.eachPageHasItsRevisions)
	r.Then(`(?:the request|each of these requests) is refused with 422 and an error that names "(\w+)"(?: (and|or) "(\w+)")?`,
		w.eachIsRefusedNaming)
	r.Then(`both times the revisions are ordered from the newest to the oldest`, w.bothAreNewestFirst)
	r.Then(`each revision has the "source" of the deployment`, w.eachHasSource)
}

// clientListsWith sends a value of a parameter. The value may contain Go escapes, such as \x00.
func (w *lists) clientListsWith(ctx context.Context, parameter, value string) error {
	text, err := strconv.Unquote(`"` + value + `"`)
	if err != nil {
		return err
	}
	w.class = w.parameter(parameter).ClassOf(text)
	return w.list(ctx, parameter+"="+url.QueryEscape(text), true)
}

// clientListsFrom lists one revision from an offset at or beyond the end.
func (w *lists) clientListsFrom(ctx context.Context, place string) error {
	beyond := map[string]int{"the end": 0, "one past the end": 1, "far past the end": 100_000}[place]
	return w.list(ctx, plane.PageOf(1, w.known()+beyond), false)
}

func (w *lists) clientListsTwice(ctx context.Context) error {
	for range 2 {
		l, err := w.read(ctx, "")
		if err != nil {
			return err
		}
		w.whole = append(w.whole, l)
		if err := isRetrieved("the list", l.Response); err != nil {
			return err
		}
	}
	return nil
}

// known returns how many revisions the test run knows of.
func (w *lists) known() int { return len(w.Deployment.Revisions) }

// readEmptyList reads a page far beyond the end.
func (w *lists) readEmptyList(ctx context.Context) error {
	l, err := w.page(ctx, "offset=1000")
	if err != nil {
		return err
	}
	if !l.Response.OK() || len(l.Rows) > 0 {
		return outcome.Blocked("offset 1000 does not return an empty list: %s", outcome.Seen(l.Response))
	}
	return nil
}

// findInvalidParameters finds, for each parameter, an invalid value that the server refuses with an error that names the
// parameter.
func (w *lists) findInvalidParameters(ctx context.Context) error {
	for _, candidates := range [][]string{{"limit=0", "limit=101", "limit=ten"}, {"offset=-1", "offset=ten"}} {
		refused, err := w.firstRefused(ctx, candidates)
		if err != nil {
			return err
		}
		w.query = plane.Query(w.query, refused)
	}
	return nil
}

// firstRefused returns the first query that the server refuses with an error that names its parameter.
func (w *lists) firstRefused(ctx context.Context, queries []string) (string, error) {
	name, _, _ := strings.Cut(queries[0], "=")
	for _, query := range queries {
		if err := w.list(ctx, query, true); err != nil {
			return "", err
		}
		if judge.RefusesParameter(w.scene.Response, query, "", name) == nil {
			return query, nil
		}
	}
	return "", outcome.Blocked("no invalid %s is refused with an error that names it", name)
}

// holds judges the number of revisions in the list.
func (w *lists) holds(ctx context.Context, what string) error {
	a := w.scene.Response
	switch what {
	case "no revision":
		return w.unlessChanged(ctx, judge.IsEmpty(a, w.Deployment.Revisions))
	case "exactly 20 revisions":
		return w.unlessChanged(ctx, judge.HasCount(a, defaultLimit, w.Deployment.Revisions))
	}
	limit, err := strconv.Atoi(strings.TrimPrefix(a.Request.Query, "limit="))
	if err != nil {
		return err
	}
	return w.unlessChanged(ctx, judge.HasCount(a, min(limit, w.known()), w.Deployment.Revisions))
}

// bothAreNewestFirst judges the order of the revisions that the test run has created.
func (w *lists) bothAreNewestFirst() error {
	for _, l := range w.whole {
		if err := judge.IsNewestFirst(l.Response, l.Rows, w.Deployment.Revisions); err != nil {
			return err
		}
	}
	return nil
}

func (w *lists) eachHasSource() error {
	source := w.Deployment.Source()
	if source == "" { // the source of an existing deployment is unknown
		return w.canCreate()
	}
	l := w.whole[0]
	if len(l.Rows) == 0 {
		return outcome.Inconclusive("the list is empty, so no source can be compared")
	}
	return judge.HasSources(l.Response, l.Rows, source)
}

// eachIsRefusedNaming judges refusals whose errors must name both parameters ("and"), or one of them ("or").
func (w *lists) eachIsRefusedNaming(first, conjunction, second string) error {
	parameters := []string{first}
	if second != "" {
		parameters = append(parameters, second)
	}
	return w.scene.EachCase(func(c common.Case) error {
		request := cmp.Or(c.What, c.Response.Request.Query, first+"="+c.ID)
		class := w.classOf(first, c.Response)
		if conjunction == "or" {
			return judge.RefusesOneOf(c.Response, request, class, parameters...)
		}
		return judge.RefusesParameter(c.Response, request, class, parameters...)
	})
}

// classOf returns the class of the invalid value that a request sent.
func (w *lists) classOf(parameter string, a *exchange.Response) string {
	if parameter == "deployment_id" {
		return notUUID
	}
	query, err := url.ParseQuery(a.Request.Query)
	if err != nil {
		return ""
	}
	return w.parameter(parameter).ClassOf(query.Get(parameter))
}

// compare records which revisions a list must contain. with is the response that shows them, or nil if the test run has
// created them.
func (w *lists) compare(l plane.List, want []string, what string, with *exchange.Response) {
	w.compared = append(w.compared, judge.Listed{Response: l.Response, IDs: l.IDs(), Want: want, What: what, With: with})
}

// read reads all pages of the list with a filter.
func (w *lists) read(ctx context.Context, filter string) (plane.List, error) {
	return w.plane.ListAll(ctx, w.Deployment.ID, filter)
}

// page reads one page as a request of the act.
func (w *lists) page(ctx context.Context, query string) (plane.List, error) {
	if err := w.list(ctx, query, false); err != nil {
		return plane.List{}, err
	}
	return plane.ListOf(w.scene.Response), nil
}

// clientPages compares pages with the revisions that the test run has created, or with the complete filtered list.
func (w *lists) clientPages(ctx context.Context, of, sizes, offsets string) error {
	pages, size, what := w.pageThrough, 0, "in growing pages"
	if offsets == "returned" {
		pages, what = w.pageOn, "in pages without a limit"
	}
	if sizes != "" {
		n, err := strconv.Atoi(sizes)
		if err != nil {
			return err
		}
		size, what = n, "in pages of "+sizes
	}
	if of == "its revisions" {
		read, err := pages(ctx, "", w.known(), size)
		if err != nil {
			return err
		}
		w.compare(read, w.Deployment.Revisions, what, nil)
		return nil
	}
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for _, status := range statuses.occurring {
		whole, err := w.read(ctx, plane.StatusFilter(status))
		if err != nil {
			return err
		}
		read, err := pages(ctx, plane.StatusFilter(status), len(whole.Rows), size)
		if err != nil {
			return err
		}
		if len(whole.Rows) > 0 {
			w.compare(read, whole.IDs(), "with status "+status+" "+what, whole.Response)
		}
	}
	return nil
}

// pageThrough reads pages by computed offsets until one begins beyond the end, so that it also finds surplus revisions.
// If size is 0, the first page has one revision, and each further page one more than the previous one.
func (w *lists) pageThrough(ctx context.Context, filter string, revisions, size int) (plane.List, error) {
	var all plane.List
	offset := 0
	for n := 1; ; n++ {
		limit := cmp.Or(size, n)
		page, err := w.page(ctx, plane.Query(plane.PageOf(limit, offset), filter))
		if err != nil {
			return plane.List{}, err
		}
		if offset < revisions || n == 1 || page.Response.OK() {
			all.Rows = append(all.Rows, page.Rows...)
			all.Response = page.Response
		}
		if offset >= revisions {
			return all, nil
		}
		offset += limit
	}
}

// pageOn reads pages by the returned offsets, until a page is not full or all revisions must have been read. If size is
// 0, the requests have no limit.
func (w *lists) pageOn(ctx context.Context, filter string, revisions, size int) (plane.List, error) {
	var all plane.List
	limit := "limit=" + strconv.Itoa(size)
	if size == 0 {
		size, limit = defaultLimit, ""
	}
	query := plane.Query(limit, filter)
	for range revisions + 2 {
		page, err := w.page(ctx, query)
		if err != nil {
			return plane.List{}, err
		}
		all.Rows = append(all.Rows, page.Rows...)
		all.Response = page.Response
		if !page.Response.OK() || len(page.Rows) < size || len(all.Rows) >= revisions {
			break
		}
		offset, err := judge.NextOffset(page.Response)
		if err != nil {
			return plane.List{}, err
		}
		query = plane.Query(limit, "offset="+strconv.Itoa(offset), filter)
	}
	return all, nil
}

// clientPagesOn reads the page at the offset that the last page returned. If that offset is invalid, there is no further
// page.
func (w *lists) clientPagesOn(ctx context.Context, size int) error {
	w.further = plane.List{}
	last := w.compared[len(w.compared)-1]
	offset, err := judge.NextOffset(last.Response)
	if err != nil {
		return nil // the offset of the last page need not be valid
	}
	w.further, err = w.page(ctx, plane.PageOf(size, offset))
	return err
}

// noneReturnedAgain compares the page beyond the last one with the pages before it.
func (w *lists) noneReturnedAgain(ctx context.Context) error {
	last := w.compared[len(w.compared)-1]
	wrong := judge.ReturnsNoneAgain(w.further.Response, last.Response, w.further.IDs(), last.IDs)
	return w.unlessChanged(ctx, wrong)
}

// canBePaged reads all revisions in pages of five.
func (w *lists) canBePaged(ctx context.Context) error {
	if err := w.clientPages(ctx, "its revisions", "5", "computed"); err != nil {
		return err
	}
	err := w.eachPageHasItsRevisions(ctx)
	w.compared = nil
	return err
}

// eachCompared judges all lists that were passed to compare.
func (w *lists) eachCompared(ctx context.Context, holds func(judge.Listed) error) error {
	if len(w.compared) == 0 {
		return outcome.Inconclusive("no list could be compared: no filter selects a revision, or a filtered list has changed")
	}
	return w.unlessChanged(ctx, w.unlessUnsettled(ctx, outcome.FirstOf(w.compared, holds)))
}

func (w *lists) eachPageHasItsRevisions(ctx context.Context) error {
	return w.eachCompared(ctx, judge.HoldsExactly)
}
