package faults

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane"
)

func limits() []Fault {
	return []Fault{
		{
			Name: "limit-needs-an-offset", Breaks: "limit is ignored if there is no offset", Fails: "CP-LIST-2",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if n, err := strconv.Atoi(q.Get("limit")); err == nil && n >= 1 && n <= 100 && !q.Has("offset") {
					q.Del("limit")
				}
			}),
		},
		{
			Name: "limit-100-is-refused", Breaks: "limit=100 returns 422", Fails: "CP-LIST-2",
			Apply: replacing("limit", "100", "101"),
		},
		{
			Name: "limit-is-capped-at-20", Breaks: "a limit above 20 is reduced to 20", Fails: "CP-LIST-2",
			Also: map[string]string{"CP-LIST-6": "pages with a limit above 20 then have gaps"},
			Apply: onQuery(listRevisions, func(q url.Values) {
				if n, err := strconv.Atoi(q.Get("limit")); err == nil && n > 20 && n <= 100 {
					q.Set("limit", "20")
				}
			}),
		},
		{
			Name: "limit-0-is-the-default", Breaks: "limit=0 is accepted as the default limit", Fails: "CP-LIST-3",
			Apply: replacing("limit", "0", ""),
		},
		{
			Name: "limit-101-is-served", Breaks: "limit=101 is accepted as 100 instead of refused with 422", Fails: "CP-LIST-3",
			Apply: replacing("limit", "101", "100"),
		},
		{
			Name: "negative-limit-is-served", Breaks: "limit=-1 is accepted as 1", Fails: "CP-LIST-3",
			Apply: replacing("limit", "-1", "1"),
		},
		{
			Name: "fraction-of-a-limit-is-cut", Breaks: "limit=1.5 is accepted as 1", Fails: "CP-LIST-3",
			Apply: replacing("limit", "1.5", "1"),
		},
		{
			Name: "empty-limit-is-the-default", Breaks: "an empty limit is treated as absent", Fails: "CP-LIST-3",
			Apply: replacing("limit", "", ""),
		},
		{
			Name: "huge-limit-overflows", Breaks: "a limit beyond 64 bits is accepted as 100", Fails: "CP-LIST-3",
			Apply: replacing("limit", "99999999999999999999", "100"),
		},
		{
			Name: "limit-is-refused-under-another-name", Breaks: "the 422 for limit names page_size", Fails: "CP-LIST-3",
			Apply: renaming("limit", "page_size"),
		},
		{
			Name: "default-limit-is-10", Breaks: "list revisions without limit returns up to 10 revisions", Fails: "CP-LIST-4",
			Apply: defaultLimit("10"),
		},
		{
			Name: "default-limit-is-100", Breaks: "list revisions without limit returns up to 100 revisions", Fails: "CP-LIST-4",
			Apply: defaultLimit("100"),
		},
		{
			Name: "default-limit-is-21", Breaks: "list revisions without limit returns up to 21 revisions", Fails: "CP-LIST-4",
			Apply: defaultLimit("21"),
		},
	}
}

// replacing changes a value of a parameter; an empty value removes the parameter.
func replacing(parameter, value, other string) Layer {
	return onQuery(listRevisions, func(q url.Values) {
		if slices.Equal(q[parameter], []string{value}) {
			q.Set(parameter, other)
			if other == "" {
				q.Del(parameter)
			}
		}
	})
}

// renaming changes the name of a parameter in validation errors.
func renaming(parameter, other string) Layer {
	return onProblems(func(problem map[string]any) {
		if loc, _ := problem["loc"].([]any); len(loc) == 2 && loc[1] == parameter {
			loc[1] = other
		}
	})
}

// onProblems changes each validation error in the 422 of list revisions.
func onProblems(change func(problem map[string]any)) Layer {
	return onStatus(listRevisions, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
		a.edit(func(o map[string]any) {
			for _, problem := range items(o["detail"]) {
				change(problem)
			}
		})
	})
}

func defaultLimit(limit string) Layer {
	return onQuery(listRevisions, func(q url.Values) {
		if !q.Has("limit") {
			q.Set("limit", limit)
		}
	})
}

func offsets() []Fault {
	return []Fault{
		{
			Name: "offset-below-0-is-0", Breaks: "offset=-1 is accepted as 0", Fails: "CP-LIST-5",
			Apply: replacing("offset", "-1", "0"),
		},
		{
			Name: "fraction-of-an-offset-is-cut", Breaks: "offset=0.5 is accepted as 0", Fails: "CP-LIST-5",
			Apply: replacing("offset", "0.5", "0"),
		},
		{
			Name: "empty-offset-is-0", Breaks: "an empty offset is treated as absent", Fails: "CP-LIST-5",
			Apply: replacing("offset", "", ""),
		},
		{
			Name: "offset-is-refused-under-another-name", Breaks: "the 422 for offset names page", Fails: "CP-LIST-5",
			Apply: renaming("offset", "page"),
		},
		{
			Name: "offset-is-the-one-sent", Breaks: "the returned offset is the requested one", Fails: "CP-LIST-7",
			Apply: returning(func(sent, _ int) int { return sent }),
		},
		{
			Name: "offset-is-the-count", Breaks: "the returned offset is the number of revisions on the page", Fails: "CP-LIST-7",
			Apply: returning(func(_, count int) int { return count }),
		},
		{
			Name: "offset-is-one-too-far", Breaks: "the returned offset is one too high", Fails: "CP-LIST-7",
			Apply: returning(func(sent, count int) int { return sent + count + 1 }),
		},
		{
			Name: "offset-is-that-of-the-last", Breaks: "the returned offset is one too low, so that the next page repeats a revision", Fails: "CP-LIST-7",
			Apply: returning(func(sent, count int) int { return max(sent+count-1, 0) }),
		},
		{
			Name: "page-past-the-end-is-404", Breaks: "an offset past the end returns 404", Fails: "CP-LIST-8",
			Apply: onAnswer(listRevisions, func(r *http.Request, a *answer) {
				if offset := r.URL.Query().Get("offset"); a.status == http.StatusOK && offset != "" && offset != "0" && len(items(a.object()["resources"])) == 0 {
					a.refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" has no such page.")
				}
			}),
		},
		{
			Name: "far-offset-is-0", Breaks: "an offset from 10,001 to 1,000,000 returns the first page", Fails: "CP-LIST-8",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if n, err := strconv.Atoi(q.Get("offset")); err == nil && n > 10_000 && n <= 1_000_000 {
					q.Set("offset", "0")
				}
			}),
		},
		{
			Name: "offset-beyond-32-bits-fails", Breaks: "an offset beyond 32 bits returns 500", Fails: "CP-LIST-8",
			Also: map[string]string{"CP-ERROR-3": "every 5xx fails it"},
			Apply: failingOn("offset", func(value string) bool {
				_, err := strconv.ParseInt(value, 10, 32)
				return errors.Is(err, strconv.ErrRange)
			}),
		},
		{
			Name: "offset-beyond-64-bits-is-0", Breaks: "an offset beyond 64 bits returns the first page", Fails: "CP-LIST-8",
			Apply: replacing("offset", "9223372036854775808", "0"),
		},
		{
			Name: "far-offset-is-refused", Breaks: "an offset above 10,000 returns 422", Fails: "CP-LIST-8",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if n, err := strconv.Atoi(q.Get("offset")); err == nil && n > 10_000 {
					q.Set("offset", "-1")
				}
			}),
		},
	}
}

// clampedTo is a bound of a server's own.
const clampedTo = "4611686018427387904" // 1<<62

// clamping replaces an offset beyond 64 bits.
func clamping() Layer {
	return onQuery(listRevisions, func(q url.Values) {
		if _, err := strconv.ParseInt(q.Get("offset"), 10, 64); errors.Is(err, strconv.ErrRange) {
			q.Set("offset", clampedTo)
		}
	})
}

// returning changes the returned offset, given the requested one and the number of revisions.
func returning(offset func(sent, count int) int) Layer {
	return onAnswer(listRevisions, func(r *http.Request, a *answer) {
		if a.status != http.StatusOK {
			return
		}
		sent, _ := strconv.Atoi(r.URL.Query().Get("offset")) // 0 if absent
		a.edit(func(list map[string]any) { list["offset"] = offset(sent, len(items(list["resources"]))) })
	})
}

func pages() []Fault {
	return []Fault{
		{
			Name: "offset-is-rounded-to-a-page", Breaks: "the offset is rounded down to a multiple of the limit", Fails: "CP-LIST-6",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				f.Page.Offset = f.Page.Offset / f.Page.Limit * f.Page.Limit
				return cut(keep(all, f.Statuses), f.Page)
			}),
		},
		{
			Name: "first-of-a-page-is-lost", Breaks: "every page after the first starts one revision too late", Fails: "CP-LIST-6",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				if f.Page.Offset > 0 {
					f.Page.Offset = min(f.Page.Offset, len(all)) + 1
				}
				return cut(keep(all, f.Statuses), f.Page)
			}),
		},
		{
			Name: "last-of-a-page-comes-again", Breaks: "every page after the first starts with the last revision of the previous page", Fails: "CP-LIST-6",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				if f.Page.Offset > 0 && f.Page.Offset < len(keep(all, f.Statuses)) {
					f.Page.Offset--
				}
				return cut(keep(all, f.Statuses), f.Page)
			}),
		},
	}
}

func listing() []Fault {
	return []Fault{
		{
			Name: "empty-list-is-null", Breaks: "resources is null in an empty list", Fails: "CP-LIST-1",
			Also: map[string]string{"CP-CONTRACT-list-revisions": sameInContract},
			Apply: onObject(listRevisions, func(list map[string]any) {
				if len(items(list["resources"])) == 0 {
					list["resources"] = nil
				}
			}),
		},
		{
			Name: "offset-is-a-text", Breaks: "the returned offset is a string", Fails: "CP-LIST-1",
			Also: map[string]string{"CP-CONTRACT-list-revisions": sameInContract},
			Apply: onObject(listRevisions, func(list map[string]any) {
				if n, ok := list["offset"].(json.Number); ok {
					list["offset"] = n.String()
				}
			}),
		},
		{
			Name: "last-page-has-no-offset", Breaks: "the returned offset is null on the last page", Fails: "CP-LIST-1",
			Also: map[string]string{"CP-CONTRACT-list-revisions": sameInContract},
			Apply: onAnswer(listRevisions, func(r *http.Request, a *answer) {
				limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
				if err != nil {
					limit = 20
				}
				if a.status == http.StatusOK && len(items(a.object()["resources"])) < limit {
					a.edit(func(list map[string]any) { list["offset"] = nil })
				}
			}),
		},
		{
			Name: "oldest-comes-first", Breaks: "list revisions returns the oldest revision first", Fails: "CP-LIST-15",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				slices.Reverse(all)
				return cut(keep(all, f.Statuses), f.Page)
			}),
		},
		{
			Name: "order-changes", Breaks: "the order of the revisions on a page changes with each request", Fails: "CP-LIST-15",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !listRevisions.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				a.edit(func(list map[string]any) {
					if rows, _ := list["resources"].([]any); len(rows) > 1 {
						n := m.count(deploymentOf(r)) % len(rows)
						list["resources"] = append(rows[n:len(rows):len(rows)], rows[:n]...)
					}
				})
				a.send(w)
			}),
		},
		{
			Name: "old-revisions-have-another-source", Breaks: "source is internal_container for all revisions after the tenth in a list", Fails: "CP-LIST-16",
			Apply: onObject(listRevisions, func(list map[string]any) {
				for i, row := range items(list["resources"]) {
					if i >= 10 {
						row["source"] = "internal_container"
					}
				}
			}),
		},
		{
			Name: "unknown-deployment-has-no-revisions", Breaks: "list revisions returns 200 with an empty list for an unknown deployment", Fails: "CP-LIST-13",
			Apply: onStatus(listRevisions, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{"resources": []any{}, "offset": 0})
			}),
		},
		{
			Name: "not-found-names-nothing", Breaks: "the 404 of list revisions does not contain the id", Fails: "CP-LIST-13",
			Apply: onStatus(listRevisions, http.StatusNotFound, func(_ *http.Request, a *answer) { a.refuse(http.StatusNotFound, "Not Found") }),
		},
		{
			Name: "not-found-names-half-an-id", Breaks: "the 404 of list revisions contains only the first part of the id", Fails: "CP-LIST-13",
			Apply: onStatus(listRevisions, http.StatusNotFound, func(r *http.Request, a *answer) {
				short, _, _ := strings.Cut(deploymentOf(r), "-")
				a.refuse(http.StatusNotFound, "Deployment ID "+short+"... not found.")
			}),
		},
		{
			Name: "invalid-id-is-not-found", Breaks: "list revisions returns 404 instead of 422 for an id that is not a UUID", Fails: "CP-LIST-14",
			Apply: onProblemWith("deployment_id", func(r *http.Request, a *answer) {
				a.refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" not found.")
			}),
		},
		{
			Name: "invalid-id-is-refused-as-id", Breaks: "the 422 for deployment_id names id", Fails: "CP-LIST-14",
			Apply: renaming("deployment_id", "id"),
		},
		{
			Name: "any-36-characters-are-an-id", Breaks: "list revisions returns 404 instead of 422 for an invalid id of 36 characters", Fails: "CP-LIST-14",
			Apply: onProblemWith("deployment_id", func(r *http.Request, a *answer) {
				if len(deploymentOf(r)) == 36 {
					a.refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" not found.")
				}
			}),
		},
	}
}

// onProblemWith changes the 422 of list revisions that names the parameter.
func onProblemWith(parameter string, change func(r *http.Request, a *answer)) Layer {
	return onStatus(listRevisions, http.StatusUnprocessableEntity, func(r *http.Request, a *answer) {
		if strings.Contains(string(a.body), `"`+parameter+`"`) {
			change(r, a)
		}
	})
}
