package controlplane

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// owner finds the requirement that a wrong page may belong to: what another requirement about its parameters judges is wrong too. It is
// nil where all of that holds, so that nobody else tells of the page. Nothing of this is sent while pages are right.
func (w *beside) owner(ctx context.Context, p page) error {
	if w.owners == nil {
		w.owners = map[string]error{}
	}
	for _, requirement := range w.ownersOf(p) {
		if _, asked := w.owners[requirement]; !asked {
			broken, err := w.broken(ctx, requirement)
			if err != nil {
				return err
			}
			w.owners[requirement] = broken
		}
		if w.owners[requirement] != nil {
			return w.owners[requirement]
		}
	}
	return nil
}

// ownersOf are the requirements about the parts of a query.
func (w *beside) ownersOf(p page) []string {
	owners := []string{"CP-LIST-2", "CP-LIST-6", "CP-LIST-8"}
	if p.limit.query == "" {
		owners[0] = "CP-LIST-4"
	}
	if strings.Contains(w.filter, "status=") {
		owners = append(owners, "CP-LIST-9", "CP-LIST-10")
	}
	if strings.Contains(w.filter, "remote_reconciled=") {
		owners = append(owners, "CP-LIST-12")
	}
	return owners
}

// broken tries what the requirement judges, and returns the outcome that blocks where it does not hold.
func (w *beside) broken(ctx context.Context, requirement string) (broken, err error) {
	switch requirement {
	case "CP-LIST-2":
		return w.brokenPages(ctx, requirement, "", withLimits(1, 2, 99, 100))
	case "CP-LIST-4":
		none := []page{{limit: w.limits()[0], offset: w.offsets(0)[0]}}
		if broken, err := w.brokenPages(ctx, requirement, "", none); broken != nil || err != nil {
			return broken, err
		}
		return w.brokenPages(ctx, requirement, "status="+url.QueryEscape(strings.Join(w.Plane.Statuses.Known(), ",")), none)
	case "CP-LIST-6":
		return w.brokenPages(ctx, requirement, "", append(w.pagesOf(1, 2, 7, 20, 50), w.unevenPages()...))
	case "CP-LIST-8":
		end := len(w.Deployment.Revisions)
		return w.brokenPages(ctx, requirement, "", []page{
			{limit: number("limit", 1), offset: number("offset", end)}, {limit: number("limit", 1), offset: number("offset", end+1)}})
	case "CP-LIST-12":
		for _, value := range reconciledValues {
			a, err := w.Plane.Get(ctx, plane.RevisionsPath(w.Deployment.ID), "remote_reconciled="+value)
			if err != nil {
				return nil, err
			}
			if !a.OK() {
				return outcome.Blocked("remote_reconciled=%s alone is not served: %s", value, outcome.Seen(a)).ByRequirement(requirement), nil
			}
		}
		return nil, nil
	}
	return w.brokenFilter(ctx, requirement)
}

// brokenFilter tries each status that occurs alone (CP-LIST-9), or in pages of five and all of them together (CP-LIST-10).
func (w *beside) brokenFilter(ctx context.Context, requirement string) (broken, err error) {
	statuses, err := w.filtering.known(ctx)
	if err != nil {
		return nil, err
	}
	occurring := slices.DeleteFunc(slices.Clone(w.Plane.Statuses.Known()), func(s string) bool { return len(statuses[s]) == 0 })
	tried := w.Plane.Statuses.Known()
	if requirement == "CP-LIST-10" {
		tried = append(occurring, strings.Join(occurring, ","))
	}
	for _, status := range tried {
		var want []string
		for each := range strings.SplitSeq(status, ",") {
			want = append(want, statuses[each]...)
		}
		query := "status=" + url.QueryEscape(status)
		rows, a, err := w.Plane.ListAll(ctx, w.Deployment.ID, and(query))
		if err != nil {
			return nil, err
		}
		if !a.OK() || !sameIDs(plane.IDs(rows), want) {
			return outcome.Blocked("the list with %s holds %d revisions, and %d have such a status", query, len(rows), len(want)).ByRequirement(requirement), nil
		}
		if requirement != "CP-LIST-10" {
			continue
		}
		if broken, err := w.brokenPages(ctx, requirement, query, w.pagesOf(filteredPage)); broken != nil || err != nil {
			return broken, err
		}
	}
	return nil, nil
}

// brokenPages holds pages of the list with a filter against the whole of it.
func (w *beside) brokenPages(ctx context.Context, requirement, filter string, pages []page) (broken, err error) {
	all, first, err := w.Plane.ListAll(ctx, w.Deployment.ID, and(filter))
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if p.answer, err = w.Plane.Get(ctx, plane.RevisionsPath(w.Deployment.ID), join(p.limit.query, p.offset.query, filter)); err != nil {
			return nil, err
		}
		if o := differs(p, all, first, filter); o != nil {
			return outcome.Blocked("the list with %s is wrong too: %s", join(p.limit.query, p.offset.query, filter), o.Reason).ByRequirement(requirement), nil
		}
	}
	return nil, nil
}

func withLimits(limits ...int) (pages []page) {
	for _, n := range limits {
		pages = append(pages, page{limit: number("limit", n), offset: value{name: "no offset"}})
	}
	return pages
}

// pagesOf are all pages of each size, up to the end of the history.
func (w *beside) pagesOf(sizes ...int) (pages []page) {
	for _, size := range sizes {
		for from := 0; from < len(w.Deployment.Revisions); from += size {
			pages = append(pages, page{limit: number("limit", size), offset: number("offset", from)})
		}
	}
	return pages
}

// unevenPages are pages each of which is larger than the one before.
func (w *beside) unevenPages() (pages []page) {
	from := 0
	for size := 1; from < len(w.Deployment.Revisions); size++ {
		pages = append(pages, page{limit: number("limit", size), offset: number("offset", from)})
		from += size
	}
	return pages
}

func sameIDs(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// refusedAlone tells whether the values of the requirement about the parameter are refused where they stand alone.
func (w *invalidBeside) refusedAlone(ctx context.Context, parameter string, refused func(*client.Answer) error) error {
	for _, value := range owned[parameter].values {
		if err := w.List(ctx, parameter+"="+url.QueryEscape(value), true); err != nil {
			return err
		}
		if err := refused(w.Scene.Answer); err != nil {
			return outcome.Blocked("%s=%s is not refused alone: %v", parameter, value, err).ByRequirement(owned[parameter].requirement)
		}
	}
	return nil
}

// owned are the requirements about invalid values that stand alone, with the values that they judge.
var owned = map[string]struct {
	requirement string
	values      []string
}{
	"limit":             {"CP-LIST-3", []string{"0", "101", "-1", "99999999999999999999", "1.5", "", "ten"}},
	"offset":            {"CP-LIST-5", []string{"-1", "0.5", "", "ten"}},
	"remote_reconciled": {"CP-LIST-12", []string{"maybe", "2", "tru"}},
}
