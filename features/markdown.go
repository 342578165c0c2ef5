package features

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// head is the beginning of the page of requirements. It says first that the page is generated.
//
//go:embed head.md
var head string

// parts are the profiles in the order of the page.
var parts = []struct{ profile, title string }{
	{ControlPlane, "Control plane"},
	{AgentServer, "Agent server"},
	{EndToEnd, "Across both"},
}

// Markdown writes the page that lists the requirements, what is excluded, and what a conforming target may vary.
func Markdown(w io.Writer, c *Catalogue) error {
	excluded, err := Excluded()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(head)
	for _, part := range parts {
		fmt.Fprintf(&b, "\n## %s\n\n| id | level | requirement | section |\n| --- | --- | --- | --- |\n", part.title)
		for _, r := range c.Requirements {
			if r.Profile == part.profile {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.ID, levelOf(r), marked(r.Title), strings.Join(r.Sections, ", "))
			}
		}
	}
	b.WriteString("\n## What (r) requirements need\n\n| needs in the configuration | requirements |\n| --- | --- |\n")
	for _, n := range needs(c) {
		fmt.Fprintf(&b, "| %s | %s |\n", marked(n.what), strings.Join(n.ids, ", "))
	}
	b.WriteString("\n## Excluded, with the reason\n\n| subject | section | reason |\n| --- | --- | --- |\n")
	for _, e := range excluded {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", marked(e.Subject), e.Section, marked(e.Reason))
	}
	b.WriteString("\n## What a conforming target may vary\n")
	for _, part := range parts {
		fmt.Fprintf(&b, "\n%s\n\n", part.title)
		for _, f := range c.Files {
			if text := f.variations(); text != "" && f.profile() == part.profile {
				fmt.Fprintf(&b, "- %s: %s\n", f.name(), marked(text))
			}
		}
	}
	_, err = w.Write(b.Bytes())
	return err
}

func levelOf(r *Requirement) string {
	if r.Needs == "" {
		return string(r.Level)
	}
	return string(r.Level) + " (r)"
}

// need is what some requirements need of the configuration.
type need struct {
	what string
	ids  []string
}

// needs groups the requirements by what they need, in the order in which the needs come first.
func needs(c *Catalogue) (all []*need) {
	known := map[string]*need{}
	for _, r := range c.Requirements {
		if r.Needs == "" {
			continue
		}
		n := known[r.Needs]
		if n == nil {
			n = &need{what: r.Needs}
			known[r.Needs], all = n, append(all, n)
		}
		n.ids = append(n.ids, r.ID)
	}
	return all
}

// variations returns what the feature lets a conforming target vary: the paragraph of its description that begins with
// "A conforming target may", from "may" on; "" where there is none.
func (f File) variations() string {
	for paragraph := range strings.SplitSeq(f.Description, "\n\n") {
		if text, found := strings.CutPrefix(strings.ReplaceAll(paragraph, "\n", " "), "A conforming target "); found {
			return text
		}
	}
	return ""
}

func (f File) name() string { return f.Scenarios[0].Requirement.Feature }

func (f File) profile() string { return f.Scenarios[0].Requirement.Profile }

// technical finds paths, refs and names with an underscore or a dot in them.
var technical = regexp.MustCompile("[A-Za-z0-9]*(?:/[A-Za-z0-9_{}]+)+/?|[a-z]+(?:[._][a-z0-9]+)+")

// marked returns a text with its technical names as code, fit for a cell of a table.
func marked(text string) string {
	return technical.ReplaceAllString(strings.ReplaceAll(text, "|", `\|`), "`$0`")
}

//go:embed excluded.yaml
var excludedFile []byte

// Exclusion is something that the interface mentions and no requirement judges.
type Exclusion struct {
	Subject string `yaml:"subject" json:"subject"`
	Section string `yaml:"section" json:"section"`
	Reason  string `yaml:"reason" json:"reason"`
}

// Excluded returns what no requirement judges, with the reasons.
func Excluded() ([]Exclusion, error) {
	var list []Exclusion
	if err := yaml.Unmarshal(excludedFile, &list); err != nil {
		return nil, fmt.Errorf("reading the excluded subjects: %w", err)
	}
	return list, nil
}
