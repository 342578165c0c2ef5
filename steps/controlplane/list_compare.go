package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// list is what one page of a list holds, or several.
type list struct {
	rows   []gjson.Result
	answer *client.Answer // of several pages the first, or the last where the client goes from page to page itself
}

// compare notes what a list holds in place of the revisions that it is to hold, each once and in any order. What shows
// these is nil where the run knows them.
func (w *World) compare(l list, want []string, what string, with *client.Answer) {
	w.compared = append(w.compared, l.differs(want, what, with))
}

// read reads all that a filter keeps, whatever the pages.
func (w *World) read(ctx context.Context, filter string) list {
	rows, first, err := w.plane.ListAll(ctx, w.Deployment.ID, filter)
	common.Check(err)
	return list{rows: rows, answer: first}
}

// page reads one page.
func (w *World) page(ctx context.Context, query string) list {
	w.list(ctx, query, false)
	return list{rows: w.rows(), answer: w.scene.Answer}
}

// clientPages has pages compared with the revisions that the run made itself, or with the whole filtered list.
func (w *World) clientPages(ctx context.Context, of, sizes, offsets string) {
	size := growing
	_, _ = fmt.Sscanf(sizes, "%d at a time", &size)
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
		if read := pages(ctx, statusFilter(status), len(whole.rows), size); len(whole.rows) > 0 {
			w.compare(read, plane.IDs(whole.rows), "with status "+status+" over all pages", whole.answer)
		}
	}
}

// growing is the size of pages of which the first has one revision, and each other one more than the one before.
const growing = 0

// pageThrough reads the pages of a list of so many revisions by computed offsets, until one begins past the end, so
// that a row too many is seen. That this one may be no page at all is the concern of another requirement.
func (w *World) pageThrough(ctx context.Context, filter string, revisions, size int) (all list) {
	for n, offset := 1, 0; ; n++ {
		limit := cmp.Or(size, n)
		page := w.page(ctx, plane.Query(plane.PageOf(limit, offset), filter))
		if offset < revisions || n == 1 || page.answer.OK() {
			all.rows, all.answer = append(all.rows, page.rows...), page.answer
		}
		if offset >= revisions {
			return all
		}
		offset += limit
	}
}

// pageOn reads on by the returned offsets, until a page is not full or so many revisions must have been seen. That
// there is no offset to pass on is the concern of another requirement.
func (w *World) pageOn(ctx context.Context, filter string, revisions, size int) (all list) {
	query := plane.Query("limit="+strconv.Itoa(size), filter)
	for range revisions + 2 {
		page := w.page(ctx, query)
		all.rows, all.answer = append(all.rows, page.rows...), page.answer
		if !page.answer.OK() || len(page.rows) < size || len(all.rows) >= revisions {
			break
		}
		offset := page.answer.Get("offset")
		if !common.IsInteger(offset) {
			common.Check(outcome.Inconclusive("the returned offset is no integer to pass on: %s", outcome.Shown(offset)))
		}
		isPlace := offset.Num >= 0 && offset.Num <= math.MaxInt32
		common.Check(outcome.WantAt(isPlace, page.answer, "offset", "an offset that fetches the next page"))
		query = plane.Query(plane.PageOf(size, int(offset.Num)), filter)
	}
	return all
}

// canBePaged reads the whole history in pages of five.
func (w *World) canBePaged(ctx context.Context) error {
	w.clientPages(ctx, "its revisions", "5 at a time", "computed")
	err := w.eachHoldsItsOwn(ctx)
	w.compared = nil
	return err
}

// eachHoldsItsOwn judges all lists that the act has read.
func (w *World) eachHoldsItsOwn(ctx context.Context) error {
	if len(w.compared) == 0 {
		return outcome.Inconclusive("no list could be compared: none is to hold a revision, or what a list keeps has changed")
	}
	return w.unlessChanged(ctx, outcome.First(w.compared))
}

// differs tells what the list holds in place of its revisions, or nothing. One that was refused holds none, and has to
// be served where none is wanted, too.
func (l list) differs(want []string, what string, with *client.Answer) *outcome.Outcome {
	times := map[string]int{}
	for _, id := range plane.IDs(l.rows) {
		times[id]++
	}
	missing, repeated := 0, 0
	for _, id := range want {
		switch n := times[id]; {
		case n == 0:
			missing++
		case n > 1:
			repeated++
		}
		delete(times, id)
	}
	expected := fmt.Sprintf("%d revisions %s, each once", len(want), what)
	switch {
	case !l.answer.OK():
		return outcome.Violated(l.answer, expected, "%s", outcome.Seen(l.answer)).Comparing(l.answer, with)
	case missing+repeated+len(times) > 0:
		return outcome.Violated(l.answer, expected, "%d: %d missing, %d repeated, %d unexpected",
			len(l.rows), missing, repeated, len(times)).At("/resources").Comparing(l.answer, with)
	}
	return nil
}
