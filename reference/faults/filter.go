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
			Name: "status-is-ignored", Breaks: "the status filter is checked, and then forgotten", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, _ []controlplane.Status) []controlplane.Revision { return all }),
		},
		{
			Name: "status-without-match-keeps-all", Breaks: "a status filter that matches nothing keeps everything", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				if kept := keep(all, statuses); len(kept) > 0 {
					return kept
				}
				return all
			}),
		},
		{
			Name: "failed-are-never-listed", Breaks: "a status filter never keeps a revision that failed", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return slices.DeleteFunc(keep(all, statuses), func(r controlplane.Revision) bool {
					return statuses != nil && strings.HasSuffix(string(r.Status), "_FAILED")
				})
			}),
		},
		{
			Name: "only-the-first-status-counts", Breaks: "of several statuses only the first is heeded", Fails: "CP-LIST-10",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return keep(all, statuses[:min(1, len(statuses))])
			}),
		},
		{
			Name: "only-the-last-status-counts", Breaks: "of several statuses only the last is heeded", Fails: "CP-LIST-10",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return keep(all, statuses[max(0, len(statuses)-1):])
			}),
		},
		{
			Name: "several-statuses-keep-nothing", Breaks: "several statuses are compared as one word, which no revision has", Fails: "CP-LIST-10",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				if len(statuses) > 1 {
					return nil
				}
				return keep(all, statuses)
			}),
		},
		{
			Name: "several-statuses-are-refused", Breaks: "only one status may be asked for", Fails: "CP-LIST-10",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if strings.Contains(q.Get("status"), ",") {
					q.Set("status", "none")
				}
			}),
		},
		{
			Name: "filter-comes-after-paging", Breaks: "the status filter is applied to the page", Fails: "CP-LIST-10",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				return keep(cut(all, f.Page), f.Statuses)
			}),
		},
		{
			Name: "filter-lifts-the-default-limit", Breaks: "beside a status filter the default limit is forgotten", Fails: "CP-LIST-4",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if q.Has("status") && !q.Has("limit") {
					q.Set("limit", "100")
				}
			}),
		},
		{
			Name: "nul-in-a-status-fails", Breaks: "a NUL character in a status is a server error: the database takes none in a text", Fails: "CP-LIST-11",
			Also:  map[string]string{"CP-ERROR-3": "a server error is one whatever was asked"},
			Apply: failingOn("status", func(value string) bool { return strings.Contains(value, "\x00") }),
		},
		{
			Name: "status-ends-at-nul", Breaks: "a status ends where a NUL character stands in it", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if status, _, cut := strings.Cut(q.Get("status"), "\x00"); cut {
					q.Set("status", status)
				}
			}),
		},
		{
			Name: "unknown-status-keeps-all", Breaks: "a status that does not exist is passed over", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if !isStatus(q.Get("status")) {
					q.Del("status")
				}
			}),
		},
		{
			Name: "status-is-matched-by-its-beginning", Breaks: "a status that begins like a known one, in any case, is taken for it", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				for _, status := range controlplane.Statuses() {
					if given := strings.ToUpper(q.Get("status")); !strings.Contains(given, ",") && strings.HasPrefix(given, string(status)) {
						q.Set("status", string(status))
					}
				}
			}),
		},
		{
			Name: "unknown-status-fails", Breaks: "a status that does not exist is a server error", Fails: "CP-LIST-11",
			Also: map[string]string{"CP-ERROR-3": "a server error is one whatever was asked"},
			Apply: onProblemWith("status", func(_ *http.Request, a *answer) {
				a.refuse(http.StatusInternalServerError, "Internal Server Error")
			}),
		},
		{
			Name: "remote-reconciled-true-is-refused", Breaks: "remote_reconciled takes 0 and 1 only", Fails: "CP-LIST-12",
			Apply: replacing("remote_reconciled", "true", "no boolean"),
		},
		{
			Name: "remote-reconciled-is-lenient", Breaks: "what is no boolean is false as remote_reconciled", Fails: "CP-LIST-12",
			Apply: replacing("remote_reconciled", "maybe", "false"),
		},
		{
			Name: "remote-reconciled-counts", Breaks: "any number but 0 is true as remote_reconciled", Fails: "CP-LIST-12",
			Apply: replacing("remote_reconciled", "2", "true"),
		},
		{
			Name: "remote-reconciled-is-refused-under-another-name", Breaks: "the refusal of remote_reconciled names reconciled", Fails: "CP-LIST-12",
			Apply: renaming("remote_reconciled", "reconciled"),
		},
	}
}

// filtering keeps other revisions than the statuses of a list say. Without a filter there are none.
func filtering(kept func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision) Layer {
	return lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
		if f.Statuses != nil {
			all = kept(all, f.Statuses)
		}
		return cut(all, f.Page)
	})
}

// failingOn answers a list of revisions with a server error where the parameter has such a value.
func failingOn(parameter string, such func(value string) bool) Layer {
	return onAnswer(listRevisions, func(r *http.Request, a *answer) {
		if a.status != http.StatusNotFound && such(r.URL.Query().Get(parameter)) {
			a.refuse(http.StatusInternalServerError, "Internal Server Error")
		}
	})
}

// isStatus says that every word of a comma-separated list is a status.
func isStatus(list string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if !slices.Contains(controlplane.Statuses(), controlplane.Status(word)) {
			return false
		}
	}
	return true
}
