package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
)

func newCompare(s streams) *cobra.Command {
	var out string
	var labels []string
	c := &cobra.Command{
		Use:   "compare RESULT RESULT...",
		Short: "Put implementations, or versions of one, side by side",
		Long: `Put the results of several runs side by side: implementations, or versions of one, in the order of time.

Regressions, fixed and new requirements, and those that the suite itself renamed or dropped, are told apart: an update
of the suite is no regression of the target. Exit code 1 means that the last of several versions has a regression.`,
		Example: `  agentconform compare before/result.json after/result.json
  agentconform compare a.json b.json c.json --label ours --label theirs --label reference --out comparison`,
		Args: arguments(2, 0, "two result files or more, such as before/result.json after/result.json"),
		RunE: func(_ *cobra.Command, files []string) error {
			if len(labels) > 0 && len(labels) != len(files) {
				return fmt.Errorf("--label is given %d times for %d results: give one for each, or none", len(labels), len(files))
			}
			inputs := make([]compare.Input, len(files))
			for i, file := range files {
				result, err := reports.ReadFile(file)
				if err != nil {
					return err
				}
				inputs[i].Result = result
				if len(labels) > 0 {
					inputs[i].Label = labels[i]
				}
			}
			table, err := compare.Of(inputs...)
			if err != nil {
				return err
			}
			if out != "" {
				if err := writeComparison(out, table); err != nil {
					return err
				}
			}
			if err := table.Text(s.out, newScreen(s, "").color); err != nil {
				return err
			}
			if table.Regressed() {
				return failed(exitNonConformant)
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "`folder` for compare.md and compare.html (default: none is written)")
	c.Flags().StringArrayVar(&labels, "label", nil, "`name` of a result, in the order of the results")
	return c
}

func writeComparison(dir string, table *compare.Table) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder for the comparison: %w; name another with --out", err)
	}
	for name, write := range map[string]func(io.Writer) error{"compare.md": table.Markdown, "compare.html": table.HTML} {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("writing the comparison: %w", err)
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return fmt.Errorf("writing the comparison: %w", err)
		}
	}
	return nil
}

func newMerge(s streams) *cobra.Command {
	var out, known string
	c := &cobra.Command{
		Use:   "merge RESULT...",
		Short: "Make one result of the shards of a run",
		Example: `  agentconform run --shard 1/2 --out s1 && agentconform run --shard 2/2 --out s2
  agentconform merge s1/result.json s2/result.json --out out`,
		Args: arguments(1, 0, "the result file of each shard, such as s1/result.json s2/result.json"),
		RunE: func(_ *cobra.Command, files []string) error {
			f := &runFlags{out: out, baseline: known}
			entries, err := f.loadBaseline()
			if err != nil {
				return err
			}
			shards := make([]*reports.Result, len(files))
			for i, file := range files {
				if shards[i], err = reports.ReadFile(file); err != nil {
					return err
				}
			}
			merged, err := compare.Merge(shards...)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("making the folder for the reports: %w; name another with --out", err)
			}
			code := concluded(merged, entries)
			if err := f.write(merged, newScreen(s, ""), s); err != nil {
				return err
			}
			return failed(code)
		},
	}
	c.Flags().StringVar(&out, "out", defaultOut, "`folder` for the reports of the whole")
	c.Flags().StringVar(&known, "baseline", "", "`file` of known failures, which do not fail the run")
	return c
}
