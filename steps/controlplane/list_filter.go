package controlplane

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// filtering holds the sentences about filters of lists (section 4).
type filtering struct {
	*lists
	query      string   // the filter
	statusesOf []string // the filter of each page that was read, by answer
}

func (w *filtering) define(r *common.Definitions) {
	r.Given(`a deployment whose revisions have settled in different statuses`, w.aMixedHistory)
	r.Given(`a status filter that matches all of them`, w.aFilterThatKeepsAll)
	r.When(`the client lists its revisions with that filter`, func(ctx context.Context) error { return w.List(ctx, w.query, false) })
	r.When(`the client filters its revisions by a status that (is|ends in) a NUL character`, w.clientFiltersByNUL)
	r.When(`the client filters its revisions by each status that occurs`, func(ctx context.Context) error { return w.filterBy(ctx, true) })
	r.When(`the client filters its revisions by each known status that does not occur`, func(ctx context.Context) error {
		return w.filterBy(ctx, false)
	})
	r.When(`the client filters its revisions by pairs of statuses`, w.clientFiltersByPairs)
	r.When(`the client pages through each filtered list, five at a time`, w.clientPagesThroughFiltered)
	r.When(`the client filters its revisions by (status|remote_reconciled) "([^"]*)"`, w.clientFiltersBy)
	r.Then(`each list holds exactly the revisions with that status`, w.filtersKeepExactly)
	r.Then(`each list is the union of the lists of its statuses`, w.Steady(w.pairsAreUnions))
	r.Then(`the pages hold exactly the filtered revisions`, w.Steady(w.pagesHoldFiltered))
	r.Then(`the list is empty, or the request is refused with 4xx`, func() error {
		a, rows := w.Scene.Answer, w.Scene.Answer.Get("resources")
		isEmpty := a.OK() && rows.Exists() && len(rows.Array()) == 0
		return outcome.Want(a.Refused() || isEmpty, a, "an empty list, or status 4xx")
	})
}

// aMixedHistory needs two statuses, or a filter has no visible effect.
func (w *filtering) aMixedHistory(ctx context.Context) error {
	if err := w.Read(ctx, w.Plane.Fixtures.Long); err != nil {
		return err
	}
	statuses, err := w.known(ctx)
	if err != nil {
		return err
	}
	if missing := w.CanCreate(); len(statuses) < 2 && missing != nil {
		return missing
	} else if len(statuses) < 2 {
		_, key := w.Plane.Sources.Broken()
		return outcome.NotConfigured(key, "all revisions have the same status, so a status filter has no visible effect: set %s", key)
	}
	return nil
}

// aFilterThatKeepsAll names every status there is. Whether a filter keeps what it should is another requirement's
// concern.
func (w *filtering) aFilterThatKeepsAll(ctx context.Context) error {
	filter := "status=" + url.QueryEscape(strings.Join(w.Plane.Statuses.Known(), ","))
	rows, a, err := w.Plane.ListAll(ctx, w.Deployment.ID, "&"+filter)
	if err != nil {
		return err
	}
	if !a.OK() || len(rows) < len(w.Deployment.Revisions) {
		return outcome.Blocked("a filter with all thirteen statuses returns %d of %d revisions (status %d)", len(rows), len(w.Deployment.Revisions), a.Status)
	}
	w.query = filter
	return nil
}

// clientFiltersByNUL sends the character that databases do not accept in a string.
func (w *filtering) clientFiltersByNUL(ctx context.Context, where string) error {
	value := "\x00"
	if where == "ends in" {
		value = plane.StatusDeployed + value
	}
	return w.clientFiltersBy(ctx, "status", value)
}

// known is which revisions have which status of the interface, as one look for all scenarios has found.
func (w *lists) known(ctx context.Context) (map[string][]string, error) {
	answers, err := w.Plane.LookAtEach(ctx, w.Deployment)
	if err != nil {
		return nil, err
	}
	return w.statuses(answers)
}

// statuses are those that each revision has alone, so that the list is not judged by itself. Revisions by the status of the
// interface that is meant.
func (w *lists) statuses(answers []*client.Answer) (map[string][]string, error) {
	found := map[string][]string{}
	for i, a := range answers {
		revision := w.Deployment.Revisions[i]
		if !a.OK() || a.Get("id").String() != revision {
			return nil, outcome.Blocked("revision %s cannot be retrieved: %s", revision, outcome.Seen(a))
		}
		status := w.Plane.Statuses.Meant(a.Get("status").String())
		if status != a.Get("status").String() || !w.Plane.Statuses.IsKnown(status) {
			w.strange = a.Get("status").String()
		}
		found[status] = append(found[status], revision)
	}
	return found, nil
}

// filterBy lists the revisions with each known status that occurs, or does not.
func (w *filtering) filterBy(ctx context.Context, occurs bool) error {
	statuses, err := w.known(ctx)
	if err != nil {
		return err
	}
	for _, status := range w.Plane.Statuses.Known() {
		if (len(statuses[status]) > 0) != occurs {
			continue
		}
		if err := w.listWhole(ctx, status); err != nil {
			return err
		}
	}
	return nil
}

// clientFiltersByPairs puts each status that occurs before and behind another one, so that a target which heeds
// only the first or only the last is seen. It reads the lists of the two statuses too.
func (w *filtering) clientFiltersByPairs(ctx context.Context) error {
	statuses, err := w.known(ctx)
	if err != nil {
		return err
	}
	for i, status := range w.Plane.Statuses.Known() {
		if len(statuses[status]) == 0 {
			continue
		}
		next := w.Plane.Statuses.Known()[(i+1)%len(w.Plane.Statuses.Known())]
		for _, other := range slices.Sorted(maps.Keys(statuses)) {
			if other != status && w.Plane.Statuses.IsKnown(other) {
				next = other
			}
		}
		for _, filter := range []string{status, next, status + "," + next, next + "," + status} {
			if err := w.listWhole(ctx, filter); err != nil {
				return err
			}
		}
	}
	return nil
}

// filteredPage is the size of the pages of filtered lists.
const filteredPage = 5

// clientPagesThroughFiltered reads the list of each status that occurs, and then its pages.
func (w *filtering) clientPagesThroughFiltered(ctx context.Context) error {
	const size = filteredPage
	if err := w.filterBy(ctx, true); err != nil {
		return err
	}
	for _, list := range w.whole {
		for offset := 0; offset < len(list.rows)+size; offset += size {
			if err := w.List(ctx, plane.PageOf(size, offset)+"&status="+url.QueryEscape(list.statuses), false); err != nil {
				return err
			}
			if !w.Scene.Answer.OK() && offset >= len(list.rows) {
				break // what a page past the end is answered with is the concern of another requirement
			}
			w.statusesOf = append(w.statusesOf, list.statuses)
		}
		w.Answers = w.Answers[:len(w.statusesOf)]
	}
	return nil
}

func (w *filtering) clientFiltersBy(ctx context.Context, parameter, value string) error {
	return w.List(ctx, parameter+"="+url.QueryEscape(value), true)
}

// filtersKeepExactly compares each filtered list with the statuses that the revisions have alone. A list that was
// refused keeps none; where none is to be kept, it must be served all the same.
func (w *filtering) filtersKeepExactly(ctx context.Context) error {
	if len(w.whole) == 0 {
		return outcome.Inconclusive("there was no such status to filter by")
	}
	answers, err := w.Plane.GetEach(ctx, w.Deployment)
	if err != nil {
		return err
	}
	statuses, err := w.statuses(answers)
	if err != nil {
		return err
	}
	for _, list := range w.whole {
		want, got := statuses[list.statuses], plane.IDs(list.rows)
		if !list.answer.OK() || !plane.SameIDs(want, got) {
			if w.strange != "" { // which revisions have the status is then a matter of how the target writes it
				return outcome.Blocked("the filter %s returns %d revisions, and a revision has the status %q, which is not one of the thirteen (CP-POLL-1)", list.statuses, len(got), w.strange).ByRequirement("CP-POLL-1")
			}
			return w.UnlessChanged(ctx, outcome.Violated(list.answer, strconv.Itoa(len(want))+" revisions with status "+list.statuses, "%d (HTTP status %d)", len(got), list.answer.Status).At("/resources"))
		}
	}
	return nil
}

// pairsAreUnions compares the list of several statuses with the lists of each: what those hold is the concern of
// another requirement.
func (w *filtering) pairsAreUnions() error {
	single, compared := map[string][]string{}, 0
	answers := map[string]*client.Answer{}
	for _, list := range w.whole {
		got := plane.IDs(list.rows)
		if !strings.Contains(list.statuses, ",") {
			single[list.statuses], answers[list.statuses] = got, list.answer
			continue
		}
		var want []string
		for status := range strings.SplitSeq(list.statuses, ",") {
			want = append(want, single[status]...)
		}
		compared += len(want)
		slices.Sort(want)
		if want = slices.Compact(want); !list.answer.OK() || !plane.SameIDs(want, got) {
			first, _, _ := strings.Cut(list.statuses, ",")
			return outcome.Violated(list.answer, strconv.Itoa(len(want))+" revisions with status "+list.statuses, "%d (HTTP status %d)", len(got), list.answer.Status).At("/resources").Comparing(list.answer, answers[first])
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no filter by a single status returns a revision, so no union can be compared")
	}
	return nil
}

// pagesHoldFiltered wants the pages of each filtered list to hold what the whole list holds. A page that was refused
// holds nothing.
func (w *filtering) pagesHoldFiltered() error {
	got, lastPage := map[string][]string{}, map[string]*client.Answer{}
	for i, a := range w.Answers {
		lastPage[w.statusesOf[i]] = a
		got[w.statusesOf[i]] = append(got[w.statusesOf[i]], plane.IDs(a.Get("resources").Array())...)
	}
	compared := 0
	for _, list := range w.whole {
		want, found := plane.IDs(list.rows), got[list.statuses]
		if compared += len(want); !plane.SameIDs(want, found) {
			return outcome.Violated(list.answer, strconv.Itoa(len(want))+" revisions with status "+list.statuses+" over all pages, each once", "%d", len(found)).At("/resources").Comparing(lastPage[list.statuses], list.answer)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no filter returns a revision, so there are no pages to compare")
	}
	return nil
}
