package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/spelling"
)

func newExplain() *cobra.Command {
	format, section := "text", ""
	c := &cobra.Command{
		Use:   "explain ID...",
		Short: "Explain requirements: rule, quote, steps, known faults",
		Long: `Explain requirements: the rule with its level, the sentence of the interface that it judges, the reason for
how it is judged, the sections of the interface that it comes from, its scenarios with their steps (once for the rows of
an outline), and the faults of the reference that break it. Serve a fault (agentconform serve --fault NAME) to see what a test run reports about it.`,
		Example: `  agentconform explain CP-LIST-3
  agentconform explain CP-LIST-3 AS-ROLLBACK-1 --format json
  agentconform explain --section 3`,
		Args: func(c *cobra.Command, ids []string) error {
			if section != "" {
				return noArguments("give either IDs or --section")(c, ids)
			}
			return arguments(1, 0, "the IDs of one or more requirements, such as CP-LIST-3 (agentconform list shows all)")(c, ids)
		},
		RunE: func(c *cobra.Command, ids []string) error {
			if section != "" {
				_, err := io.WriteString(c.OutOrStdout(), spec.SectionText(section))
				return err
			}
			catalogue, err := features.Load()
			if err != nil {
				return err
			}
			var all []explanation
			for _, id := range ids {
				r := catalogue.Find(id)
				if r == nil {
					return fmt.Errorf("no requirement has the ID %q; %sagentconform list shows all", id,
						spelling.DidYouMean(catalogue.Nearest(id)))
				}
				near, err := faults.Near(r.ID)
				if err != nil {
					return err
				}
				all = append(all, explain(r, near))
			}
			if format == "json" {
				return reports.WriteEncoded(c.OutOrStdout(), map[string][]explanation{"requirements": all}, "  ")
			}
			var texts []string
			for _, e := range all {
				texts = append(texts, e.text())
			}
			_, err = io.WriteString(c.OutOrStdout(), strings.Join(texts, "\n"))
			return err
		},
		ValidArgsFunction: completeRequirements,
	}
	addChoice(c, &format, "format", "", "text", "json")
	addChoice(c, &section, "section", ": print this section of the interface", spec.Sections()...)
	return c
}

// explanation describes a requirement.
type explanation struct {
	*features.Requirement
	Capability string           `json:"capability"`     // the value of the key supports that claims the requirement
	Core       bool             `json:"core,omitempty"` // the capability is part of every claim of the profile
	Interface  []explainSection `json:"interface"`
	Faults     []explainFault   `json:"faults"`
}

type explainSection struct {
	Section string `json:"section"`
	Title   string `json:"title"`
}

type explainFault struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Fails is the requirement that the fault is designed to break: this one, or another one on which this one depends.
	Fails string `json:"fails"`
}

// explain describes a requirement with those of the faults that break it.
func explain(r *features.Requirement, known []*deviate.Row) explanation {
	c := features.CapabilityOf(r.ID)
	e := explanation{Requirement: r, Capability: c.Name, Core: c.Core, Faults: []explainFault{}}
	for _, number := range r.Sections {
		e.Interface = append(e.Interface, explainSection{number, spec.SectionTitle(number)})
	}
	for _, f := range known {
		_, breaksAlso := f.Also[r.ID]
		if breaksAlso || f.Fails == r.ID {
			e.Faults = append(e.Faults, explainFault{f.Name, f.Breaks, f.Fails})
		}
	}
	return e
}

func (e explanation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n%s\n", e.ID, e.Level, e.Profile, e.Title)
	if e.Quote != "" {
		sections := "section "
		if len(e.Sections) > 1 {
			sections = "sections "
		}
		fmt.Fprintf(&b, "\nThe interface says (%s%s):  \"%s\"\n", sections, strings.Join(e.Sections, ", "), e.Quote)
	}
	if e.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", "  "+strings.ReplaceAll(e.Description, "\n", "\n  "))
	}
	if e.Needs != "" {
		fmt.Fprintf(&b, "\nNeeds in the configuration: %s\n", e.Needs)
	}
	if len(e.After) > 0 {
		fmt.Fprintf(&b, "\nExplained by a failure of: %s\n", strings.Join(e.After, ", "))
	}
	fmt.Fprintf(&b, "\nClaimed in the key supports by: %s\n", e.claimedBy())
	b.WriteString("\nInterface (agentconform explain --section N prints a section):\n")
	for _, s := range e.Interface {
		fmt.Fprintf(&b, "  section %s: %s\n", s.Section, s.Title)
	}
	fmt.Fprintf(&b, "\nScenarios (%d), in https://github.com/agentconform/agentconform/tree/main/features:\n", len(e.Scenarios))
	shown := map[int]bool{} // lines of the last steps; the rows of an outline share the line
	for _, s := range e.Scenarios {
		fmt.Fprintf(&b, "  %s  %s\n", s.Key(), s.Name)
		last := s.Steps[len(s.Steps)-1].Line
		for _, step := range s.Steps {
			if !shown[last] {
				fmt.Fprintf(&b, "    %s %s\n", step.Keyword, step.Text)
			}
		}
		shown[last] = true
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(&b, "\nKnown faults that break it (%d); to see one: agentconform serve --fault NAME\n", len(e.Faults))
	for _, f := range e.Faults {
		fmt.Fprintf(t, "  %s\t%s%s\n", f.Name, f.Description, e.through(f))
	}
	_ = t.Flush() // a strings.Builder does not fail
	return b.String()
}

// claimedBy returns the words of the key supports that claim the requirement.
func (e explanation) claimedBy() string {
	switch {
	case e.Core:
		return "every word of " + e.Profile + ", and end-to-end (it is in " + e.Capability + ", which every claim includes)"
	case e.Capability == e.Profile:
		return e.Profile
	}
	return e.Profile + ", or the capability " + e.Capability
}

// through returns a note if a fault is designed to break another requirement, or "".
func (e explanation) through(f explainFault) string {
	if f.Fails == e.ID {
		return ""
	}
	return " (breaks " + f.Fails + " and therefore this requirement)"
}
