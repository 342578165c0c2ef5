package steps

import (
	"context"
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
	b.given(`a deployment whose revisions have settled`, w.aLongHistory)
	b.given(`a deployment whose revisions have settled in different statuses`, w.aMixedHistory)
	b.when(`the client lists its revisions`, w.clientLists)
	b.when(`the client lists its revisions with (limit|offset) "([^"]*)"`, w.clientListsWith)
	b.when(`the client lists its revisions with a faulty limit and a faulty offset`, w.clientListsWithTwoFaults)
	b.when(`the client lists its revisions from (the end|one past the end|far past the end)`, w.clientListsFrom)
	b.when(`the client lists all its revisions twice`, w.clientListsAllTwice)
	b.when(`the client pages through its revisions, (\d+) at a time, by offsets of its own`, w.clientPagesByOwnOffsets)
	b.when(`the client pages through its revisions, (\d+) at a time, by the returned offsets`, w.clientPagesByReturnedOffsets)
	b.when(`the client filters its revisions by each status that occurs`, w.clientFiltersByOccurring)
	b.when(`the client filters its revisions by each known status that does not occur`, w.clientFiltersByOthers)
	b.when(`the client filters its revisions by pairs of statuses`, w.clientFiltersByPairs)
	b.when(`the client pages through each filtered list, one at a time`, w.clientPagesThroughFiltered)
	b.when(`the client filters its revisions by (status|remote_reconciled) "([^"]*)"`, w.clientFiltersBy)
	b.when(`the client lists the revisions of an unknown deployment`, w.clientListsUnknown)
	b.when(`the client lists the revisions of the deployment with the id "([^"]*)"`, w.clientListsID)
	b.then(`the list is served`, w.served)
	b.then(`the list has an array of resources and a whole number as offset`, w.listHasForm)
	b.then(`it holds as many revisions as the limit and the history allow`, w.holdsAtMostLimit)
	b.then(`it holds exactly 20 revisions`, w.holdsTwenty)
	b.then(`it is empty`, w.isEmpty)
	b.then(`every revision was seen exactly once`, w.everyRevisionOnce)
	b.then(`each list holds exactly the revisions with (?:that status|one of the two)`, w.filtersKeepExactly)
	b.then(`the pages hold exactly the filtered revisions, in the order of the list`, w.pagesHoldFiltered)
	b.then(`the list is empty, or the request is refused`, w.emptyOrRefused)
	b.then(`the request is refused with 422, naming "(\w+)"`, w.refusedNaming)
	b.then(`the request is refused with 422, naming "(\w+)" and "(\w+)"`, w.refusedNamingBoth)
	b.then(`the answer is not found, naming the deployment`, w.notFoundNaming)
	b.then(`both lists have the same order`, w.sameOrder)
	b.then(`the revisions are ordered from the newest to the oldest`, w.newestFirst)
	b.then(`each has the source of the deployment`, w.eachHasSource)
}

func (w *World) aLongHistory(ctx context.Context) (err error) {
	w.deployment, err = w.run.shared(ctx, w.run.fixtures.long)
	return err
}

// aMixedHistory needs two statuses, or a filter cannot be told from none.
func (w *World) aMixedHistory(ctx context.Context) error {
	if err := w.aLongHistory(ctx); err != nil {
		return err
	}
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	if len(statuses) < 2 {
		_, key := w.run.brokenSource()
		return skipped("all revisions ended in the same status, so a filter cannot be told from none: set %s", key)
	}
	return nil
}

// statuses reads the status of each revision alone, so that the list is not judged by itself. Revisions by status.
func (w *World) statuses(ctx context.Context) (map[string][]string, error) {
	found := map[string][]string{}
	for _, revision := range w.deployment.revisions {
		a, err := w.run.get(ctx, revisionPath(w.deployment.id, revision), "")
		if err != nil {
			return nil, err
		}
		if !a.OK() {
			return nil, blocked("revision %s cannot be retrieved: %s", revision, seen(a))
		}
		status := a.Get("status").String()
		found[status] = append(found[status], revision)
	}
	return found, nil
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
	return w.list(ctx, "limit=0&offset=-1", true)
}

func (w *World) clientListsFrom(ctx context.Context, place string) error {
	offset := len(w.deployment.revisions)
	switch place {
	case "one past the end":
		offset++
	case "far past the end":
		offset += 100_000
	}
	return w.list(ctx, "offset="+strconv.Itoa(offset), false)
}

func (w *World) clientListsAllTwice(ctx context.Context) error {
	for range 2 {
		if err := w.list(ctx, pageOf(100, 0), false); err != nil {
			return err
		}
	}
	return nil
}

// clientPagesByOwnOffsets reads one page more than the history has, so that a row too many is seen.
func (w *World) clientPagesByOwnOffsets(ctx context.Context, size int) error {
	for offset := 0; offset < len(w.deployment.revisions)+size; offset += size {
		if err := w.list(ctx, pageOf(size, offset), false); err != nil {
			return err
		}
	}
	return nil
}

// clientPagesByReturnedOffsets goes on until a page is empty or the history must have been seen.
func (w *World) clientPagesByReturnedOffsets(ctx context.Context, size int) error {
	query := "limit=" + strconv.Itoa(size)
	for range len(w.deployment.revisions) + 2 {
		if err := w.list(ctx, query, false); err != nil {
			return err
		}
		rows, offset := w.answer.Get("resources").Array(), w.answer.Get("offset")
		if !w.answer.OK() || len(rows) < size || offset.Type != gjson.Number {
			return nil
		}
		if w.seenRows() >= len(w.deployment.revisions) {
			return nil
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

// filter lists the revisions with the statuses, and remembers which filter it was.
func (w *World) filter(ctx context.Context, statuses string) error {
	w.subject = append(w.subject, statuses)
	return w.list(ctx, "limit=100&status="+url.QueryEscape(statuses), false)
}

func (w *World) clientFiltersByOccurring(ctx context.Context) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for _, status := range w.run.knownStatuses {
		if len(statuses[status]) == 0 {
			continue
		}
		if err := w.filter(ctx, status); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) clientFiltersByOthers(ctx context.Context) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for _, status := range w.run.knownStatuses {
		if len(statuses[status]) > 0 {
			continue
		}
		if err := w.filter(ctx, status); err != nil {
			return err
		}
	}
	return nil
}

// clientFiltersByPairs puts each status that occurs before and behind another one, so that a target which heeds
// only the first or only the last is seen.
func (w *World) clientFiltersByPairs(ctx context.Context) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for i, status := range w.run.knownStatuses {
		if len(statuses[status]) == 0 {
			continue
		}
		next := w.run.knownStatuses[(i+1)%len(w.run.knownStatuses)]
		for other := range statuses {
			if other != status {
				next = other
			}
		}
		for _, pair := range []string{status + "," + next, next + "," + status} {
			if err := w.filter(ctx, pair); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) clientPagesThroughFiltered(ctx context.Context) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for _, status := range w.run.knownStatuses {
		for offset := range len(statuses[status]) + min(1, len(statuses[status])) {
			w.subject = append(w.subject, status)
			if err := w.list(ctx, pageOf(1, offset)+"&status="+url.QueryEscape(status), false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) clientFiltersBy(ctx context.Context, parameter, value string) error {
	return w.list(ctx, parameter+"="+url.QueryEscape(value), true)
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

// holdsAtMostLimit also wants something to come back: nothing at all honours no limit.
func (w *World) holdsAtMostLimit() error {
	limit, err := strconv.Atoi(w.subject[0])
	if err != nil {
		return err
	}
	if n := len(w.rows()); n > limit || n == 0 {
		return violated(w.answer, "1 to "+w.subject[0]+" revisions", "%d", n).at("/resources")
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

func (w *World) isEmpty() error {
	if rows := w.answer.Get("resources"); !rows.IsArray() || len(rows.Array()) > 0 {
		return violated(w.answer, "an empty array", "%d revisions", len(rows.Array())).at("/resources")
	}
	return nil
}

// everyRevisionOnce compares with the revisions that the run made itself, not with another list.
func (w *World) everyRevisionOnce() error {
	times := map[string]int{}
	for _, a := range w.answers {
		if !a.OK() {
			return violated(a, "a page of revisions", "%s", seen(a))
		}
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

// filtersKeepExactly compares each filtered list with the statuses that the revisions have alone.
func (w *World) filtersKeepExactly(ctx context.Context) error {
	if len(w.subject) == 0 {
		return inconclusive("no such status was there to filter by")
	}
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	for i, filter := range w.subject {
		a := w.answers[i]
		if !a.OK() {
			return violated(a, "the revisions with status "+filter, "%s", seen(a))
		}
		var want []string
		for status := range strings.SplitSeq(filter, ",") {
			want = append(want, statuses[status]...)
		}
		got := ids(a.Get("resources").Array())
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(slices.Compact(want), got) {
			return violated(a, strconv.Itoa(len(want))+" revisions with status "+filter, "%d revisions", len(got)).at("/resources")
		}
	}
	return nil
}

// pagesHoldFiltered wants the pages of each filter to hold its revisions, each once, and the last page to be empty.
func (w *World) pagesHoldFiltered(ctx context.Context) error {
	statuses, err := w.statuses(ctx)
	if err != nil {
		return err
	}
	got := map[string][]string{}
	for i, a := range w.answers {
		if !a.OK() {
			return violated(a, "a page of the filtered list", "%s", seen(a))
		}
		got[w.subject[i]] = append(got[w.subject[i]], ids(a.Get("resources").Array())...)
	}
	for status, found := range got {
		want := slices.Sorted(slices.Values(statuses[status]))
		if slices.Sort(found); !slices.Equal(want, found) {
			return violated(w.answer, strconv.Itoa(len(want))+" revisions with status "+status+" over all pages", "%d", len(found)).at("/resources")
		}
	}
	return nil
}

func (w *World) emptyOrRefused() error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if a.Refused() || a.OK() && a.Get("resources").IsArray() && len(w.rows()) == 0 {
		return nil
	}
	return violated(a, "an empty list, or a refusal", "%s", seen(a))
}

func (w *World) sameOrder() error {
	for _, a := range w.answers {
		if !a.OK() {
			return violated(a, "the list of revisions", "%s", seen(a))
		}
	}
	first, second := ids(w.answers[0].Get("resources").Array()), ids(w.answers[1].Get("resources").Array())
	if !slices.Equal(first, second) {
		return violated(w.answers[1], "the order of the first read", "another order").at("/resources")
	}
	if len(first) < 2 {
		return inconclusive("a list of %d revisions has no order", len(first))
	}
	return nil
}

// newestFirst goes by the order in which the run made the revisions.
func (w *World) newestFirst() error {
	var order []string
	for _, id := range ids(w.rows()) {
		if slices.Contains(w.deployment.revisions, id) {
			order = append(order, id)
		}
	}
	if len(order) < 2 {
		return inconclusive("a list of %d known revisions has no order", len(order))
	}
	made := func(id string) int { return slices.Index(w.deployment.revisions, id) }
	if !slices.IsSortedFunc(order, func(a, b string) int { return made(b) - made(a) }) {
		return violated(w.answer, "the newest revision first", "another order").at("/resources")
	}
	return nil
}

func (w *World) eachHasSource() error {
	if err := w.served(); err != nil {
		return err
	}
	if len(w.rows()) == 0 {
		return inconclusive("the list is empty")
	}
	for i, row := range w.rows() {
		if got := row.Get("source"); got.String() != w.run.config.Source() {
			return violated(w.answer, "source "+w.run.config.Source(), "%s", shown(got)).at("/resources/" + strconv.Itoa(i) + "/source")
		}
	}
	return nil
}

// lastAnswers are those of the act that the closing rules judge.
func (w *World) lastAnswers(operation string, status int) []*client.Answer {
	return w.run.collector.ErrorAnswers(operation, status)
}
