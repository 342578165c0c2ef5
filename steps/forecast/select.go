package forecast

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// Selection says which scenarios are run. What is not selected does not appear in the result; what is selected and
// does not apply appears as skipped.
type Selection struct {
	Keys     []string // of scenarios ("uri:line"); empty: all
	Only     []string // IDs of requirements; a trailing "*" matches any rest
	Skip     []string // as Only: these are skipped
	Tags     string   // a tag expression: "@must and not @slow"
	Profiles []string // parts of the interface; the others are skipped; empty: all
	Shard    int      // this part, from 1
	Shards   int      // of so many; 0: all
}

// Apply returns the selected scenarios in the order of the features. A selection that selects nothing is an error:
// a run of nothing shows nothing.
func (s Selection) Apply(c *features.Catalogue) ([]*features.Scenario, error) {
	tags, err := parseTags(s.Tags)
	if err != nil {
		return nil, fmt.Errorf("--tags %q: %w", s.Tags, err)
	}
	if err := errors.Join(checkIDs(c, "--only", s.Only), checkIDs(c, "--skip", s.Skip)); err != nil {
		return nil, err
	}
	if err := checkProfiles(s.Profiles); err != nil {
		return nil, err
	}
	if s.Shards < 0 || s.Shards > 0 && (s.Shard < 1 || s.Shard > s.Shards) {
		return nil, fmt.Errorf("--shard %d/%d: give I/N with I from 1 to N", s.Shard, s.Shards)
	}
	var selected []*features.Scenario
	dealt := 0
	for _, r := range c.Requirements {
		if !matchesAny(s.Only, r.ID) {
			continue
		}
		// Whole requirements go to a shard, so that each gets its verdict in one place; scenarios that judge the record of
		// the run go to every shard, since each records only its own answers.
		elsewhere := false
		if !r.Scenarios[0].Is(features.TagLast) {
			dealt++
			elsewhere = s.Shards > 0 && (dealt-1)%s.Shards != s.Shard-1
		}
		for _, scenario := range r.Scenarios {
			if elsewhere && !scenario.Is(features.TagLast) {
				continue
			}
			if tags(scenario.Tags) && (len(s.Keys) == 0 || slices.Contains(s.Keys, scenario.Key())) {
				selected = append(selected, scenario)
			}
		}
	}
	if !slices.ContainsFunc(selected, func(scenario *features.Scenario) bool { return !s.skips(scenario.Requirement) }) {
		return nil, errors.New("no scenario is selected: change --only, --skip, --tags or --shard")
	}
	return selected, nil
}

// Binding returns which requirements count as MUST by --fail-on: those of the level where it is "should", those of which a scenario
// matches where it is a tag expression; none where there is none. A tag that no scenario has is an error, as is an expression
// that no requirement matches: a typing mistake would bind nothing.
func Binding(c *features.Catalogue, expressions []string) (func(*features.Requirement) bool, error) {
	var all []func(tags []string) bool
	for _, expression := range expressions {
		tags, err := bindingTags(c, expression)
		if err != nil {
			return nil, fmt.Errorf("--fail-on %q: %w; use should, or a tag of the features, such as @security", expression, err)
		}
		all = append(all, tags)
	}
	return func(q *features.Requirement) bool {
		return slices.ContainsFunc(all, func(tags func([]string) bool) bool { return matchedBy(q, tags) })
	}, nil
}

func bindingTags(c *features.Catalogue, expression string) (func(tags []string) bool, error) {
	if expression == "should" {
		expression = "@" + expression
	}
	if strings.TrimSpace(expression) == "" {
		return nil, errors.New("it names no tag")
	}
	tags, err := parseTags(expression)
	if err != nil {
		return nil, err
	}
	for _, tag := range tagNames.FindAllString(expression, -1) {
		has := func(given []string) bool { return slices.Contains(given, tag) }
		if !slices.ContainsFunc(c.Requirements, func(q *features.Requirement) bool { return matchedBy(q, has) }) {
			return nil, fmt.Errorf("no requirement has the tag %s", tag)
		}
	}
	if !slices.ContainsFunc(c.Requirements, func(q *features.Requirement) bool { return matchedBy(q, tags) }) {
		return nil, errors.New("no requirement matches")
	}
	return tags, nil
}

// tagNames finds the tags in an expression.
var tagNames = regexp.MustCompile(`@[^\s()]+`)

func matchedBy(q *features.Requirement, tags func([]string) bool) bool {
	return slices.ContainsFunc(q.Scenarios, func(s *features.Scenario) bool { return tags(s.Tags) })
}

// skips tells whether the requirement is to be left out, and shown as skipped.
func (s Selection) skips(q *features.Requirement) bool {
	return len(s.Skip) > 0 && matchesAny(s.Skip, q.ID)
}

func checkIDs(c *features.Catalogue, flag string, ids []string) error {
	for _, id := range ids {
		if !anyRequirement(c, id) {
			return fmt.Errorf("%s %s: no requirement has this ID; agentconform list shows all", flag, id)
		}
	}
	return nil
}

func checkProfiles(profiles []string) error {
	for _, p := range profiles {
		switch p {
		case features.ControlPlane, features.AgentServer, features.EndToEnd:
		default:
			return fmt.Errorf("--profile %s: give %s, %s or %s", p, features.ControlPlane, features.AgentServer, features.EndToEnd)
		}
	}
	return nil
}

func anyRequirement(c *features.Catalogue, pattern string) bool {
	for _, r := range c.Requirements {
		if matches(pattern, r.ID) {
			return true
		}
	}
	return false
}

func matchesAny(patterns []string, id string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		if matches(p, id) {
			return true
		}
	}
	return false
}

func matches(pattern, id string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(strings.ToUpper(id), strings.ToUpper(prefix))
	}
	return strings.EqualFold(pattern, id)
}

// LeavesOut names the option that leaves the requirement out.
func (s Selection) LeavesOut(id string) string {
	switch {
	case !matchesAny(s.Only, id):
		return "--only"
	case s.Tags != "":
		return "--tags"
	case s.Shards > 0:
		return "--shard"
	}
	return ""
}
