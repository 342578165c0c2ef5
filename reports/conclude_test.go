package reports_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

func TestCauses(t *testing.T) {
	r := &reports.Result{Requirements: []reports.Requirement{
		{ID: "A"}, {ID: "B", ExplainedBy: []string{"A"}}, {ID: "C", ExplainedBy: []string{"B", "D"}}, {ID: "D"},
		{ID: "E", ExplainedBy: []string{"lost"}}, {ID: "F", ExplainedBy: []string{"G"}}, {ID: "G", ExplainedBy: []string{"F"}},
	}}
	causes := map[string][]string{}
	for i := range r.Requirements {
		for _, q := range reports.Causes(r, &r.Requirements[i]) {
			causes[r.Requirements[i].ID] = append(causes[r.Requirements[i].ID], q.ID)
		}
	}
	assert.Equal(t, map[string][]string{"A": {"A"}, "B": {"A"}, "C": {"A", "D"}, "D": {"D"}, "E": {"E"}}, causes, "a circle, of another suite, has none")
}
