package suite

import (
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
)

// absent lists the requirements of the catalogue that were not selected, with the option that left them out.
func absent(c *features.Catalogue, selected Selection, res *reports.Result) []reports.NotJudged {
	var all []reports.NotJudged
	for _, q := range c.Requirements {
		if !slices.ContainsFunc(res.Requirements, func(had reports.Requirement) bool { return had.ID == q.ID }) {
			all = append(all, reports.NotJudged{ID: q.ID, Kind: reports.NotSelected, Key: selected.LeavesOut(q.ID)})
		}
	}
	return all
}
