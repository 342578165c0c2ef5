package faults

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane"
)

func filters() []Fault {
	return []Fault{
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
			Name: "filter-comes-after-paging", Breaks: "the status filter is applied after paging", Fails: "CP-LIST-10",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				return keep(cut(all, f.Page), f.Statuses)
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
