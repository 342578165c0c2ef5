package steps

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// lacks knows what sentences need and the configuration does not give. What they need stands with their definitions.
type lacks struct {
	needs []compiledNeed
	known map[string][]*outcome // by sentence
}

type compiledNeed struct {
	pattern *regexp.Regexp
	checks  []func(string) error
}

// lacks asks the definitions, without executing any.
func (r *run) lacks() *lacks {
	b := &book{}
	(&World{run: r}).define(b)
	l := &lacks{known: map[string][]*outcome{}}
	for _, n := range b.needs {
		l.needs = append(l.needs, compiledNeed{regexp.MustCompile("^(?:" + n.pattern + ")$"), n.checks})
	}
	return l
}

// of returns the outcomes that the sentence would have for want of something in the configuration.
func (l *lacks) of(sentence string) []*outcome {
	if found, asked := l.known[sentence]; asked {
		return found
	}
	var found []*outcome
	for _, n := range l.needs {
		m := n.pattern.FindStringSubmatch(sentence)
		if m == nil {
			continue
		}
		for _, check := range n.checks {
			var o *outcome
			if err := check(append(m, "")[1]); errors.As(err, &o) {
				found = append(found, o)
			}
		}
	}
	l.known[sentence] = found
	return found
}

// lacking returns the outcomes, one of which the scenario would have, the first one first; none where the
// configuration has all that it needs.
func (r *run) lacking(l *lacks, s *features.Scenario) []*outcome {
	if o := r.applies(s); o != nil {
		return []*outcome{o}
	}
	var all []*outcome
	for _, step := range s.Steps {
		all = append(all, l.of(step.Text)...)
	}
	return all
}

// gap is a key of the configuration, or a reason, for which requirements are not judged, or not in all their
// scenarios.
type gap struct {
	key    string // "" where nothing can be done about it
	reason string
	whole  []*features.Requirement
	part   []*features.Requirement
}

// gaps returns what the configuration leaves out, in the order of the features, and how many requirements it lets
// judge. A requirement that lacks several keys stands with each.
func (r *run) gaps() (gaps []*gap, judged int) {
	l := r.lacks()
	for _, q := range r.Catalogue.Requirements {
		found, free := map[*gap]int{}, false // in how many scenarios
		for _, s := range q.Scenarios {
			here := map[*gap]bool{}
			for _, o := range r.lacking(l, s) {
				at := slices.IndexFunc(gaps, func(g *gap) bool { return g.holds(o) })
				if at < 0 {
					at = len(gaps)
					gaps = append(gaps, &gap{key: o.missing, reason: o.reason})
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
		for g, scenarios := range found {
			if scenarios == len(q.Scenarios) {
				g.whole = append(g.whole, q)
			} else {
				g.part = append(g.part, q)
			}
		}
	}
	return gaps, judged
}

// holds tells whether the outcome is for want of the same.
func (g *gap) holds(o *outcome) bool {
	return g.key == o.missing && (g.key != "" || g.reason == o.reason)
}

// named names the requirements; those of a group that is there whole as --only takes them.
func (g *gap) named(c *features.Catalogue) string {
	var names []string
	done := map[*features.Requirement]bool{}
	for _, q := range g.whole {
		if done[q] {
			continue
		}
		name, group := q.ID, []*features.Requirement{q}
		for _, pattern := range groups(q.ID) {
			if members := matching(c, pattern); len(members) > 2 && isSubset(members, g.whole) {
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
