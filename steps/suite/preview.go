package suite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/plane"
)

// Preview describes a test run before it begins, as far as that is possible without requests.
type Preview struct {
	plane.Cost
	Explored                int    // deployments that exploring the control plane may create in addition
	Scenarios, Requirements int    // numbers of selected scenarios and requirements
	Situations              Events // of these scenarios, those about events
	Judged                  int    // number of these requirements that would be judged
	Gaps                    []*Gap // causes for which requirements would not be judged
}

// Events has the numbers of selected scenarios about events.
type Events struct {
	plane.Cost // that no other scenario has
	Scenarios  int
}

// Preview describes a test run with the options. It sends no requests.
func (o *Options) Preview() (*Preview, error) {
	selected, _, err := o.Scenarios()
	if err != nil {
		return nil, err
	}
	f := NewForecast(o.Config, o.Select)
	f.repeat = max(o.Repeat, 1)
	f.existing.AssumeNamed()
	f.Spend(selected)
	f.AssignMembers(selected)
	p := &Preview{Cost: f.Plan(selected), Scenarios: len(selected), Requirements: len(byRequirement(selected))}
	p.Explored = o.Exploration(p.Deployments)
	p.Gaps, p.Judged = f.Gaps(selected)
	others := slices.DeleteFunc(slices.Clone(selected), func(s *features.Scenario) bool { return s.Is(features.TagSituation) })
	without := f.Plan(others)
	p.Situations.Scenarios = len(selected) - len(others)
	p.Situations.Deployments = p.Deployments - without.Deployments
	p.Situations.Revisions = p.Revisions - without.Revisions
	return p, nil
}

// Gap is a cause for which requirements, or some of their scenarios, are not judged.
type Gap struct {
	Skip   reports.Skip
	Reason string                  // for people
	Whole  []*features.Requirement // not judged at all
	part   []*features.Requirement // some scenarios are not judged
}

// Gaps returns the causes for which scenarios are not judged, and the number of requirements that are judged at least in
// part. The causes with the most requirements come first. A requirement with several causes is in each of their gaps.
func (f *Forecast) Gaps(scenarios []*features.Scenario) (gaps []*Gap, judged int) {
	for _, group := range byRequirement(scenarios) {
		lacking := map[reports.Skip]int{} // the number of scenarios by cause
		isJudged := false
		for _, s := range group {
			causes := f.Lacking(s)
			if len(causes) == 0 {
				isJudged = true
			}
			for _, o := range causes {
				lacking[*o.Skip]++
				isKnown := func(g *Gap) bool { return g.Skip == *o.Skip }
				if !slices.ContainsFunc(gaps, isKnown) {
					gaps = append(gaps, &Gap{Skip: *o.Skip, Reason: o.Reason})
				}
			}
		}
		if isJudged {
			judged++
		}
		for _, g := range gaps {
			switch lacking[g.Skip] {
			case 0:
			case len(group):
				g.Whole = append(g.Whole, group[0].Requirement)
			default:
				g.part = append(g.part, group[0].Requirement)
			}
		}
	}
	slices.SortStableFunc(gaps, func(a, b *Gap) int {
		return cmp.Or(len(b.Whole)-len(a.Whole), len(b.part)-len(a.part))
	})
	return gaps, judged
}

// IsEmpty reports whether the gap has no requirement.
func (g *Gap) IsEmpty() bool { return len(g.Whole)+len(g.part) == 0 }

// Named returns the IDs of the requirements of the gap. A complete group of requirements is replaced by a pattern that
// --only accepts.
func (g *Gap) Named(c *features.Catalogue) string {
	var names []string
	for _, q := range g.Whole {
		name := g.nameOf(c, q.ID)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, q := range g.part {
		names = append(names, q.ID+" in part")
	}
	return strings.Join(names, ", ")
}

// nameOf returns the widest pattern that matches an ID and only requirements of the gap, or the ID. The pattern must
// match more than two requirements.
func (g *Gap) nameOf(c *features.Catalogue, id string) string {
	isOther := func(q *features.Requirement) bool { return !slices.Contains(g.Whole, q) }
	for _, pattern := range patternsOf(id) {
		members := matching(c, pattern)
		if len(members) > 2 && !slices.ContainsFunc(members, isOther) {
			return pattern
		}
	}
	return id
}

// patternsOf returns the patterns that match an ID, the widest first: CP-* and CP-LIST-* for CP-LIST-3.
func patternsOf(id string) []string {
	side, _, _ := strings.Cut(id, "-")
	return []string{side + "-*", id[:strings.LastIndex(id, "-")+1] + "*"}
}
