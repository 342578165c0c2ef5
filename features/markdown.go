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

// head is the beginning of the page of requirements.
//
//go:embed head.md
var head string

// parts has the profiles in the order of the page.
var parts = []struct{ profile, title string }{
	{ControlPlane, "Control plane"},
	{AgentServer, "Agent server"},
	{EndToEnd, "Across both"},
}

// Markdown writes the page with the requirements, the exclusions, and the differences that a conforming target may have.
func Markdown(w io.Writer, c *Catalogue) error {
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
	b.WriteString("\n## Quotes of the interface\n\n" +
		"Below each quote are the requirements that judge it; ... stands for omitted parts.\n")
	for _, g := range grouped(c, func(r *Requirement) string { return r.Quote }) {
		fmt.Fprintf(&b, "\n> %s\n\n%s\n", strings.ReplaceAll(marked(g.text), "<", `\<`), strings.Join(g.ids, ", "))
	}
	b.WriteString("\n## Keys of (r) requirements\n\n| keys of the configuration | requirements |\n| --- | --- |\n")
	for _, g := range grouped(c, func(r *Requirement) string { return r.Needs }) {
		fmt.Fprintf(&b, "| %s | %s |\n", marked(g.text), strings.Join(g.ids, ", "))
	}
	b.WriteString("\n## Which failures explain others\n\n| a failure of | is explained by a failure of |\n| --- | --- |\n")
	for _, r := range c.Requirements {
		if len(r.After) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", r.ID, strings.Join(r.After, ", "))
		}
	}
	b.WriteString("\n## Excluded, with the reason\n\n| subject | section | reason |\n| --- | --- | --- |\n")
	for _, e := range Excluded() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", marked(e.Subject), e.Section, marked(e.Reason))
	}
	b.WriteString("\n## What a conforming target may vary\n")
	for _, part := range parts {
		fmt.Fprintf(&b, "\n%s\n\n", part.title)
		for _, f := range c.Files {
			if text := f.Variations(); text != "" && f.profile() == part.profile {
				fmt.Fprintf(&b, "- %s: %s\n", f.name(), marked(text))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func levelOf(r *Requirement) string {
	if r.Needs == "" {
		return string(r.Level)
	}
	return string(r.Level) + " (r)"
}

// group has the IDs of requirements with the same text.
type group struct {
	text string
	ids  []string
}

// grouped groups the requirements by a text, in the order of the first use of each text. Requirements without a text are
// omitted.
func grouped(c *Catalogue, text func(*Requirement) string) (all []*group) {
	known := map[string]*group{}
	for _, r := range c.Requirements {
		t := text(r)
		if t == "" {
			continue
		}
		g := known[t]
		if g == nil {
			g = &group{text: t}
			known[t], all = g, append(all, g)
		}
		g.ids = append(g.ids, r.ID)
	}
	return all
}

// Variations returns the permitted differences of conforming targets: the paragraph of the description that begins with
// "A conforming target may", from "may" on, or "".
func (f File) Variations() string {
	for paragraph := range strings.SplitSeq(f.Description, "\n\n") {
		if text, found := strings.CutPrefix(strings.ReplaceAll(paragraph, "\n", " "), "A conforming target "); found {
			return text
		}
	}
	return ""
}

func (f File) name() string { return f.Scenarios[0].Requirement.Feature }

func (f File) profile() string { return f.Scenarios[0].Requirement.Profile }

// technical matches paths, refs and names with an underscore or a dot.
var technical = regexp.MustCompile("[A-Za-z0-9]*(?:/[A-Za-z0-9_{}]+)+/?|[a-z]+(?:[._][a-z0-9]+)+")

// marked returns a text for a cell of a table, with its technical names as code.
func marked(text string) string {
	return technical.ReplaceAllString(strings.ReplaceAll(text, "|", `\|`), "`$0`")
}

//go:embed excluded.yaml
var excludedFile []byte

// Exclusion is a subject that the interface mentions and no requirement judges.
type Exclusion struct {
	Subject string `yaml:"subject" json:"subject"`
	Section string `yaml:"section" json:"section"`
	Reason  string `yaml:"reason" json:"reason"`
}

// Excluded returns the exclusions.
func Excluded() (list []Exclusion) {
	if err := yaml.Unmarshal(excludedFile, &list); err != nil {
		panic(err) // the file is embedded
	}
	return list
}
