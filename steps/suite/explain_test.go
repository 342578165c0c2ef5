package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// TestExplainByExchanges checks which requirements explain CP-A-1, which is a MUST and not about isolation unless the row
// says so. CP-B-1 (MUST) owns exchange 1, CP-C-1 (SHOULD) owns exchange 2, and CP-D-1 (MUST) owns exchange 3. CP-A-1
// explains CP-D-1.
func TestExplainByExchanges(t *testing.T) {
	for name, c := range map[string]struct {
		level     reports.Level
		subject   string
		shows     [][]int
		owns      []int
		after     []string // what explains CP-A-1 by its tags
		explained []string
	}{
		"the same exchange":                {shows: [][]int{{1}}, explained: []string{"CP-B-1"}},
		"several times":                    {shows: [][]int{{1}, {1}}, explained: []string{"CP-B-1"}},
		"one of two exchanges":             {shows: [][]int{{1}, {9}}},
		"another exchange":                 {shows: [][]int{{9}}},
		"no exchange":                      {},
		"a violation without an exchange":  {shows: [][]int{{1}, {0}}},
		"a SHOULD does not explain a MUST": {shows: [][]int{{2}}},
		"two causes of a SHOULD":           {level: reports.Should, shows: [][]int{{2}, {1}}, explained: []string{"CP-C-1", "CP-B-1"}},
		"a leak":                           {subject: "isolation", shows: [][]int{{1}}},
		"a tag explains it":                {shows: [][]int{{1}}, after: []string{"CP-C-1"}, explained: []string{"CP-C-1"}},
		"each would explain the other":     {shows: [][]int{{3}}},
		"an exchange that it owns":         {shows: [][]int{{4}}, owns: []int{4}},
	} {
		level := c.level
		if level == "" {
			level = reports.Must
		}
		res := &reports.Result{Requirements: []reports.Requirement{
			{ID: "CP-A-1", Level: level, Subject: c.subject, ExplainedBy: c.after}, {ID: "CP-B-1", Level: reports.Must},
			{ID: "CP-C-1", Level: reports.Should}, {ID: "CP-D-1", Level: reports.Must, ExplainedBy: []string{"CP-A-1"}},
		}}
		all := res.Requirements
		explainByExchanges(res, []failure{{&all[0], c.shows, c.owns}, {&all[1], nil, []int{1}}, {&all[2], nil, []int{2}},
			{&all[3], nil, []int{3}}})
		assert.Equal(t, c.explained, all[0].ExplainedBy, name)
	}
}
