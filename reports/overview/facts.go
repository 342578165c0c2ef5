package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Fact is a name and a value of the whole run that every format shows.
type Fact struct{ Name, Value string }

// Facts says what was judged, how much of it, by what, and with which verdict.
func Facts(r *reports.Result) []Fact {
	facts := []Fact{
		{"verdict", DisplayVerdictOf(r).String()}, {"scope", string(r.Scope)}, {"supports", strings.Join(r.Target.Supports, ", ")}, {"claims", BrokenClaims(r)}, {"requirements", CountsOf(r).String()},
		{"target", Subjects(r)}, {"suite", r.Suite.Version}, {"commit", r.Suite.Commit}, {"interface", r.Suite.Interface},
		{"digest", r.Suite.Digest}, {"run", r.Run.ID}, {"seed", fmt.Sprint(r.Run.Seed)}, {"stopped", r.Run.Stopped},
	}
	for _, g := range NotJudged(r) {
		facts = append(facts, Fact{"not_judged", g})
	}
	for _, note := range Notes(r) {
		facts = append(facts, Fact{"note", note})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// NotJudged lists what was left out, one text for each cause: "not configured: create.body (2): CP-CREATE-1, CP-CREATE-2".
func NotJudged(r *reports.Result) []string {
	var causes []reports.Skip
	ids := map[reports.Skip][]string{}
	for _, n := range r.NotJudged {
		s := reports.Skip{Kind: n.Kind, Key: n.Key}
		if ids[s] == nil {
			causes = append(causes, s)
		}
		ids[s] = append(ids[s], n.ID)
	}
	slices.SortStableFunc(causes, func(a, b reports.Skip) int { return cmp.Compare(len(ids[b]), len(ids[a])) })
	var all []string
	for _, s := range causes {
		all = append(all, fmt.Sprintf("%s (%d): %s", skipInWords(s), len(ids[s]), strings.Join(ids[s], ", ")))
	}
	return all
}
