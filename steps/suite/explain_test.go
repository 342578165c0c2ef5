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
		after     []string // requirements that explain CP-A-1 according to its tags
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
		for i := range all {
			all[i].Verdict = reports.Failed
		}
		explainByExchanges(res, []failure{{Requirement: &all[0], shows: c.shows, owns: c.owns}, {Requirement: &all[1], owns: []int{1}},
			{Requirement: &all[2], owns: []int{2}}, {Requirement: &all[3], owns: []int{3}}})
		assert.Equal(t, c.explained, all[0].ExplainedBy, name)
	}
}

// TestExplainByRepeats checks which failures explain CP-A-1. CP-B-1 is a MUST about isolation, and CP-C-1 a SHOULD without
// a subject.
func TestExplainByRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		subject    string
		of, ofB, C []string // operations
		explained  []string
	}{
		"the same operation":        {of: []string{"a"}, ofB: []string{"a", "b"}, explained: []string{"CP-B-1"}},
		"one of two operations":     {of: []string{"a", "c"}, ofB: []string{"a", "b"}, explained: []string{"CP-B-1"}},
		"another operation":         {of: []string{"c"}, ofB: []string{"a"}},
		"something else":            {ofB: []string{"a"}},
		"both are leaks":            {subject: "isolation", of: []string{"a"}, ofB: []string{"a"}},
		"a SHOULD explains no MUST": {of: []string{"a"}, C: []string{"a"}},
	} {
		a := reports.Requirement{ID: "CP-A-1", Level: reports.Must, Subject: c.subject}
		explainByRepeats([]failure{{Requirement: &a, repeats: c.of},
			{Requirement: &reports.Requirement{ID: "CP-B-1", Level: reports.Must, Subject: "isolation"}, repeats: c.ofB},
			{Requirement: &reports.Requirement{ID: "CP-C-1", Level: reports.Should}, repeats: c.C}})
		assert.Equal(t, c.explained, a.ExplainedBy, name)
	}
}

// TestExplainByRepetitions checks which requirements explain CP-A-1. CP-B-1 has failed, and CP-C-1 has passed.
func TestExplainByRepetitions(t *testing.T) {
	for name, c := range map[string]struct {
		verdict   reports.Verdict
		subject   string
		known     []string // requirements that already explain CP-A-1
		ofB       []string // requirements that explain CP-B-1
		coveredBy []string
		explained []string
	}{
		"a failure":               {coveredBy: []string{"CP-B-1"}, explained: []string{"CP-B-1"}},
		"twice":                   {coveredBy: []string{"CP-B-1", "CP-B-1"}, explained: []string{"CP-B-1"}},
		"no failure":              {coveredBy: []string{"CP-C-1"}},
		"an unknown requirement":  {coveredBy: []string{"CP-X-1"}},
		"nothing":                 {},
		"it has passed":           {verdict: reports.Passed, coveredBy: []string{"CP-B-1"}},
		"a leak":                  {subject: "isolation", coveredBy: []string{"CP-B-1"}},
		"it has an explanation":   {known: []string{"CP-C-1"}, coveredBy: []string{"CP-B-1"}, explained: []string{"CP-C-1"}},
		"it explains the failure": {ofB: []string{"CP-A-1"}, coveredBy: []string{"CP-B-1"}},
	} {
		verdict := c.verdict
		if verdict == "" {
			verdict = reports.Failed
		}
		res := &reports.Result{Requirements: []reports.Requirement{
			{ID: "CP-A-1", Verdict: verdict, Subject: c.subject, ExplainedBy: c.known},
			{ID: "CP-B-1", Verdict: reports.Failed, ExplainedBy: c.ofB}, {ID: "CP-C-1", Verdict: reports.Passed}}}
		explainByRepetitions(res, map[string][]string{"CP-A-1": c.coveredBy})
		assert.Equal(t, c.explained, res.Requirements[0].ExplainedBy, name)
	}
}

func TestLeaksFirst(t *testing.T) {
	var findings []finding
	for _, f := range []reports.Finding{{ID: "a", Requirement: "R-2"}, {ID: "b", Requirement: "R-2"}, {ID: "c", Requirement: "R-1"},
		{ID: "d", Requirement: "R-2"}, {ID: "e", Requirement: "R-1"}} {
		findings = append(findings, finding{Finding: f, isLeak: f.ID == "d" || f.ID == "e"})
	}
	leaksFirst(findings)
	var order []string
	for _, f := range findings {
		order = append(order, f.Requirement+" "+f.ID)
	}
	assert.Equal(t, []string{"R-2 d", "R-2 a", "R-2 b", "R-1 e", "R-1 c"}, order)
}
