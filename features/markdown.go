package features

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// head is the beginning of the page of requirements. It says first that the page is generated.
const head = `<!-- Generated from the features. Do not edit: change the Rule, then run: make requirements -->

# The requirements

Every requirement is a ` + "`Rule`" + ` of a feature in this folder, with a stable ID. This page is generated from
them; they hold the details, the scenarios and the examples. The sections are those of the
[interface](../spec/INTERFACE.md). An ID is never used again for another requirement.

- MUST: the interface says so. A violation makes the target non-conformant.
- SHOULD: the interface implies it, or clients rely on it. A violation is a warning; with ` + "`--strict`" + ` it counts like that of a MUST.
- MAY: optional, and judged only where the target's configuration declares it.
- (r): judged only where the configuration has what the requirement needs, beyond the addresses, ` + "`credentials.api_key`" + ` and
  ` + "`create.body`" + `. [The keys](#what-r-requirements-need) are listed below. Without them the requirement is skipped, and the reason
  names the key.
`

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
