package forecast

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Forecast is what can be known of a run before it begins, from the configuration and the definitions of the sentences.
type Forecast struct {
	config    *config.Config
	catalogue *features.Catalogue
	selection Selection
	Sentences *common.Definitions
	lacked    map[string][]*outcome.Outcome // by sentence
	over      map[string]*outcome.Outcome   // scenarios that the budget leaves out, by key
	member    map[string]int                // which deployment of a pool a scenario changes, by key
	target    *target.Target
	plane     *plane.Plane
}

// Foresee asks the definitions, without executing any.
func Foresee(c *config.Config, catalogue *features.Catalogue, s Selection) *Forecast {
	f := &Forecast{config: c, catalogue: catalogue, selection: s, lacked: map[string][]*outcome.Outcome{},
		Sentences: common.NewDefinitions()}
	t := &target.Target{Config: c}
	p := plane.New(t, nil, time.Time{})
	f.target, f.plane = t, p
	Define(common.NewRegistrar(f.Sentences, nil), &common.Scene{}, t, p, agent.New(t, p, nil, 1), nil)
	return f
}

// Applies says why a scenario is not run: it is not selected, its part of the interface is not claimed or has no address, it writes in
// a run that only reads, or the budget is spent on others.
func (f *Forecast) Applies(s *features.Scenario) *outcome.Outcome {
	if f.selection.skips(s.Requirement) {
		return outcome.NotSelected("--skip", "not selected: skipped with --skip")
	}
	profile := s.Requirement.Profile
	if chosen := f.selection.Profiles; len(chosen) > 0 && !slices.Contains(chosen, profile) {
		return outcome.NotSelected("--profile", "not selected: the run is limited to --profile %s", strings.Join(chosen, ","))
	}
	if word := features.Claims(f.config.Supports).Lacks(s.Requirement); word != "" {
		return outcome.NotClaimed(word)
	}
	if profile != features.AgentServer && f.config.Target == "" {
		return outcome.Needs("target", " (the URL of a control plane)")
	}
	if o := f.locked(s); o != nil {
		return o
	}
	if f.config.ReadOnly && f.writes(s) {
		return outcome.ReadOnly()
	}
	if o := f.over[s.Key()]; o != nil {
		return o
	}
	return nil
}

// writes tells whether a sentence of the scenario may change the target.
func (f *Forecast) writes(s *features.Scenario) bool {
	return slices.ContainsFunc(s.Steps, func(step features.Step) bool {
		d := f.Sentences.Find(step.Text)
		return d != nil && d.Writes(step.Text)
	})
}

// lackedBy returns the outcomes that the sentence would have because the configuration lacks something.
func (f *Forecast) lackedBy(sentence string) []*outcome.Outcome {
	if found, asked := f.lacked[sentence]; asked {
		return found
	}
	var found []*outcome.Outcome
	if d := f.Sentences.Find(sentence); d != nil {
		for _, err := range d.Lacks(sentence) {
			var o *outcome.Outcome
			if errors.As(err, &o) {
				found = append(found, o)
			}
		}
	}
	f.lacked[sentence] = found
	return found
}

// Lacking returns the outcomes, one of which the scenario would have, the first one first; none where the
// configuration has all that it needs.
func (f *Forecast) Lacking(s *features.Scenario) []*outcome.Outcome {
	if o := f.Applies(s); o != nil {
		return []*outcome.Outcome{o}
	}
	var all []*outcome.Outcome
	for _, step := range s.Steps {
		all = append(all, f.lackedBy(step.Text)...)
	}
	return all
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

func matching(c *features.Catalogue, pattern string) (found []*features.Requirement) {
	for _, q := range c.Requirements {
		if matches(pattern, q.ID) {
			found = append(found, q)
		}
	}
	return found
}

func isSubset(some, all []*features.Requirement) bool {
	return !slices.ContainsFunc(some, func(q *features.Requirement) bool { return !slices.Contains(all, q) })
}
