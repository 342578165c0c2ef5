package suite

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// Plan says what the scenarios create, whatever the budget, by their tags, with the first revision of each deployment. What depends on
// answers is not known yet.
func (f *Forecast) Plan(scenarios []*features.Scenario) (p plane.Cost) {
	paid := map[string]bool{}
	for _, s := range scenarios {
		c := f.cost(s, paid)
		p.Deployments += c.Deployments
		p.Revisions += c.Deployments + c.Revisions
	}
	return p
}

// cost is what a scenario creates at most, beside the shared deployments that are paid already. It notes those that it pays.
func (f *Forecast) cost(s *features.Scenario, paid map[string]bool) (sum plane.Cost) {
	if len(f.Lacking(s)) > 0 {
		return sum
	}
	sum = plane.Cost{Deployments: s.Terms.Deployments, Revisions: s.Terms.Revisions}
	for _, name := range f.shared(s) {
		member := name
		if name == plane.Changing {
			member += strconv.Itoa(f.Member(s))
		}
		if !paid[member] {
			paid[member] = true
			sum.Deployments += plane.SharedCost(name).Deployments
			sum.Revisions += plane.SharedCost(name).Revisions
		}
	}
	return sum
}

// Spend gives out the deployments of max_deployments before the run, in the order of the features: a scenario that
// needs more than are left is left out. Neither the seed nor the pace of the target decides.
func (f *Forecast) Spend(scenarios []*features.Scenario) {
	most := f.config.MaxDeployments
	if most == 0 {
		return
	}
	f.over = map[string]*outcome.Outcome{}
	paid, left := map[string]bool{}, most
	for _, s := range scenarios {
		with := maps.Clone(paid)
		if cost := f.cost(s, with).Deployments; cost > left {
			f.over[s.Key()] = outcome.OverBudget("max_deployments", "the budget is used up: raise max_deployments (now %d)", most)
		} else {
			paid, left = with, left-cost
		}
	}
}

// Share spreads the scenarios that change a shared deployment over a few, as far as max_deployments allows: each holds
// it alone, and who comes after one that has created a revision waits until that is built. It comes after
// [Forecast.Spend].
func (f *Forecast) Share(scenarios []*features.Scenario) {
	var creating, others []*features.Scenario
	for _, s := range scenarios {
		switch {
		case !slices.Contains(s.Terms.Shares, plane.Changing) || len(f.Lacking(s)) > 0:
		case s.Terms.Revisions > 0:
			creating = append(creating, s)
		default:
			others = append(others, s)
		}
	}
	size := min(plane.PoolSize, len(creating))
	if most := f.config.MaxDeployments; most > 0 {
		size = min(size, 1+most-f.Plan(scenarios).Deployments)
	}
	if size < 2 {
		return
	}
	f.member = map[string]int{}
	for i, s := range append(creating, others...) {
		f.member[s.Key()] = i % size
	}
}

// Member is which of the shared deployments that scenarios change this one changes, from 0.
func (f *Forecast) Member(s *features.Scenario) int { return f.member[s.Key()] }

// Preview is what a run would do, as far as that is known without a request: what answers would change is not in it.
type Preview struct {
	plane.Cost
	Scenarios, Requirements int    // that are selected
	Judged                  int    // of these requirements, those that would be judged
	Gaps                    []*Gap // what would be left out, and why
}

// PreviewOf returns what a run of the selection would do. It sends nothing.
func PreviewOf(c *config.Config, catalogue *features.Catalogue, s Selection) (*Preview, error) {
	selected, err := s.Apply(catalogue)
	if err != nil {
		return nil, err
	}
	f := Foresee(c, s)
	f.existing.Assume()
	f.Spend(selected)
	f.Share(selected)
	p := &Preview{Cost: f.Plan(selected), Scenarios: len(selected)}
	p.Gaps, p.Judged = f.Gaps(selected)
	seen := map[*features.Requirement]bool{}
	for _, scenario := range selected {
		seen[scenario.Requirement] = true
	}
	p.Requirements = len(seen)
	return p, nil
}

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
