package steps

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// defineList holds the sentences about listing the revisions of a deployment (sections 2, 4, 7 and 8).
func (w *World) defineList(b *book) {
	b.given(`a deployment with more than 20 revisions`, w.aLongHistory)
	b.requires(`a deployment (?:with more than 20 revisions|whose revisions have settled.*)`, anyway(w.run.longHistoryFits))
	b.given(`a list of its revisions with nothing in it`, w.anEmptyList)
	b.given(`its revisions can be paged through by offsets`, w.canBePaged)
	b.given(`a limit and an offset that are each refused by name`, w.twoFaults)
	b.when(`the client lists its revisions`, w.clientLists)
	b.when(`the client lists its revisions with (limit|offset) "([^"]*)"`, w.clientListsWith)
	b.when(`the client lists its revisions with both of them`, w.clientListsWithTwoFaults)
	b.when(`the list is looked at`, func() error { return nil })
	b.when(`the client lists its revisions from (the end|one past the end|far past the end)`, w.clientListsFrom)
	b.when(`the client lists all its revisions twice`, w.clientListsAllTwice)
	b.when(`the client pages through its revisions, (\d+) at a time, by offsets of its own`, w.clientPagesByOwnOffsets)
	b.when(`the client pages through its revisions, each page larger than the one before, by offsets of its own`, w.clientPagesUnevenly)
	b.when(`the client pages through its revisions, (\d+) at a time, by the returned offsets`, w.clientPagesByReturnedOffsets)
	b.when(`the client lists the revisions of an unknown deployment`, w.clientListsUnknown)
	b.when(`the client lists the revisions of the deployment with the id "([^"]*)"`, w.clientListsID)
	b.then(`the list is served`, w.served)
	b.then(`the list has an array of resources and a whole number as offset`, w.listHasForm)
	b.then(`it holds as many revisions as the limit and the history allow`, w.holdsWhatLimitAllows)
	b.then(`it holds exactly 20 revisions`, w.holdsTwenty)
	b.then(`it is empty`, w.isEmpty)
	b.then(`every revision was seen exactly once`, w.everyRevisionOnce)
	b.then(`the request is refused with 422, naming "(\w+)"`, w.refusedNaming)
	b.then(`the request is refused with 422, naming "(\w+)" and "(\w+)"`, w.refusedNamingBoth)
	b.then(`the answer is not found, naming the deployment`, w.notFoundNaming)
	b.then(`both times the revisions are ordered from the newest to the oldest`, w.newestFirst)
	b.then(`each has the source of the deployment`, w.eachHasSource)
}

func (w *World) list(ctx context.Context, query string, wrong bool) error {
	return w.listOf(ctx, w.deployment.id, query, wrong)
}

func (w *World) listOf(ctx context.Context, id, query string, wrong bool) error {
	request := w.run.toControlPlane(theClient, http.MethodGet, revisionsPath(id), nil)
	request.Query, request.Wrong = query, wrong
	a, err := w.do(ctx, request)
	if err == nil {
		w.answers = append(w.answers, a)
	}
	return err
}

func (w *World) clientLists(ctx context.Context) error { return w.list(ctx, "", false) }

func (w *World) clientListsWith(ctx context.Context, parameter, value string) error {
	w.subject = []string{value}
	return w.list(ctx, parameter+"="+url.QueryEscape(value), true)
}

func (w *World) clientListsWithTwoFaults(ctx context.Context) error {
	return w.list(ctx, strings.Join(w.subject, "&"), true)
}

func (w *World) clientListsFrom(ctx context.Context, place string) error {
	offset := len(w.deployment.revisions)
	switch place {
	case "one past the end":
		offset++
	case "far past the end":
		offset += 100_000
	}
	return w.list(ctx, pageOf(1, offset), false)
}

func (w *World) clientListsAllTwice(ctx context.Context) error {
	for range 2 {
		if err := w.listWhole(ctx, ""); err != nil {
			return err
		}
	}
	return nil
}

// wholeList is all that a list holds, whatever its pages.
type wholeList struct {
	statuses string // the filter
	rows     []gjson.Result
	answer   *client.Answer // the first page
}

// listWhole reads all revisions with the statuses, or all there are, and remembers the list.
func (w *World) listWhole(ctx context.Context, statuses string) error {
	filter := ""
	if statuses != "" {
		filter = "&status=" + url.QueryEscape(statuses)
	}
	rows, first, err := w.run.listAll(ctx, w.deployment.id, filter)
	if err != nil {
		return err
	}
	w.lists, w.answer = append(w.lists, wholeList{statuses, rows, first}), first
	return nil
}

// clientPagesByOwnOffsets reads one page more than the history has, so that a row too many is seen.
func (w *World) clientPagesByOwnOffsets(ctx context.Context, size int) error {
	return w.pageThrough(ctx, func(int) int { return size })
}

// clientPagesUnevenly finds a target that takes an offset for the number of a page.
func (w *World) clientPagesUnevenly(ctx context.Context) error {
	return w.pageThrough(ctx, func(page int) int { return page })
}

// pageThrough reads page after page, each of its own size, until one begins past the end. That this one may be no
// page at all is the concern of another requirement.
func (w *World) pageThrough(ctx context.Context, size func(page int) int) error {
	offset := 0
	for page := 1; ; page++ {
		if err := w.list(ctx, pageOf(size(page), offset), false); err != nil {
			return err
		}
		if offset >= len(w.deployment.revisions) {
			if last := len(w.answers) - 1; !w.answer.OK() {
				w.answers, w.answer = w.answers[:last], w.answers[last-1]
			}
			return nil
		}
		offset += size(page)
	}
}

// canBePaged reads the whole history in pages of five.
func (w *World) canBePaged(ctx context.Context) error {
	if err := w.clientPagesByOwnOffsets(ctx, 5); err != nil {
		return err
	}
	problem := w.everyRevisionOnce()
	w.answers, w.answer = nil, nil
	return problem
}

// anEmptyList asks for a page far past the end.
func (w *World) anEmptyList(ctx context.Context) error {
	if err := w.list(ctx, "offset=1000", false); err != nil {
		return err
	}
	if !w.answer.OK() || len(w.rows()) > 0 {
		return blocked("an offset of 1000 gives no empty list: %s", seen(w.answer))
	}
	return nil
}

// twoFaults finds a faulty value of each parameter that the target refuses as it should when it stands alone.
func (w *World) twoFaults(ctx context.Context) error {
	for _, candidates := range [][]string{{"limit=0", "limit=101", "limit=ten"}, {"offset=-1", "offset=ten"}} {
		name, _, _ := strings.Cut(candidates[0], "=")
		refused := ""
		for _, query := range candidates {
			if err := w.list(ctx, query, true); err != nil {
				return err
			}
			if w.refusedNaming(name) == nil {
				refused = query
				break
			}
		}
		if refused == "" {
			return blocked("no faulty %s is refused by name", name)
		}
		w.subject = append(w.subject, refused)
	}
	return nil
}

// clientPagesByReturnedOffsets goes on until a page is empty or the history must have been seen. That there is no
// offset to pass on is the concern of another requirement.
func (w *World) clientPagesByReturnedOffsets(ctx context.Context, size int) error {
	query := "limit=" + strconv.Itoa(size)
	for range len(w.deployment.revisions) + 2 {
		if err := w.list(ctx, query, false); err != nil {
			return err
		}
		rows, offset := w.answer.Get("resources").Array(), w.answer.Get("offset")
		if !w.answer.OK() || len(rows) < size || w.seenRows() >= len(w.deployment.revisions) {
			return nil
		}
		if offset.Type != gjson.Number {
			return inconclusive("the list returned no number as offset to pass on: %s", shown(offset))
		}
		if offset.Num < 0 || offset.Num > math.MaxInt32 {
			return violated(w.answer, "an offset that fetches the next page", "%s", shown(offset)).at("/offset")
		}
		query = pageOf(size, int(offset.Int()))
	}
	return nil
}

func (w *World) seenRows() int {
	n := 0
	for _, a := range w.answers {
		n += len(a.Get("resources").Array())
	}
	return n
}

func (w *World) clientListsUnknown(ctx context.Context) error {
	w.deployment = &deployment{id: unknownID()}
	return w.list(ctx, "", false)
}

func (w *World) clientListsID(ctx context.Context, id string) error {
	return w.listOf(ctx, id, "", true)
}

func (w *World) listHasForm() error {
	if rows := w.answer.Get("resources"); !rows.IsArray() {
		return violated(w.answer, "an array as resources", "%s", shown(rows)).at("/resources")
	}
	if offset := w.answer.Get("offset"); offset.Type != gjson.Number || strings.ContainsAny(offset.Raw, ".eE") {
		return violated(w.answer, "a whole number as offset", "%s", shown(offset)).at("/offset")
	}
	return nil
}

func (w *World) rows() []gjson.Result { return w.answer.Get("resources").Array() }

// holdsWhatLimitAllows wants no more than the limit, and no less where there is more.
func (w *World) holdsWhatLimitAllows() error {
	limit, err := strconv.Atoi(w.subject[0])
	if err != nil {
		return err
	}
	want := min(limit, len(w.deployment.revisions))
	if n := len(w.rows()); n != want {
		return violated(w.answer, strconv.Itoa(want)+" revisions", "%d", n).at("/resources")
	}
	return nil
}

func (w *World) holdsTwenty() error {
	const defaultLimit = 20
	if n := len(w.rows()); n != defaultLimit {
		return violated(w.answer, "20 of the "+strconv.Itoa(len(w.deployment.revisions))+" revisions", "%d", n).at("/resources")
	}
	return nil
}

// isEmpty does not judge how nothing is written, as long as there is a place for it.
func (w *World) isEmpty() error {
	rows := w.answer.Get("resources")
	if !rows.Exists() {
		return inconclusive("the answer has no resources that could be empty: %s", seen(w.answer))
	}
	if n := len(rows.Array()); n > 0 {
		return violated(w.answer, "no revisions", "%d", n).at("/resources")
	}
	return nil
}

// everyRevisionOnce compares with the revisions that the run made itself, not with another list. A page that was
// refused holds none.
func (w *World) everyRevisionOnce() error {
	times := map[string]int{}
	for _, a := range w.answers {
		for _, row := range a.Get("resources").Array() {
			times[row.Get("id").String()]++
		}
	}
	var missing, repeated []string
	for _, id := range w.deployment.revisions {
		switch n := times[id]; {
		case n == 0:
			missing = append(missing, id)
		case n > 1:
			repeated = append(repeated, id)
		}
		delete(times, id)
	}
	if len(missing)+len(repeated)+len(times) > 0 {
		return violated(w.answer, "each of the "+strconv.Itoa(len(w.deployment.revisions))+" revisions once",
			"%d missing, %d repeated, %d unknown", len(missing), len(repeated), len(times)).at("/resources")
	}
	return nil
}

// newestFirst goes by the order in which the run made the revisions. What it did not make is left out.
func (w *World) newestFirst() error {
	if err := w.listsServed(); err != nil {
		return err
	}
	made := func(id string) int { return slices.Index(w.deployment.revisions, id) }
	for _, list := range w.lists {
		order := slices.DeleteFunc(ids(list.rows), func(id string) bool { return made(id) < 0 })
		if len(order) < 2 {
			return inconclusive("a list of %d known revisions has no order", len(order))
		}
		if !slices.IsSortedFunc(order, func(a, b string) int { return made(b) - made(a) }) {
			return violated(list.answer, "the newest revision first", "another order").at("/resources")
		}
	}
	return nil
}

func (w *World) eachHasSource() error {
	if err := w.listsServed(); err != nil {
		return err
	}
	list := w.lists[0]
	if len(list.rows) == 0 {
		return inconclusive("the list is empty")
	}
	for i, row := range list.rows {
		if got := row.Get("source"); got.String() != w.run.config.Source() {
			return violated(list.answer, "source "+w.run.config.Source(), "%s", shown(got)).at("/resources/" + strconv.Itoa(i) + "/source")
		}
	}
	return nil
}

// listsServed says that a list which cannot be read shows nothing of what stands in it.
func (w *World) listsServed() error {
	for _, list := range w.lists {
		if !list.answer.OK() {
			return blocked("the list cannot be read: %s", seen(list.answer))
		}
	}
	return nil
}

// lastAnswers are those of the act that the closing rules judge.
func (w *World) lastAnswers(operation string, status int) []*client.Answer {
	return w.run.collector.ErrorAnswers(operation, status)
}
