package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec/requirements"
)

func newCompare() *cobra.Command {
	var out, page string
	var labels []string
	c := &cobra.Command{
		Use:   "compare RESULT RESULT...",
		Short: "Compare results: several implementations, or versions of one",
		Long: `Compare the results of several test runs: of several implementations, or of versions of one, oldest first.

Requirements that a newer suite added, renamed or removed are not regressions of the target.

--html writes a page with a column for each result and a row for each capability and requirement. A cell is a link to the
report of its result, if index.html is in the folder of the result file. The page needs no network.

Exit codes: 0 no regression, 1 the last of several versions has a regression, 2 wrong usage.`,
		Example: `  agentconform compare before/result.json after/result.json
  agentconform compare a.json b.json --label ours --label theirs --out both
  agentconform compare results/*/result.json --html results/compare.html`,
		Args: arguments(2, 0, "two result files or more, such as before/result.json after/result.json"),
		RunE: func(c *cobra.Command, files []string) error {
			if len(labels) > 0 && len(labels) != len(files) {
				return fmt.Errorf("%s for %s: give one --label for each result, or none", reports.Count(len(labels), "--label"),
					reports.Count(len(files), "result"))
			}
			inputs := make([]compare.Input, len(files))
			for i, file := range files {
				result, err := reports.ReadFile(file)
				if err != nil {
					return err
				}
				inputs[i] = compare.Input{File: file, Result: result, Report: reportFrom(page, file)}
				if len(labels) > 0 {
					inputs[i].Label = labels[i]
				}
			}
			table := compare.Of(inputs...)
			if out != "" {
				if err := writeComparison(out, table); err != nil {
					return err
				}
			}
			if page != "" {
				if err := writeMatrix(page, table); err != nil {
					return err
				}
			}
			if err := table.Text(c.OutOrStdout()); err != nil {
				return err
			}
			if err := explainSets(c.OutOrStdout(), inputs); err != nil {
				return err
			}
			return exitIf(table.Regressed(), exitNonConformant)
		},
	}
	c.Flags().StringVar(&out, "out", "",
		"`folder` for compare.md, which lists all judged requirements (default: it is not written)")
	c.Flags().StringVar(&page, "html", "", "write the comparison as a page to the `file` (default: it is not written)")
	c.Flags().StringArrayVar(&labels, "label", nil, "`name` of a result; once for each result, in the same order")
	return c
}

// explainSets prints what differs between the requirement sets of successive results.
func explainSets(w io.Writer, inputs []compare.Input) error {
	for i := range inputs[1:] {
		from, to := inputs[i].Result.Suite.Set, inputs[i+1].Result.Suite.Set
		if from == to {
			continue
		}
		fmt.Fprintf(w, "\n%s counts %s, %s counts %s:\n", inputs[i].File, setName(from), inputs[i+1].File, setName(to))
		lines, err := differenceOfSets(from, to)
		if err != nil {
			lines = []string{err.Error()}
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(w, "  "+safe.Line(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

func setName(version string) string {
	if version == "" {
		return "every requirement of its suite"
	}
	return "requirement set " + safe.Line(version)
}

// differenceOfSets describes the difference between two versions. The empty version stands for the requirements of this
// program.
func differenceOfSets(from, to string) ([]string, error) {
	before, err := setOf(from)
	if err != nil {
		return nil, err
	}
	after, err := setOf(to)
	if err != nil {
		return nil, err
	}
	lines := requirements.Difference(before, after)
	if len(lines) == 0 {
		lines = []string{"both have the same requirements and scenarios"}
	}
	return lines, nil
}

func setOf(version string) (*requirements.Set, error) {
	if version != "" {
		return requirements.Load(version)
	}
	catalogue, err := features.Load()
	if err != nil {
		return nil, err
	}
	return catalogue.Set("this version"), nil
}

// comparisonMark is the first line of compare.md. It is a comment in Markdown.
const comparisonMark outfile.Mark = "<!-- written by agentconform compare -->"

func writeComparison(dir string, table *compare.Table) error {
	path := filepath.Join(dir, "compare.md")
	err := comparisonMark.Of(path)
	if err == nil {
		err = outfile.Write(path, outfile.Public, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, comparisonMark)
			return errors.Join(err, table.Markdown(w))
		})
	}
	return writeError("comparison", err, "folder with --out")
}

// matrixMark identifies the page of a comparison, so that --html does not replace a file of another program.
const matrixMark outfile.Mark = `content="agentconform compare"`

func writeMatrix(path string, table *compare.Table) error {
	err := matrixMark.Of(path)
	if err == nil {
		err = outfile.Write(path, outfile.Public, table.HTML)
	}
	return writeError("comparison", err, "file with --html")
}

// reportFrom returns the URL of the report of a result file, relative to a page. It returns "" without a page or a report.
func reportFrom(page, file string) string {
	if page == "" {
		return ""
	}
	report := filepath.Join(filepath.Dir(file), reports.ReportHTML.File())
	if _, err := os.Stat(report); err != nil {
		return ""
	}
	folder, _ := filepath.Abs(filepath.Dir(page)) // fails only if the working directory was removed
	report, _ = filepath.Abs(report)
	relative, err := filepath.Rel(folder, report)
	if err != nil { // on another drive
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(relative)}).String()
}
