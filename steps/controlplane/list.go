package controlplane

import (
	"cmp"
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

// paging holds the sentences about lists of revisions (sections 2, 4, 7 and 8).
type paging struct {
	*lists
	limit  string   // that the client sent
	faults []string // queries with one faulty parameter each
}

func (w *paging) define(r *common.Definitions) {
	// a long history where it can be created, else that of the existing deployment
	r.Given(`a deployment (?:with more than 20 revisions|whose revisions are known|whose revisions have settled)`, func(ctx context.Context) error {
		return w.Read(ctx, w.Plane.Fixtures.Long)
	})
	r.Given(`an empty list of its revisions`, w.anEmptyList)
	r.Given(`paging through its revisions by computed offsets works`, w.canBePaged)
	r.Given(`an invalid limit and an invalid offset that are each refused by name`, w.twoInvalidParameters)
	r.When(`the client lists its revisions`, w.ClientLists)
	r.When(`the client lists its revisions with (limit|offset) "([^"]*)"`, w.clientListsWith)
	r.When(`the client lists its revisions with both of them`, func(ctx context.Context) error {
		return w.List(ctx, strings.Join(w.faults, "&"), true)
	})
	r.When(`the list is read`, func() error { return nil })
	r.When(`the client lists its revisions from (the end|one past the end|far past the end)`, w.clientListsFrom)
	r.When(`the client lists all its revisions twice`, func(ctx context.Context) error {
		return common.Times(2, func() error { return w.listWhole(ctx, "") })
	})
	r.When(`the client pages through its revisions, (\d+) at a time, by computed offsets`, func(ctx context.Context, size int) error {
		return w.pageThrough(ctx, func(int) int { return size })
	})
	// which finds a target that takes an offset for the number of a page
	r.When(`the client pages through its revisions, each page larger than the one before, by computed offsets`, func(ctx context.Context) error {
		return w.pageThrough(ctx, func(page int) int { return page })
	})
	r.When(`the client pages through its revisions, (\d+) at a time, by the returned offsets`, w.clientPagesByReturnedOffsets)
	r.When(`the client lists the revisions of an unknown deployment`, func(ctx context.Context) error {
		w.Deployment = &plane.Deployment{ID: target.UnknownID()}
		return w.List(ctx, "", false)
	})
	r.When(`the client lists the revisions of the deployment with the id "([^"]*)"`, func(ctx context.Context, id string) error {
		return w.retrieve(ctx, plane.RevisionsPath(id), "", true)
	})
	r.Then(`the (?:list|update) is answered with 2xx`, w.Served)
	r.Then(`the list has an array "resources" and an integer "offset"`, func() error {
		a := w.Scene.Answer
		return cmp.Or(outcome.WantAt(a.Get("resources").IsArray(), a, "resources", "an array in resources"),
			outcome.WantAt(common.IsInteger(a.Get("offset")), a, "offset", "an integer in offset"))
	})
	r.Then(`it holds as many revisions as the limit allows, or all`, w.Steady(w.holdsWhatLimitAllows))
	r.Then(`it holds exactly 20 revisions`, func() error {
		return w.holds(defaultLimit, "20 of the "+strconv.Itoa(len(w.Deployment.Revisions))+" revisions")
	})
	r.Then(`it holds no revision`, w.Steady(w.isEmpty))
	r.Then(`every revision was returned exactly once`, w.Steady(w.everyRevisionOnce))
	r.Then(`the request is refused with 422 and an error that names "(\w+)"`, func(parameter string) error {
		return common.RefusedNaming(w.Scene.Answer, parameter)
	})
	r.Then(`the request is refused with 422 and an error that names "(\w+)" and "(\w+)"`, func(first, second string) error {
		return common.RefusedNaming(w.Scene.Answer, first, second)
	})
	r.Then(`the request is answered with 404 and a detail that contains the deployment id`, w.notFoundNaming)
	r.Then(`both times the revisions are ordered from the newest to the oldest`, w.newestFirst)
	r.Then(`each revision has the "source" of the deployment`, w.eachHasSource)
}

func (w *paging) clientListsWith(ctx context.Context, parameter, value string) error {
	w.limit = value
	return w.List(ctx, parameter+"="+url.QueryEscape(value), true)
}

func (w *paging) clientListsFrom(ctx context.Context, place string) error {
	beyond := map[string]int{"the end": 0, "one past the end": 1, "far past the end": 100_000}[place]
	return w.List(ctx, plane.PageOf(1, len(w.Deployment.Revisions)+beyond), false)
}

// pageThrough reads page after page, each with its own size, until one begins past the end, so that a row too many is seen. That this one
// may be no page at all is the concern of another requirement.
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
			if common.RefusedNaming(w.Scene.Answer, name) == nil {
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
	query, seen := "limit="+strconv.Itoa(size), 0
	for range len(w.Deployment.Revisions) + 2 {
		if err := w.List(ctx, query, false); err != nil {
			return err
		}
		n, offset := len(w.rows()), w.Scene.Answer.Get("offset")
		if seen += n; !w.Scene.Answer.OK() || n < size || seen >= len(w.Deployment.Revisions) {
			return nil
		}
		if offset.Type != gjson.Number {
			return outcome.Inconclusive("the returned offset is not a number and cannot be passed on: %s", outcome.Shown(offset))
		}
		isPlace := offset.Num >= 0 && offset.Num <= math.MaxInt32
		if err := outcome.WantAt(isPlace, w.Scene.Answer, "offset", "an offset that fetches the next page"); err != nil {
			return err
		}
		query = plane.PageOf(size, int(offset.Int()))
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
	return w.holds(want, strconv.Itoa(want)+" revisions")
}

func (w *paging) holds(want int, expected string) error {
	if n := len(w.rows()); n != want {
		return outcome.Violated(w.Scene.Answer, expected, "%d", n).At("/resources")
	}
	return nil
}

// isEmpty does not judge how nothing is written, as long as there is a place for it.
func (w *paging) isEmpty() error {
	if !w.Scene.Answer.Get("resources").Exists() {
		return outcome.Inconclusive("the answer has no resources: %s", outcome.Seen(w.Scene.Answer))
	}
	return w.holds(0, "no revisions")
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
	missing, repeated := 0, 0
	for _, id := range w.Deployment.Revisions {
		switch n := times[id]; {
		case n == 0:
			missing++
		case n > 1:
			repeated++
		}
		delete(times, id)
	}
	if missing+repeated+len(times) > 0 {
		return outcome.Violated(w.Scene.Answer, "each of the "+strconv.Itoa(len(w.Deployment.Revisions))+" revisions once",
			"%d missing, %d repeated, %d unknown", missing, repeated, len(times)).At("/resources")
	}
	return nil
}

// newestFirst goes by the order in which the run made the revisions. What it did not make is left out.
func (w *paging) newestFirst() error {
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
		place := "resources." + strconv.Itoa(i) + ".source"
		if err := outcome.WantAt(row.Get("source").String() == w.Source(), list.answer, place, "source "+w.Source()); err != nil {
			return err
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

func (w *paging) notFoundNaming() error {
	if err := w.NotFound(); err != nil {
		return err
	}
	if !detailNames(w.Scene.Answer, w.Deployment.ID) {
		return outcome.Violated(w.Scene.Answer, "a detail that names "+w.Deployment.ID, "%s", outcome.Seen(w.Scene.Answer)).At("/detail")
	}
	return nil
}

// detailNames tells whether the detail of a refusal contains an id (section 7).
func detailNames(a *client.Answer, id string) bool {
	text := string(a.Body)
	if detail := a.Get("detail"); detail.Type == gjson.String {
		text = detail.Str
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(id))
}

// lists is what the sentences about lists of revisions know in one scenario.
type lists struct {
	*World
	whole   []wholeList // that the last act read
	strange string      // a status of a revision that is not one of the interface as it is written
}

// defineListing registers the sentences about lists of revisions for one scenario.
func defineListing(r *common.Definitions, w *World) {
	l := &lists{World: w}
	(&paging{lists: l}).define(r)
	f := &filtering{lists: l}
	f.define(r)
	(&beside{lists: l}).define(r)
	(&reconciled{lists: l}).define(r)
	(&invalidBeside{lists: l}).define(r)
	(&listCases{lists: l, filtering: f}).define(r)
}

// wholeList is all that a list holds, whatever its pages.
type wholeList struct {
	statuses string // the filter
	rows     []gjson.Result
	answer   *client.Answer // the first page
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
