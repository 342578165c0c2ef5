package html

import (
	"cmp"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// scopeView says which requirements were not judged, and why.
type scopeView struct {
	Partial       bool
	Judged, All   int         // judged: passed or failed
	Open          string      // those that could not be judged, by verdict
	LeftOut       []skipGroup // what makes the run a part
	NotApplicable []skipGroup
}

// skipGroup holds the requirements that were not judged for one typed cause.
type skipGroup struct {
	Label string
	N     int
	IDs   []requirementLink // none where the result does not name them
	skip  reports.Skip
}

// requirementLink is an ID, and whether the page shows that requirement.
type requirementLink struct {
	ID    string
	Shown bool
}

// Open tells whether a group is short enough to be shown at once.
func (g skipGroup) Open() bool { return len(g.IDs) <= maxIDs }

func scopeOf(r *reports.Result) scopeView {
	var left, rest []reports.NotJudged
	for _, n := range r.NotJudged {
		if n.Kind == reports.NotApplicable {
			rest = append(rest, n)
		} else {
			left = append(left, n)
		}
	}
	s := scopeView{All: max(r.Suite.Requirements, len(r.Requirements)), Partial: r.Scope == reports.ScopePart,
		LeftOut: grouped(r, left), NotApplicable: grouped(r, rest)}
	open := map[reports.Verdict]int{}
	for _, q := range r.Requirements {
		switch q.Verdict {
		case reports.Passed, reports.Failed:
			s.Judged++
		case reports.Blocked, reports.Inconclusive:
			open[q.Verdict]++
		}
	}
	if len(open) > 0 {
		s.Open = overview.VerdictCounts(open)
	}
	return s
}

// grouped groups by kind and key, the largest group first.
func grouped(r *reports.Result, all []reports.NotJudged) []skipGroup {
	shown := map[string]bool{}
	for _, q := range r.Requirements {
		shown[q.ID] = true
	}
	var groups []skipGroup
	for _, n := range all {
		skip := reports.Skip{Kind: n.Kind, Key: n.Key}
		at := slices.IndexFunc(groups, func(g skipGroup) bool { return g.skip == skip })
		if at < 0 {
			at = len(groups)
			groups = append(groups, skipGroup{Label: skipLabel(skip), skip: skip})
		}
		groups[at].IDs = append(groups[at].IDs, requirementLink{n.ID, shown[n.ID]})
		groups[at].N++
	}
	slices.SortStableFunc(groups, func(a, b skipGroup) int { return b.N - a.N })
	return groups
}

// skipLabel names a cause and, where a key of the configuration would change it, what to do.
func skipLabel(s reports.Skip) string {
	words := map[reports.SkipKind][2]string{
		reports.NotApplicable: {"not applicable", ""},
		reports.NotConfigured: {"not configured", "set "},
		reports.NotSelected:   {"not selected", ""},
		reports.NotClaimed:    {"not claimed", ""},
		reports.OverBudget:    {"over budget", "raise "},
	}[s.Kind]
	label := cmp.Or(words[0], string(s.Kind), "no cause recorded")
	if s.Key == "" {
		return label
	}
	return label + ": " + words[1] + s.Key
}
