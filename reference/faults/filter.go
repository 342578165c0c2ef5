package faults

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane"
)

func filters() []Fault {
	return []Fault{
		{
			Name: "status-is-ignored", Breaks: "the status filter is validated and then ignored", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, _ []controlplane.Status) []controlplane.Revision { return all }),
		},
		{
			Name: "status-without-match-keeps-all", Breaks: "a status filter that matches nothing returns all revisions", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				if kept := keep(all, statuses); len(kept) > 0 {
					return kept
				}
				return all
			}),
		},
		{
			Name: "failed-are-never-listed", Breaks: "failed revisions are missing from every list with a status filter", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return slices.DeleteFunc(keep(all, statuses), func(r controlplane.Revision) bool {
					return statuses != nil && strings.HasSuffix(string(r.Status), "_FAILED")
				})
			}),
		},
		{
			Name: "only-the-first-status-counts", Breaks: "only the first of several statuses is applied", Fails: "CP-LIST-10",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return keep(all, statuses[:min(1, len(statuses))])
			}),
		},
		{
			Name: "only-the-last-status-counts", Breaks: "only the last of several statuses is applied", Fails: "CP-LIST-10",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return keep(all, statuses[max(0, len(statuses)-1):])
			}),
		},
		{
			Name: "several-statuses-keep-nothing", Breaks: "a filter with several statuses matches no revision", Fails: "CP-LIST-10",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				if len(statuses) > 1 {
					return nil
				}
				return keep(all, statuses)
			}),
		},
		{
			Name: "several-statuses-are-refused", Breaks: "a filter with several statuses returns 422", Fails: "CP-LIST-10",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if strings.Contains(q.Get("status"), ",") {
					q.Set("status", "none")
				}
			}),
		},
		{
			Name: "filter-comes-after-paging", Breaks: "the status filter is applied after paging", Fails: "CP-LIST-10",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				return keep(cut(all, f.Page), f.Statuses)
			}),
		},
		{
			Name: "filter-lifts-the-default-limit", Breaks: "the default limit is 100 with a status filter", Fails: "CP-LIST-4",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if q.Has("status") && !q.Has("limit") {
					q.Set("limit", "100")
				}
			}),
		},
		{
			Name: "nul-in-a-status-fails", Breaks: "a NUL character in the status filter returns 500", Fails: "CP-LIST-11",
			Also:  map[string]string{"CP-ERROR-3": "every 5xx fails it"},
			Apply: failingOn("status", func(value string) bool { return strings.Contains(value, "\x00") }),
		},
		{
			Name: "status-ends-at-nul", Breaks: "the status filter is truncated at a NUL character", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if status, _, cut := strings.Cut(q.Get("status"), "\x00"); cut {
					q.Set("status", status)
				}
			}),
		},
		{
			Name: "unknown-status-keeps-all", Breaks: "an unknown status in the filter is ignored", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if !isStatus(q.Get("status")) {
					q.Del("status")
				}
			}),
		},
		{
			Name: "status-is-matched-by-its-beginning", Breaks: "a filter value that starts with a known status, in any case, is accepted as that status", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				for _, status := range controlplane.Statuses() {
					if given := strings.ToUpper(q.Get("status")); !strings.Contains(given, ",") && strings.HasPrefix(given, string(status)) {
						q.Set("status", string(status))
					}
				}
			}),
		},
		{
			Name: "unknown-status-fails", Breaks: "an unknown status in the filter returns 500", Fails: "CP-LIST-11",
			Also: map[string]string{"CP-ERROR-3": "every 5xx fails it"},
			Apply: onProblemWith("status", func(_ *http.Request, a *answer) {
				a.refuse(http.StatusInternalServerError, "Internal Server Error")
			}),
		},
		{
			Name: "remote-reconciled-true-is-refused", Breaks: "remote_reconciled=true returns 422", Fails: "CP-LIST-12",
			Apply: replacing("remote_reconciled", "true", "not-a-boolean"),
		},
		{
			Name: "remote-reconciled-is-lenient", Breaks: "remote_reconciled=maybe is accepted as false", Fails: "CP-LIST-12",
			Apply: replacing("remote_reconciled", "maybe", "false"),
		},
		{
			Name: "remote-reconciled-counts", Breaks: "remote_reconciled=2 is accepted as true", Fails: "CP-LIST-12",
			Apply: replacing("remote_reconciled", "2", "true"),
		},
		{
			Name: "remote-reconciled-is-refused-under-another-name", Breaks: "the 422 for remote_reconciled names reconciled", Fails: "CP-LIST-12",
			Apply: renaming("remote_reconciled", "reconciled"),
		},
		{
			Name: "remote-reconciled-is-ignored", Breaks: "remote_reconciled is validated and then ignored", Fails: "CP-LIST-17",
			Apply: replacing("remote_reconciled", "true", "false"),
		},
		{
			Name: "remote-reconciled-false-keeps-all", Breaks: "remote_reconciled=false returns all revisions", Fails: "CP-LIST-17", Edition: selfHosted,
			Apply: replacing("remote_reconciled", "false", "true"),
		},
	}
}

// filtering replaces the status filter. It is not called for lists without one.
func filtering(kept func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision) Layer {
	return lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
		if f.Statuses != nil {
			all = kept(all, f.Statuses)
		}
		return cut(all, f.Page)
	})
}

// failingOn answers list revisions with 500 if the parameter has such a value.
func failingOn(parameter string, such func(value string) bool) Layer {
	return onAnswer(listRevisions, func(r *http.Request, a *answer) {
		if a.status != http.StatusNotFound && such(r.URL.Query().Get(parameter)) {
			a.refuse(http.StatusInternalServerError, "Internal Server Error")
		}
	})
}

// isStatus reports whether every element of a comma-separated list is a status.
func isStatus(list string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if !slices.Contains(controlplane.Statuses(), controlplane.Status(word)) {
			return false
		}
	}
	return true
}
