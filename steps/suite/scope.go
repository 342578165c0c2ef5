package suite

import (
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// absent lists the requirements of the catalogue that were not selected, with the option that left them out.
func (r *run) absent(res *reports.Result) []reports.NotJudged {
	var all []reports.NotJudged
	for _, q := range r.Catalogue.Requirements {
		if !slices.ContainsFunc(res.Requirements, func(had reports.Requirement) bool { return had.ID == q.ID }) {
			all = append(all, reports.NotJudged{ID: q.ID, Kind: reports.NotSelected, Key: r.Select.LeavesOut(q.ID)})
		}
	}
	return all
}
