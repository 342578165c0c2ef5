package suite

import (
	"cmp"
	"errors"
	"fmt"
	"go/build/constraint"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec/spelling"
)

// Selection says which scenarios are run. What is not selected does not appear in the result; what is selected and
// does not apply appears as skipped.
type Selection struct {
	Keys     []string // of scenarios ("uri:line"); empty: all
	Only     []string // IDs of requirements; a trailing "*" matches any rest
	Skip     []string // as Only: these are skipped
	Tags     string   // a tag expression: "@must and not @slow"
	Profiles []string // parts of the interface; the others are skipped; empty: all
}

// all tells whether nothing of a part of the interface is left out.
func (s Selection) all(profile string) bool {
	return len(s.Keys)+len(s.Only)+len(s.Skip)+len(s.Tags) == 0 &&
		(len(s.Profiles) == 0 || slices.Contains(s.Profiles, profile))
}

// Apply returns the selected scenarios in the order of the features. A selection that selects nothing is an error:
// a run of nothing shows nothing.
func (s Selection) Apply(c *features.Catalogue) ([]*features.Scenario, error) {
	tags, _, err := parseTags(s.Tags)
	if err != nil {
		return nil, fmt.Errorf("--tags %q: %w", s.Tags, err)
	}
	wrong := []error{checkIDs(c, "--only", s.Only), checkIDs(c, "--skip", s.Skip), checkProfiles(s.Profiles)}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	var selected []*features.Scenario
	for _, r := range c.Requirements {
		if len(s.Only) > 0 && !matchesAny(s.Only, r.ID) {
			continue
		}
		for _, scenario := range r.Scenarios {
			if tags(scenario.Tags) && (len(s.Keys) == 0 || slices.Contains(s.Keys, scenario.Key())) {
				selected = append(selected, scenario)
			}
		}
	}
	isRun := func(scenario *features.Scenario) bool { return !matchesAny(s.Skip, scenario.Requirement.ID) }
	if !slices.ContainsFunc(selected, isRun) {
		return nil, errors.New("no scenario is selected: change --only, --skip or --tags")
	}
	return selected, nil
}

// Binding returns which requirements count as MUST by --fail-on: those of the level where it is "should", those of
// which a scenario matches where it is a tag expression; none where there is none. A tag that no scenario has is an
// error, as is an expression that no scenario matches: a typing mistake would bind nothing.
func Binding(c *features.Catalogue, expressions []string) (func(*features.Requirement) bool, error) {
	var all []func(tags []string) bool
	for _, expression := range expressions {
		written := expression
		if written == "should" {
			written = "@should"
		}
		match, named, err := parseTags(written)
		if err == nil && len(named) == 0 {
			err = errors.New("it names no tag")
		}
		for _, tag := range named {
			if !slices.ContainsFunc(c.Scenarios(), func(s *features.Scenario) bool { return s.Is(tag) }) {
				err = cmp.Or(err, fmt.Errorf("no requirement has the tag %s", tag))
			}
		}
		if err == nil && !slices.ContainsFunc(c.Scenarios(), func(s *features.Scenario) bool { return match(s.Tags) }) {
			err = errors.New("no requirement matches")
		}
		if err != nil {
			return nil, fmt.Errorf("--fail-on %q: %w; use should, or a tag of the features, such as @security", expression, err)
		}
		all = append(all, match)
	}
	return func(q *features.Requirement) bool {
		return slices.ContainsFunc(all, func(match func([]string) bool) bool {
			return slices.ContainsFunc(q.Scenarios, func(s *features.Scenario) bool { return match(s.Tags) })
		})
	}, nil
}

func checkIDs(c *features.Catalogue, flag string, ids []string) error {
	for _, id := range ids {
		if len(matching(c, id)) == 0 {
			return fmt.Errorf("%s %s: no requirement has this ID; %sagentconform list shows all", flag, id,
				spelling.Meant(c.Nearest(id)))
		}
	}
	return nil
}

func checkProfiles(profiles []string) error {
	for _, p := range profiles {
		if !slices.Contains(features.Profiles, p) {
			return fmt.Errorf("--profile %s: give %s", p, spelling.Either(features.Profiles))
		}
	}
	return nil
}

// matching are the requirements whose IDs match a pattern.
func matching(c *features.Catalogue, pattern string) (found []*features.Requirement) {
	for _, q := range c.Requirements {
		if matchesAny([]string{pattern}, q.ID) {
			found = append(found, q)
		}
	}
	return found
}

// matchesAny tells whether an ID matches one of the patterns.
func matchesAny(patterns []string, id string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return reports.Among([]string{strings.ToUpper(p)}, strings.ToUpper(id))
	})
}

// LeavesOut names the option that leaves the requirement out.
func (s Selection) LeavesOut(id string) string {
	switch {
	case len(s.Only) > 0 && !matchesAny(s.Only, id):
		return "--only"
	case s.Tags != "":
		return "--tags"
	}
	return ""
}

// parseTags reads a tag expression: tags joined by "and", "or" and "not", with brackets. An empty one selects
// everything. It returns whether tags match, and the tags that it names. godog's filter has a smaller language, in
// which such an expression silently selects nothing; that of Go's build tags is the same with other operators.
func parseTags(expression string) (match func(tags []string) bool, named []string, err error) {
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(expression))
	if len(words) == 0 {
		return func([]string) bool { return true }, nil, nil
	}
	operators := map[string]string{"and": "&&", "or": "||", "not": "!", "(": "(", ")": ")"}
	for i, word := range words {
		operator := operators[strings.ToLower(word)]
		switch {
		case operator != "":
			words[i] = operator
		case !strings.HasPrefix(word, "@") || word == "@":
			return nil, nil, fmt.Errorf("%q is not a tag; tags begin with @, such as in \"@must and not @slow\"", word)
		default:
			words[i] = "t" + strconv.Itoa(len(named))
			named = append(named, word)
		}
	}
	parsed, err := constraint.Parse("//go:build " + strings.Join(words, " "))
	if err != nil {
		return nil, nil, errors.New("it is not complete; give tags joined by and, or, not, such as \"@must and not @slow\"")
	}
	return func(tags []string) bool {
		return parsed.Eval(func(name string) bool {
			n, _ := strconv.Atoi(name[1:]) // as it was written above
			return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, named[n]) })
		})
	}, named, nil
}
