package suite

import (
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

// Selection selects the scenarios of a test run. Scenarios that are not selected are not in the result. Selected
// scenarios that do not apply are skipped.
type Selection struct {
	Keys     []string // keys of scenarios ("uri:line"), or all if empty
	Only     []string // IDs of requirements and patterns such as "CP-LIST-*", or all if empty
	Skip     []string // IDs and patterns of requirements that are skipped
	Tags     string   // a tag expression: "@must and not @slow"
	Profiles []string // parts of the interface, or all if empty; the others are skipped
}

// all reports whether every requirement of a profile is selected.
func (s Selection) all(profile string) bool {
	return len(s.Keys)+len(s.Only)+len(s.Skip)+len(s.Tags) == 0 &&
		(len(s.Profiles) == 0 || slices.Contains(s.Profiles, profile))
}

// Apply returns the selected scenarios in the order of the features. If no scenario is selected, it returns an error,
// because a test run without scenarios shows nothing.
func (s Selection) Apply(c *features.Catalogue) ([]*features.Scenario, error) {
	tags, named, err := parseTags(s.Tags)
	if err == nil {
		err = checkTags(c, named)
	}
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

// Scenarios returns the selected scenarios. If only an agent server has an address, it omits scenarios that need a
// control plane, and isAlone is true. It omits none if nothing else is selected, or if the claim or the selected profiles
// include the control plane.
func (o *Options) Scenarios() (selected []*features.Scenario, isAlone bool, err error) {
	selected, err = o.Select.Apply(o.Catalogue)
	c := o.Config
	if err != nil || c.Target != "" || c.AgentTarget == "" {
		return selected, false, err
	}
	isOther := func(q *features.Requirement) bool { return q.Profile != features.AgentServer }
	isAskedFor := func(q *features.Requirement) bool {
		isClaimed := len(c.Supports) > 0 && features.Claims(c.Supports).Lacks(q) == ""
		return isOther(q) && (isClaimed || slices.Contains(o.Select.Profiles, q.Profile))
	}
	own := slices.DeleteFunc(slices.Clone(selected), func(s *features.Scenario) bool {
		isDeployment := func(name string) bool { return name != features.AgentServer }
		return isOther(s.Requirement) || slices.ContainsFunc(s.Terms.Shares, isDeployment)
	})
	if len(own) == 0 || slices.ContainsFunc(o.Catalogue.Requirements, isAskedFor) {
		return selected, false, nil
	}
	return own, true, nil
}

// Binding returns a function that reports whether a requirement counts as MUST because of --fail-on. The option is
// "should", or a tag expression that must match a scenario of the requirement. A tag that no scenario has, or an
// expression that matches no scenario, is an error, because it is a typing mistake.
func Binding(c *features.Catalogue, expressions []string) (func(*features.Requirement) bool, error) {
	var all []func(tags []string) bool
	for _, expression := range expressions {
		match, err := parseBinding(c, expression)
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

// parseBinding parses one expression of --fail-on.
func parseBinding(c *features.Catalogue, expression string) (match func(tags []string) bool, err error) {
	if expression == "should" {
		expression = "@should"
	}
	match, tags, err := parseTags(expression)
	if err != nil {
		return nil, err
	}
	if len(tags) == 0 {
		return nil, errors.New("it names no tag")
	}
	if err := checkTags(c, tags); err != nil {
		return nil, err
	}
	isMatch := func(s *features.Scenario) bool { return match(s.Tags) }
	if !slices.ContainsFunc(c.Scenarios(), isMatch) {
		return nil, errors.New("no requirement matches")
	}
	return match, nil
}

// checkTags returns an error for a tag that no scenario has, because it is a typing mistake.
func checkTags(c *features.Catalogue, tags []string) error {
	var known []string
	for _, s := range c.Scenarios() {
		known = append(known, s.Tags...)
	}
	for _, tag := range tags {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, tag) }) {
			text := "no requirement has the tag " + tag
			near := spelling.Nearest(strings.ToLower(tag), known)
			if near != "" {
				text += "; did you mean " + near + "?"
			}
			return errors.New(text)
		}
	}
	return nil
}

func checkIDs(c *features.Catalogue, flag string, ids []string) error {
	for _, id := range ids {
		if len(matching(c, id)) == 0 {
			return fmt.Errorf("%s %s: no requirement has this ID; %sagentconform list shows all", flag, id,
				spelling.DidYouMean(c.Nearest(id)))
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

// matching returns the requirements whose IDs match a pattern.
func matching(c *features.Catalogue, pattern string) []*features.Requirement {
	var found []*features.Requirement
	for _, q := range c.Requirements {
		if matchesAny([]string{pattern}, q.ID) {
			found = append(found, q)
		}
	}
	return found
}

// matchesAny reports whether an ID matches one of the patterns. It ignores case.
func matchesAny(patterns []string, id string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return reports.Among([]string{strings.ToUpper(p)}, strings.ToUpper(id))
	})
}

// tagRecord is the tag of the scenarios that send nothing.
const tagRecord = "@record"

// LeavesOut returns the option that excludes a requirement. If a recording is judged, it returns the reason.
func (s Selection) LeavesOut(id string) string {
	switch {
	case len(s.Only) > 0 && !matchesAny(s.Only, id):
		return "--only"
	case s.Tags == tagRecord:
		return "it needs requests of its own"
	case s.Tags != "":
		return "--tags"
	}
	return ""
}

// parseTags parses a tag expression: tags with "and", "or", "not" and parentheses. It returns a function that reports
// whether tags match the expression, and the tags in the expression. An empty expression matches all tags. The language
// is that of Go's build constraints with different operators. The filter of godog has fewer operators, and selects
// nothing if it does not understand an expression.
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
		return nil, nil, errors.New("it is not complete; join tags with and, or, not, such as in \"@must and not @slow\"")
	}
	return func(tags []string) bool {
		return parsed.Eval(func(name string) bool {
			n, _ := strconv.Atoi(name[1:]) // "t0" is the first tag
			return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, named[n]) })
		})
	}, named, nil
}
