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
	left := notJudged(r)
	s := scopeView{All: max(r.Suite.Requirements, len(r.Requirements)), LeftOut: grouped(r, left)}
	// A file of an older version has no scope: what it left out is then derived.
	s.Partial = r.Scope == reports.ScopePart || r.Scope == "" && !reports.Whole(r)
	var rest []reports.NotJudged
	for _, q := range r.Requirements {
		if q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			rest = append(rest, reports.NotJudged{ID: q.ID, Kind: q.Skip.Kind, Key: q.Skip.Key})
		}
	}
	s.NotApplicable = grouped(r, rest)
	if unnamed := s.All - len(r.Requirements); r.Scope == "" && unnamed > 0 {
		s.LeftOut = append(s.LeftOut, skipGroup{Label: "not selected", N: unnamed})
	}
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

// notJudged lists what the result says was left out, else the skipped requirements that apply.
func notJudged(r *reports.Result) []reports.NotJudged {
	if r.Scope != "" {
		return slices.DeleteFunc(slices.Clone(r.NotJudged), func(n reports.NotJudged) bool { return n.Kind == reports.NotApplicable })
	}
	var all []reports.NotJudged
	for _, q := range r.Requirements {
		if q.Verdict != reports.Skipped || q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			continue
		}
		n := reports.NotJudged{ID: q.ID}
		if q.Skip != nil {
			n.Kind, n.Key = q.Skip.Kind, q.Skip.Key
		}
		all = append(all, n)
	}
	return all
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
