package features

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec/requirements"
	"github.com/agentconform/agentconform/spec/spelling"
)

//go:embed *.feature control_plane/*.feature agent_server/*.feature
var files embed.FS

// The profiles are the parts of the interface that a target can claim.
const (
	ControlPlane = "control-plane"
	AgentServer  = "agent-server"
	EndToEnd     = "end-to-end"
)

// Profiles are all profiles in the order of the interface.
var Profiles = []string{ControlPlane, AgentServer, EndToEnd}

// Tags that determine when a scenario runs, or select it.
const (
	// TagLast marks scenarios that run after all others.
	TagLast = "@last"
	// TagSlow marks scenarios that wait. They start first, so that others run in the meantime.
	TagSlow = "@slow"
	// TagSituation marks scenarios that repeat a check after an event on a thread.
	TagSituation = "@situation"
)

// Subjects are the tags for the risk of a violation, on features and rules. Reports list failures of isolation first,
// then those of security and rollback, then those without a tag, and last those of form.
var Subjects = []string{"@isolation", "@security", "@rollback", "@form"}

// Requirement is one Rule: a statement of the interface that can be observed from outside.
type Requirement struct {
	ID          string        `json:"id"`
	Level       reports.Level `json:"level"`
	Title       string        `json:"title"`
	Quote       string        `json:"quote,omitempty"`    // the sentence of the interface, with " ... " for omitted parts, or ""
	Description string        `json:"description"`        // without the quote
	Needs       string        `json:"requires,omitempty"` // keys of the configuration that it needs to be judged: "alternatives.tag_ref"
	Sections    []string      `json:"sections"`           // sections of the interface
	After       []string      `json:"after,omitempty"`    // IDs of requirements whose failure explains a failure of a scenario
	Profile     string        `json:"profile"`
	Subject     string        `json:"-"` // "isolation", "security", "rollback", "form" or ""
	Feature     string        `json:"feature"`
	URI         string        `json:"uri"`
	Line        int           `json:"line"`
	Scenarios   []*Scenario   `json:"scenarios"`
}

// IsInvariant reports whether the requirement is judged on all exchanges of a test run. It may fail in addition to the
// requirement that a fault breaks.
func (r *Requirement) IsInvariant() bool { return strings.Contains(r.ID, "-INVARIANT-") }

// InResult returns the requirement for a result, without verdict and scenarios.
func (r *Requirement) InResult() reports.Requirement {
	return reports.Requirement{ID: r.ID, Level: r.Level, Title: r.Title, Quote: r.Quote, Description: r.Description,
		Section: strings.Join(r.Sections, ", "), Profile: r.Profile, Feature: r.Feature, Subject: r.Subject}
}

// Scenario is one test: a plain scenario, or one row of the examples of an outline.
type Scenario struct {
	Requirement *Requirement `json:"-"`
	Name        string       `json:"name"`
	URI         string       `json:"uri"`
	Line        int          `json:"line"` // line of the scenario, or of the row of its examples
	Tags        []string     `json:"-"`
	Terms       Terms        `json:"-"` // derived from the tags
	After       []string     `json:"-"` // IDs of requirements whose failure explains a failure of this scenario, from its tags @after:ID
	Steps       []Step       `json:"-"`
}

// Step is one step of a scenario.
type Step struct {
	Keyword string // as written: Given, When, Then, And, But
	Text    string
	Line    int
}

// Is reports whether the scenario has the tag.
func (s *Scenario) Is(tag string) bool { return slices.Contains(s.Tags, tag) }

// Key returns the file and line of the scenario: "control_plane/list.feature:12".
func (s *Scenario) Key() string { return fmt.Sprintf("%s:%d", s.URI, s.Line) }

// Attribution returns the name under which the exchanges of the scenario are recorded.
func (s *Scenario) Attribution() string { return s.Key() + " " + s.Name }

// Digest returns an identifier of the content of the scenario: a hash of the ID of its requirement and the texts of its
// steps. It does not depend on its name, its tags or its line.
func (s *Scenario) Digest() string {
	sum := sha256.New()
	fmt.Fprintln(sum, s.Requirement.ID)
	for _, step := range s.Steps {
		fmt.Fprintln(sum, step.Text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// InResult returns the scenario for a result, without verdicts.
func (s *Scenario) InResult() reports.Scenario {
	in := reports.Scenario{Name: s.Name, URI: s.URI, Line: s.Line}
	for _, step := range s.Steps {
		in.Steps = append(in.Steps, reports.Step{Keyword: step.Keyword, Text: step.Text, Line: step.Line})
	}
	return in
}

// File is one parsed feature file.
type File struct {
	URI         string
	Description string // of the feature
	Content     []byte
	Scenarios   []*Scenario
}

// Catalogue has all requirements in the order of the feature files.
type Catalogue struct {
	Files        []File
	Requirements []*Requirement
}

// Load reads the embedded features.
func Load() (*Catalogue, error) { return Parse(files) }

// Parse reads every feature file below fsys. It returns an error for a file with which a scenario would be ignored: a
// scenario outside a rule, a rule without an ID, level or section, or a rule without scenarios.
func Parse(fsys fs.FS) (*Catalogue, error) {
	c := &Catalogue{}
	var problems []error
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".feature") {
			return err
		}
		content, err := fs.ReadFile(fsys, path)
		if err != nil {
			return fmt.Errorf("reading feature %s: %w", path, err)
		}
		if err := c.add(path, content); err != nil {
			problems = append(problems, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.sort()
	for i, r := range c.Requirements {
		if first := c.Find(r.ID); first != c.Requirements[i] {
			problems = append(problems, fmt.Errorf("%s:%d: %s is the ID of %s:%d, too", r.URI, r.Line, r.ID, first.URI, first.Line))
		}
	}
	return c, errors.Join(slices.Concat(problems, c.checkCauses(), c.checkCapabilities())...)
}

// checkCauses returns an error for each tag @after that would hide a failure. The tag names an unknown requirement or a
// weaker one (a SHOULD for a MUST), closes a circle, or is on a requirement of isolation, whose failures are always
// separate findings.
func (c *Catalogue) checkCauses() (problems []error) {
	var explains func(cause, id string, past int) bool
	explains = func(cause, id string, past int) bool {
		q := c.Find(id)
		return q != nil && past <= len(c.Requirements) && slices.ContainsFunc(q.After, func(a string) bool {
			return a == cause || explains(cause, a, past+1)
		})
	}
	for _, r := range c.Requirements {
		for _, id := range r.After {
			wrong := ""
			cause := c.Find(id)
			switch {
			case cause == nil:
				wrong = "there is no such requirement"
			case binding(cause.Level) < binding(r.Level):
				wrong = fmt.Sprintf("a %s cannot explain a %s", cause.Level, r.Level)
			case r.Subject == "isolation":
				wrong = "a leak between users is never explained by another failure"
			case explains(r.ID, id, 0):
				wrong = "each would explain the other"
			}
			if wrong != "" {
				problems = append(problems, fmt.Errorf("%s:%d: %s: tag @after:%s: %s", r.URI, r.Line, r.ID, id, wrong))
			}
		}
	}
	return problems
}

// binding returns the rank of a level: a MUST ranks above a SHOULD.
func binding(l reports.Level) int {
	return slices.Index([]reports.Level{reports.May, reports.Should, reports.Must}, l)
}

// sort orders the files by the parts of the interface. Within a part they remain in the order of their names.
func (c *Catalogue) sort() {
	part := func(profile string) int { return slices.Index(Profiles, profile) }
	slices.SortStableFunc(c.Requirements, func(a, b *Requirement) int { return part(a.Profile) - part(b.Profile) })
	slices.SortStableFunc(c.Files, func(a, b File) int { return part(a.profile()) - part(b.profile()) })
}

// Find returns the requirement with the ID, or nil.
func (c *Catalogue) Find(id string) *Requirement {
	for _, r := range c.Requirements {
		if strings.EqualFold(r.ID, id) {
			return r
		}
	}
	return nil
}

// Nearest returns the ID that is most similar to id, or "" if there is none.
func (c *Catalogue) Nearest(id string) string {
	var ids []string
	for _, r := range c.Requirements {
		ids = append(ids, r.ID)
	}
	return spelling.Nearest(strings.ToUpper(id), ids)
}

// Digest returns an identifier of the requirements: "sha256:" and the hash of the names and contents of all feature files,
// in the order of their names.
func (c *Catalogue) Digest() string {
	files := slices.Clone(c.Files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.URI, b.URI) })
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%d %s %d\n", len(f.URI), f.URI, len(f.Content)) // lengths separate names and contents
		sum.Write(f.Content)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Set returns the requirement set of the catalogue.
func (c *Catalogue) Set(version string) *requirements.Set {
	set := &requirements.Set{Version: version, Requirements: map[string]requirements.Requirement{}}
	for _, q := range c.Requirements {
		frozen := requirements.Requirement{Level: string(q.Level), Scenarios: map[string]string{}}
		for _, s := range q.Scenarios {
			frozen.Scenarios[s.Digest()] = s.Name
		}
		set.Requirements[q.ID] = frozen
	}
	return set
}

// Scenarios returns every scenario in the order of the files.
func (c *Catalogue) Scenarios() []*Scenario {
	var all []*Scenario
	for _, f := range c.Files {
		all = append(all, f.Scenarios...)
	}
	return all
}

func (c *Catalogue) add(uri string, content []byte) error {
	newID := (&messages.Incrementing{}).NewId
	doc, err := gherkin.ParseGherkinDocument(bytes.NewReader(content), newID)
	if err != nil {
		return fmt.Errorf("parsing feature %s: %w", uri, err)
	}
	if doc.Feature == nil {
		return fmt.Errorf("%s: no feature in the file", uri)
	}
	p := &parser{uri: uri, feature: doc.Feature}
	requirements, err := p.rules()
	if err != nil {
		return err
	}
	file := File{URI: uri, Description: unindent(doc.Feature.Description), Content: content}
	names := map[string]int{}
	for _, pickle := range gherkin.Pickles(*doc, uri, newID) {
		s, err := p.scenario(pickle)
		if err != nil {
			return err
		}
		if line, twice := names[s.Name]; twice {
			return fmt.Errorf("%s:%d: scenario %q has the same name as line %d: add a column of the examples to the name",
				uri, s.Line, s.Name, line)
		}
		names[s.Name] = s.Line
		r := s.Requirement
		r.Scenarios = append(r.Scenarios, s)
		for _, id := range s.After {
			if !slices.Contains(r.After, id) {
				r.After = append(r.After, id)
			}
		}
		file.Scenarios = append(file.Scenarios, s)
	}
	for _, r := range requirements {
		if len(r.Scenarios) == 0 {
			return fmt.Errorf("%s:%d: %s has no scenario: add one, or look for a misspelled keyword", uri, r.Line, r.ID)
		}
		r.Needs = r.needs()
	}
	c.Files = append(c.Files, file)
	c.Requirements = append(c.Requirements, requirements...)
	return nil
}
