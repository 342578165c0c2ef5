package features

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v34"

	"github.com/agentconform/agentconform/reports"
)

var (
	idTag      = regexp.MustCompile(`^@((?:CP|AS|E2E)-[A-Za-z0-9-]+)$`)
	sectionTag = regexp.MustCompile(`^@section-([0-9.]+)$`)
	afterTag   = regexp.MustCompile(`^@after:((?:CP|AS|E2E)-[A-Za-z0-9-]+)$`)
	levels     = map[string]reports.Level{"@must": reports.Must, "@should": reports.Should, "@may": reports.May}
)

// parser converts one document into requirements and scenarios. Its maps connect pickles to their source.
type parser struct {
	uri     string
	feature *messages.Feature

	owner map[string]*Requirement // by ID of the scenario's node
	lines map[string]int          // by ID of the node of a scenario or row
	steps map[string]*messages.Step
}

func (p *parser) rules() ([]*Requirement, error) {
	p.owner, p.lines, p.steps = map[string]*Requirement{}, map[string]int{}, map[string]*messages.Step{}
	var all []*Requirement
	for _, child := range p.feature.Children {
		switch {
		case child.Scenario != nil:
			return nil, fmt.Errorf("%s:%d: scenario %q is outside of any rule: move it below the rule of its requirement",
				p.uri, child.Scenario.Location.Line, child.Scenario.Name)
		case child.Background != nil:
			p.noteSteps(child.Background.Steps)
		case child.Rule != nil:
			r, err := p.rule(child.Rule)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: the feature has no rule", p.uri)
	}
	return all, nil
}

func (p *parser) rule(rule *messages.Rule) (*Requirement, error) {
	quote, description, err := cutQuote(unindent(rule.Description))
	if err != nil {
		return nil, fmt.Errorf("%s:%d: rule %q: %w", p.uri, rule.Location.Line, rule.Name, err)
	}
	r := &Requirement{
		Title:       rule.Name,
		Quote:       quote,
		Description: description,
		Feature:     p.feature.Name,
		URI:         p.uri,
		Line:        int(rule.Location.Line),
	}
	for _, tag := range slices.Concat(p.feature.Tags, rule.Tags) { // a rule overrides its feature
		name := strings.TrimPrefix(tag.Name, "@")
		if m := idTag.FindStringSubmatch(tag.Name); m != nil {
			r.ID = m[1]
		} else if m := sectionTag.FindStringSubmatch(tag.Name); m != nil {
			r.Sections = append(r.Sections, m[1])
		} else if level, ok := levels[tag.Name]; ok {
			r.Level = level
		} else if slices.Contains(Subjects, tag.Name) {
			r.Subject = name
		} else if slices.Contains(Profiles, name) {
			r.Profile = name
		}
	}
	if r.ID == "" || r.Level == "" || len(r.Sections) == 0 || r.Profile == "" {
		return nil, fmt.Errorf("%s:%d: rule %q needs tags for ID, level and section, and its feature a tag for the profile",
			p.uri, r.Line, rule.Name)
	}
	for _, child := range rule.Children {
		if child.Background != nil {
			p.noteSteps(child.Background.Steps)
		}
		if child.Scenario != nil {
			if err := p.checkTags(child.Scenario); err != nil {
				return nil, err
			}
			p.noteScenario(r, child.Scenario)
		}
	}
	return r, nil
}

// checkTags returns an error if a scenario or its examples have a tag that only a feature or a rule can have.
func (p *parser) checkTags(s *messages.Scenario) error {
	tags := slices.Clone(s.Tags)
	for _, e := range s.Examples {
		tags = append(tags, e.Tags...)
	}
	for _, tag := range tags {
		if describesRule(tag.Name) {
			return fmt.Errorf("%s:%d: tag %s describes a rule: move it there", p.uri, tag.Location.Line, tag.Name)
		}
	}
	return nil
}

func (p *parser) noteScenario(r *Requirement, s *messages.Scenario) {
	p.owner[s.Id] = r
	p.lines[s.Id] = int(s.Location.Line)
	p.noteSteps(s.Steps)
	for _, e := range s.Examples {
		for _, row := range e.TableBody {
			p.lines[row.Id] = int(row.Location.Line)
		}
	}
}

func (p *parser) noteSteps(steps []*messages.Step) {
	for _, s := range steps {
		p.steps[s.Id] = s
	}
}

func (p *parser) scenario(pickle *messages.Pickle) (*Scenario, error) {
	s := &Scenario{
		Requirement: p.owner[pickle.AstNodeIds[0]],
		Name:        pickle.Name,
		URI:         p.uri,
		Line:        p.lines[pickle.AstNodeIds[len(pickle.AstNodeIds)-1]],
	}
	for _, tag := range pickle.Tags {
		s.Tags = append(s.Tags, tag.Name)
		if m := afterTag.FindStringSubmatch(tag.Name); m != nil {
			s.After = append(s.After, m[1])
		}
		known, err := s.Terms.take(tag.Name)
		if err == nil && !known && !describes(tag.Name) {
			err = fmt.Errorf("tag %s is unknown", tag.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", p.uri, s.Line, err)
		}
	}
	for _, step := range pickle.Steps {
		source := p.steps[step.AstNodeIds[0]]
		s.Steps = append(s.Steps, Step{
			Keyword: strings.TrimSpace(source.Keyword),
			Text:    step.Text,
			Line:    int(source.Location.Line),
		})
	}
	return s, nil
}

// describes reports whether a tag describes a requirement, or when to judge it.
func describes(tag string) bool {
	return describesRule(tag) || afterTag.MatchString(tag) || slices.Contains([]string{TagLast, TagSlow, TagSituation}, tag)
}

// describesRule reports whether a tag describes a requirement. A scenario cannot have such a tag.
func describesRule(tag string) bool {
	return idTag.MatchString(tag) || sectionTag.MatchString(tag) || levels[tag] != "" || slices.Contains(Subjects, tag) ||
		slices.Contains(Profiles, strings.TrimPrefix(tag, "@"))
}

// cutQuote returns the quote of the interface at the beginning of a description, if any, and the rest. The quote ends
// with the first line that ends in a quotation mark, because the interface contains quotation marks itself.
func cutQuote(text string) (quote, rest string, err error) {
	quoted, found := strings.CutPrefix(text, `"`)
	if !found {
		return "", text, nil
	}
	quote, rest, found = strings.Cut(quoted+"\n", "\"\n")
	if !found {
		return "", "", errors.New(`the quote of the interface is not closed: end its last line with "`)
	}
	return strings.Join(strings.Fields(quote), " "), strings.TrimSpace(rest), nil
}

// unindent removes the indentation that Gherkin keeps in descriptions.
func unindent(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
