package controlplane

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// paging holds the sentences about lists of revisions.
type paging struct {
	*lists
	limit  string   // that the client sent
	faults []string // queries with one faulty parameter each
}

// define holds the sentences about listing the revisions of a deployment (sections 2, 4, 7 and 8).
func (w *paging) define(r *common.Definitions) {
	r.Given(`a deployment with more than 20 revisions`, w.aLongHistory)
	r.Given(`a deployment whose revisions are known`, w.aKnownHistory)
	r.Given(`an empty list of its revisions`, w.anEmptyList)
	r.Given(`paging through its revisions by computed offsets works`, w.canBePaged)
	r.Given(`an invalid limit and an invalid offset that are each refused by name`, w.twoInvalidParameters)
	r.When(`the client lists its revisions`, w.ClientLists)
	r.When(`the client lists its revisions with (limit|offset) "([^"]*)"`, w.clientListsWith)
	r.When(`the client lists its revisions with both of them`, w.clientListsWithTwoInvalid)
	r.When(`the list is read`, func() error { return nil })
	r.When(`the client lists its revisions from (the end|one past the end|far past the end)`, w.clientListsFrom)
	r.When(`the client lists all its revisions twice`, w.clientListsAllTwice)
	r.When(`the client pages through its revisions, (\d+) at a time, by computed offsets`, w.clientPagesByComputedOffsets)
	r.When(`the client pages through its revisions, each page larger than the one before, by computed offsets`, w.clientPagesUnevenly)
	r.When(`the client pages through its revisions, (\d+) at a time, by the returned offsets`, w.clientPagesByReturnedOffsets)
	r.When(`the client lists the revisions of an unknown deployment`, w.clientListsUnknown)
	r.When(`the client lists the revisions of the deployment with the id "([^"]*)"`, w.clientListsID)
	r.Then(`the (?:list|update) is answered with 2xx`, w.Served)
	r.Then(`the list has an array "resources" and an integer "offset"`, w.listHasForm)
	r.Then(`it holds as many revisions as the limit allows, or all`, w.Steady(w.holdsWhatLimitAllows))
	r.Then(`it holds exactly 20 revisions`, w.holdsTwenty)
	r.Then(`it holds no revision`, w.Steady(w.isEmpty))
	r.Then(`every revision was returned exactly once`, w.Steady(w.everyRevisionOnce))
	r.Then(`the request is refused with 422 and an error that names "(\w+)"`, w.refusedNaming)
	r.Then(`the request is refused with 422 and an error that names "(\w+)" and "(\w+)"`, w.refusedNamingBoth)
	r.Then(`the request is answered with 404 and a detail that contains the deployment id`, w.notFoundNaming)
	r.Then(`both times the revisions are ordered from the newest to the oldest`, w.newestFirst)
	r.Then(`each revision has the "source" of the deployment`, w.eachHasSource)
}

func (w *paging) clientListsWith(ctx context.Context, parameter, value string) error {
	w.limit = value
	return w.List(ctx, parameter+"="+url.QueryEscape(value), true)
}

func (w *paging) clientListsWithTwoInvalid(ctx context.Context) error {
	return w.List(ctx, strings.Join(w.faults, "&"), true)
}

func (w *paging) clientListsFrom(ctx context.Context, place string) error {
	offset := len(w.Deployment.Revisions)
	switch place {
	case "one past the end":
		offset++
	case "far past the end":
		offset += 100_000
	}
	return w.List(ctx, plane.PageOf(1, offset), false)
}

func (w *paging) clientListsAllTwice(ctx context.Context) error {
	for range 2 {
		if err := w.listWhole(ctx, ""); err != nil {
			return err
		}
	}
	return nil
}

// clientPagesByComputedOffsets reads one page more than the history has, so that a row too many is seen.
func (w *paging) clientPagesByComputedOffsets(ctx context.Context, size int) error {
	return w.pageThrough(ctx, func(int) int { return size })
}

// clientPagesUnevenly finds a target that takes an offset for the number of a page.
func (w *paging) clientPagesUnevenly(ctx context.Context) error {
	return w.pageThrough(ctx, func(page int) int { return page })
}

// pageThrough reads page after page, each with its own size, until one begins past the end. That this one may be no
// page at all is the concern of another requirement.
func (w *paging) pageThrough(ctx context.Context, size func(page int) int) error {
	offset := 0
	for page := 1; ; page++ {
		if err := w.List(ctx, plane.PageOf(size(page), offset), false); err != nil {
			return err
		}
		if offset >= len(w.Deployment.Revisions) {
			if last := len(w.Answers) - 1; !w.Scene.Answer.OK() {
				w.Answers, w.Scene.Answer = w.Answers[:last], w.Answers[last-1]
			}
			return nil
		}
		offset += size(page)
	}
}

// canBePaged reads the whole history in pages of five.
func (w *paging) canBePaged(ctx context.Context) error {
	if err := w.pageThrough(ctx, func(int) int { return 5 }); err != nil {
		return err
	}
	problem := w.everyRevisionOnce()
	w.Answers, w.Scene.Answer = nil, nil
	return problem
}

// anEmptyList asks for a page far past the end.
func (w *paging) anEmptyList(ctx context.Context) error {
	if err := w.List(ctx, "offset=1000", false); err != nil {
		return err
	}
	if !w.Scene.Answer.OK() || len(w.rows()) > 0 {
		return outcome.Blocked("offset 1000 does not return an empty list: %s", outcome.Seen(w.Scene.Answer))
	}
	return nil
}

// twoInvalidParameters finds an invalid value of each parameter that the target refuses with an error that names it.
func (w *paging) twoInvalidParameters(ctx context.Context) error {
	for _, candidates := range [][]string{{"limit=0", "limit=101", "limit=ten"}, {"offset=-1", "offset=ten"}} {
		name, _, _ := strings.Cut(candidates[0], "=")
		refused := ""
		for _, query := range candidates {
			if err := w.List(ctx, query, true); err != nil {
				return err
			}
			if w.refusedNaming(name) == nil {
				refused = query
				break
			}
		}
		if refused == "" {
			return outcome.Blocked("no invalid %s is refused with an error that names it", name)
		}
		w.faults = append(w.faults, refused)
	}
	return nil
}

// clientPagesByReturnedOffsets goes on until a page is empty or the history must have been seen. That there is no
// offset to pass on is the concern of another requirement.
func (w *paging) clientPagesByReturnedOffsets(ctx context.Context, size int) error {
	query := "limit=" + strconv.Itoa(size)
	for range len(w.Deployment.Revisions) + 2 {
		if err := w.List(ctx, query, false); err != nil {
			return err
		}
		rows, offset := w.Scene.Answer.Get("resources").Array(), w.Scene.Answer.Get("offset")
		if !w.Scene.Answer.OK() || len(rows) < size || w.seenRows() >= len(w.Deployment.Revisions) {
			return nil
		}
		if offset.Type != gjson.Number {
			return outcome.Inconclusive("the returned offset is not a number and cannot be passed on: %s", outcome.Shown(offset))
		}
		if offset.Num < 0 || offset.Num > math.MaxInt32 {
			return outcome.Violated(w.Scene.Answer, "an offset that fetches the next page", "%s", outcome.Shown(offset)).At("/offset")
		}
		query = plane.PageOf(size, int(offset.Int()))
	}
	return nil
}

func (w *paging) seenRows() int {
	n := 0
	for _, a := range w.Answers {
		n += len(a.Get("resources").Array())
	}
	return n
}

func (w *paging) clientListsUnknown(ctx context.Context) error {
	w.Deployment = &plane.Deployment{ID: target.UnknownID()}
	return w.List(ctx, "", false)
}

func (w *paging) clientListsID(ctx context.Context, id string) error {
	return w.ListOf(ctx, id, "", true)
}

func (w *paging) listHasForm() error {
	if rows := w.Scene.Answer.Get("resources"); !rows.IsArray() {
		return outcome.Violated(w.Scene.Answer, "an array in resources", "%s", outcome.Shown(rows)).At("/resources")
	}
	if offset := w.Scene.Answer.Get("offset"); !common.IsInteger(offset) {
		return outcome.Violated(w.Scene.Answer, "an integer in offset", "%s", outcome.Shown(offset)).At("/offset")
	}
	return nil
}

// holdsWhatLimitAllows wants no more than the limit, and no less where there is more.
func (w *paging) holdsWhatLimitAllows() error {
	limit, err := strconv.Atoi(w.limit)
	if err != nil {
		return err
	}
	want := min(limit, len(w.Deployment.Revisions))
	if n := len(w.rows()); n != want {
		return outcome.Violated(w.Scene.Answer, strconv.Itoa(want)+" revisions", "%d", n).At("/resources")
	}
	return nil
}

func (w *paging) holdsTwenty() error {
	if n := len(w.rows()); n != defaultLimit {
		return outcome.Violated(w.Scene.Answer, "20 of the "+strconv.Itoa(len(w.Deployment.Revisions))+" revisions", "%d", n).At("/resources")
	}
	return nil
}

// isEmpty does not judge how nothing is written, as long as there is a place for it.
func (w *paging) isEmpty() error {
	rows := w.Scene.Answer.Get("resources")
	if !rows.Exists() {
		return outcome.Inconclusive("the answer has no resources: %s", outcome.Seen(w.Scene.Answer))
	}
	if n := len(rows.Array()); n > 0 {
		return outcome.Violated(w.Scene.Answer, "no revisions", "%d", n).At("/resources")
	}
	return nil
}

// everyRevisionOnce compares with the revisions that the run made itself, not with another list. A page that was
// refused holds none.
func (w *paging) everyRevisionOnce() error {
	times := map[string]int{}
	for _, a := range w.Answers {
		for _, row := range a.Get("resources").Array() {
			times[row.Get("id").String()]++
		}
	}
	var missing, repeated []string
	for _, id := range w.Deployment.Revisions {
		switch n := times[id]; {
		case n == 0:
			missing = append(missing, id)
		case n > 1:
			repeated = append(repeated, id)
		}
		delete(times, id)
	}
	if len(missing)+len(repeated)+len(times) > 0 {
		return outcome.Violated(w.Scene.Answer, "each of the "+strconv.Itoa(len(w.Deployment.Revisions))+" revisions once",
			"%d missing, %d repeated, %d unknown", len(missing), len(repeated), len(times)).At("/resources")
	}
	return nil
}

// newestFirst goes by the order in which the run made the revisions. What it did not make is left out.
func (w *paging) newestFirst() error {
	if err := w.CanCreate(); err != nil {
		return err
	}
	if err := w.listsServed(); err != nil {
		return err
	}
	made := func(id string) int { return slices.Index(w.Deployment.Revisions, id) }
	for _, list := range w.whole {
		order := slices.DeleteFunc(plane.IDs(list.rows), func(id string) bool { return made(id) < 0 })
		if len(order) < 2 {
			return outcome.Inconclusive("the list has %d of the known revisions: an order needs at least 2", len(order))
		}
		if !slices.IsSortedFunc(order, func(a, b string) int { return made(b) - made(a) }) {
			return outcome.Violated(list.answer, "the revisions from the newest to the oldest", "another order").At("/resources")
		}
	}
	return nil
}

func (w *paging) eachHasSource() error {
	if w.Source() == "" { // that of an existing deployment is unknown
		return w.CanCreate()
	}
	if err := w.listsServed(); err != nil {
		return err
	}
	list := w.whole[0]
	if len(list.rows) == 0 {
		return outcome.Inconclusive("the list is empty, so no source can be compared")
	}
	for i, row := range list.rows {
		if got := row.Get("source"); got.String() != w.Source() {
			return outcome.Violated(list.answer, "source "+w.Source(), "%s", outcome.Shown(got)).At("/resources/" + strconv.Itoa(i) + "/source")
		}
	}
	return nil
}

// listsServed blocks where a list cannot be read: nothing in it can be judged then.
func (w *paging) listsServed() error {
	for _, list := range w.whole {
		if !list.answer.OK() {
			return outcome.Blocked("the list cannot be read: %s", outcome.Seen(list.answer))
		}
	}
	return nil
}

func (w *paging) refusedNaming(parameter string) error { return w.refusedNamingAll(parameter) }

func (w *paging) refusedNamingBoth(first, second string) error {
	return w.refusedNamingAll(first, second)
}

func (w *paging) refusedNamingAll(parameters ...string) error {
	a, err := w.Scene.Last()
	if err != nil {
		return err
	}
	return common.RefusedNaming(a, parameters...)
}

func (w *paging) notFoundNaming() error {
	if err := w.NotFound(); err != nil {
		return err
	}
	return common.DetailContains(w.Scene.Answer, w.Deployment.ID)
}

// lists is what the sentences about lists of revisions know in one scenario.
type lists struct {
	*World
	whole []wholeList // that the last act read
}

// defineListing registers the sentences about lists of revisions for one scenario.
func defineListing(r *common.Definitions, w *World) {
	l := &lists{World: w}
	(&paging{lists: l}).define(r)
	f := &filtering{lists: l}
	f.define(r)
	(&beside{lists: l, filtering: f}).define(r)
	(&both{lists: l, filtering: f}).define(r)
	(&invalidBeside{lists: l}).define(r)
	(&reconciling{lists: l}).define(r)
}

// wholeList is all that a list holds, whatever its pages.
type wholeList struct {
	statuses string // the filter
	rows     []gjson.Result
	answer   *client.Answer // the first page
}

func (w *lists) aLongHistory(ctx context.Context) error {
	return w.Read(ctx, w.Plane.Fixtures.Long)
}

// aKnownHistory is a long one where it can be created, else that of the existing deployment.
func (w *lists) aKnownHistory(ctx context.Context) error {
	return w.Read(ctx, w.Plane.Fixtures.Long)
}

// listWhole reads all revisions with the statuses, or all there are, and remembers the list.
func (w *lists) listWhole(ctx context.Context, statuses string) error {
	filter := ""
	if statuses != "" {
		filter = "&status=" + url.QueryEscape(statuses)
	}
	rows, first, err := w.Plane.ListAll(ctx, w.Deployment.ID, filter)
	if err != nil {
		return err
	}
	w.whole, w.Scene.Answer = append(w.whole, wholeList{statuses, rows, first}), first
	return nil
}

func (w *lists) rows() []gjson.Result { return w.Scene.Answer.Get("resources").Array() }
