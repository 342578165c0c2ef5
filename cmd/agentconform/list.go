package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/situations"
	"github.com/agentconform/agentconform/steps/suite"
)

func newList() *cobra.Command {
	format := "table"
	var results []string
	var cases, pairs, definitions bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the requirements with level, sections and number of scenarios",
		Long: `List all requirements with their level, the sections of the interface that they come from and their
scenarios, and the parts of the interface that no requirement covers. agentconform explain ID shows one requirement in
full.

--format html writes the specification as one page. The results of --result add exchanges as examples: a file with the
name of a fault (limit-101-is-served.json) shows how its rule is broken, and all other files show how the rules are met.
agentconform prove --examples writes such files.

--steps lists the steps that scenarios can use, grouped by the features that can use them. A step is a regular expression;
below it is an example from a scenario.`,
		Example: `  agentconform list
  agentconform list | grep CP-LIST
  agentconform list --format json
  agentconform list --cases | grep create-run
  agentconform list --situations
  agentconform list --steps | grep 'When.* limit'
  agentconform list --format markdown > features/REQUIREMENTS.md
  agentconform list --format html --result reference.json > specification.html`,
		Args: noArguments("agentconform explain ID shows one requirement"),
		RunE: func(c *cobra.Command, _ []string) error {
			if len(results) > 0 && format != "html" {
				return errors.New("--result gives the examples of --format html: add it, or remove --result")
			}
			catalogue, err := features.Load()
			if err != nil {
				return err
			}
			w := c.OutOrStdout()
			isOther := cases || pairs || definitions
			switch {
			case cases && pairs, cases && definitions, pairs && definitions:
				return errors.New("--cases, --situations and --steps are different lists: give one of them")
			case isOther && format != "table" && format != "json":
				return fmt.Errorf("--format %s is for the list of requirements: give table or json", format)
			case cases:
				return listCases(w, catalogue, format)
			case pairs:
				return listSituations(w, catalogue, format)
			case definitions:
				return listSteps(w, catalogue, format)
			case format == "table":
				return listTable(w, catalogue)
			case format == "json":
				return listJSON(w, catalogue)
			case format == "markdown":
				return features.Markdown(w, catalogue)
			}
			return listHTML(w, catalogue, results)
		},
	}
	c.Flags().BoolVar(&cases, "cases", false, "list what a client may send by the contract, with the scenarios that judge it or the reason why none does")
	c.Flags().BoolVar(&pairs, "situations", false, "list the events of a deployment and of a thread with the checks after each of them")
	c.Flags().BoolVar(&definitions, "steps", false, "list the steps that the scenarios of each feature can use")
	addChoice(c, &format, "format", "", "table", "json", "markdown", "html")
	c.Flags().StringSliceVar(&results, "result", nil, "result `files` with the examples of --format html")
	return c
}

func listTable(w io.Writer, c *features.Catalogue) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tLEVEL\tSECTION\tSCENARIOS\tREQUIREMENT")
	for _, r := range c.Requirements {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", r.ID, r.Level, strings.Join(r.Sections, ", "), len(r.Scenarios), r.Title)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s, %s\n\nExcluded:\n", reports.Count(len(c.Requirements), "requirement"),
		reports.Count(len(c.Scenarios()), "scenario"))
	for _, e := range features.Excluded() {
		fmt.Fprintf(w, "  %s (section %s): %s\n", e.Subject, e.Section, e.Reason)
	}
	return nil
}

func listJSON(w io.Writer, c *features.Catalogue) error {
	document := struct {
		Requirements []explanation        `json:"requirements"`
		Excluded     []features.Exclusion `json:"excluded"`
	}{Excluded: features.Excluded()}
	known := faults.All()
	for _, r := range c.Requirements {
		document.Requirements = append(document.Requirements, explain(r, known))
	}
	return reports.WriteEncoded(w, document, "  ")
}

// listCases writes the requests that the contract allows a client to send, with the scenarios that judge each, or the
// reason why there is none.
func listCases(w io.Writer, c *features.Catalogue, format string) error {
	cells, err := spec.Cells()
	if err != nil {
		return err
	}
	cases, err := features.Cases(c, cells)
	if err != nil {
		return err
	}
	if format == "json" {
		return reports.WriteEncoded(w, map[string][]features.Case{"cases": cases}, "  ")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "OPERATION\tPLACE\tCLASS\tCASE, OR WHY THERE IS NONE")
	reasons := 0
	for _, each := range cases {
		if each.Reason != "" {
			reasons++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", each.Operation, each.Place, each.Class, describeCase(each))
	}
	fmt.Fprintf(t, "\n%d cells: %d with a case, %d with a reason\n", len(cases), len(cases)-reasons, reasons)
	return t.Flush()
}

// listSituations writes each event with each check, and the scenario about both, or the reason why there is none.
func listSituations(w io.Writer, c *features.Catalogue, format string) error {
	pairs := situations.Pairs(c)
	if format == "json" {
		return reports.WriteEncoded(w, map[string][]situations.Pair{"situations": pairs}, "  ")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "EVENT\tCHECK\tREQUIREMENT\tSCENARIO, OR WHY THERE IS NONE")
	leftOut := 0
	for _, p := range pairs {
		if p.Reason != "" {
			leftOut++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Event, p.Check, p.Requirement, p.Scenario+p.Reason)
	}
	fmt.Fprintf(t, "\n%d pairs: %d with a scenario, %d left out\n", len(pairs), len(pairs)-leftOut, leftOut)
	return t.Flush()
}

// listSteps writes the step definitions, grouped by the features that can use them.
func listSteps(w io.Writer, c *features.Catalogue, format string) error {
	definitions, err := suite.Definitions(c)
	if err != nil {
		return err
	}
	if format == "json" {
		return reports.WriteEncoded(w, map[string][]*suite.Definition{"steps": definitions}, "  ")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	previous := ""
	for _, d := range definitions {
		group := describeFeatures(d.Features, c)
		if group != previous {
			fmt.Fprintf(t, "\n%s\n", group)
			previous = group
		}
		pattern := strings.ReplaceAll(d.Pattern, "(?:", "(")
		fmt.Fprintf(t, "  %s\t%s\n", d.Keyword, pattern)
		if d.Example != d.Pattern {
			fmt.Fprintf(t, "\t  %s\n", d.Example)
		}
	}
	fmt.Fprintf(t, "\n%d steps\n", len(definitions))
	return t.Flush()
}

// describeFeatures names feature files: "every feature", "agent_server/*, end_to_end" or "agent_server/runs".
func describeFeatures(files []string, c *features.Catalogue) string {
	if len(files) == len(c.Files) {
		return "every feature"
	}
	all, given := map[string]int{}, map[string]int{} // number of files by folder
	for _, f := range c.Files {
		all[path.Dir(f.URI)]++
	}
	for _, file := range files {
		given[path.Dir(file)]++
	}
	var names []string
	for _, file := range files {
		folder, name := path.Dir(file), strings.TrimSuffix(file, ".feature")
		if folder != "." && given[folder] == all[folder] {
			name = folder + "/*"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// describeCase returns the reason why no scenario judges a case, or the first scenario.
func describeCase(c features.Case) string {
	if c.Reason != "" {
		return c.Reason
	}
	text := c.Requirement + ": " + c.Scenarios[0]
	if len(c.Scenarios) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(c.Scenarios)-1)
	}
	return text
}
