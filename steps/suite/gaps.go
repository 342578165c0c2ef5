package suite

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
)

// Gap is a cause for which requirements are not judged, or not in all their scenarios.
type Gap struct {
	Skip   reports.Skip
	Reason string                  // for people
	Whole  []*features.Requirement // not judged at all
	part   []*features.Requirement
}

// Gaps returns what the configuration leaves out of the scenarios, in their order, and how many requirements it lets
// judge. A requirement that lacks several keys is listed with each.
func (f *Forecast) Gaps(scenarios []*features.Scenario) (gaps []*Gap, judged int) {
	for len(scenarios) > 0 {
		q := scenarios[0].Requirement
		end := slices.IndexFunc(scenarios, func(s *features.Scenario) bool { return s.Requirement != q })
		if end < 0 {
			end = len(scenarios)
		}
		found, free := map[*Gap]int{}, false // in how many scenarios
		for _, s := range scenarios[:end] {
			here := map[*Gap]bool{}
			for _, o := range f.Lacking(s) {
				at := slices.IndexFunc(gaps, func(g *Gap) bool { return g.Skip == *o.Skip })
				if at < 0 {
					at = len(gaps)
					gaps = append(gaps, &Gap{Skip: *o.Skip, Reason: o.Reason})
				}
				here[gaps[at]] = true
			}
			for g := range here {
				found[g]++
			}
			free = free || len(here) == 0
		}
		if free {
			judged++
		}
		for g, n := range found {
			if n == end {
				g.Whole = append(g.Whole, q)
			} else {
				g.part = append(g.part, q)
			}
		}
		scenarios = scenarios[end:]
	}
	return gaps, judged
}

// Named names the requirements of the catalogue; those of a group that is there whole as --only takes them.
func (g *Gap) Named(c *features.Catalogue) string {
	var names []string
	done := map[*features.Requirement]bool{}
	for _, q := range g.Whole {
		if done[q] {
			continue
		}
		name, group := q.ID, []*features.Requirement{q}
		for _, pattern := range groups(q.ID) {
			if members := matching(c, pattern); len(members) > 2 && isSubset(members, g.Whole) {
				name, group = pattern, members
				break
			}
		}
		for _, member := range group {
			done[member] = true
		}
		names = append(names, name)
	}
	for _, q := range g.part {
		names = append(names, q.ID+" in part")
	}
	return strings.Join(names, ", ")
}

// groups are the patterns of the requirements beside one, the widest first: CP-* and CP-LIST-* for CP-LIST-3.
func groups(id string) []string {
	side, _, _ := strings.Cut(id, "-")
	return []string{side + "-*", id[:strings.LastIndex(id, "-")+1] + "*"}
}

func isSubset(some, all []*features.Requirement) bool {
	return !slices.ContainsFunc(some, func(q *features.Requirement) bool { return !slices.Contains(all, q) })
}
