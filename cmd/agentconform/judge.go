package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/markdown"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// judge runs the suite and writes the reports.
func (f *runFlags) judge(ctx context.Context, cfg *config.Config, served steps.Fixtures, selection steps.Selection, known *baseline.Baseline, io streams) error {
	catalogue, oracle, err := steps.Requirements()
	if err != nil {
		return err
	}
	sequence, err := f.exploreCaseOf()
	if err != nil {
		return err
	}
	binding, err := steps.Binding(catalogue, f.failOn)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("creating the folder for the reports: %w; name another with --out", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	screen := f.screen(io)
	screen.follow()
	result, err := steps.Run(ctx, steps.Options{
		Config: cfg, Catalogue: catalogue, Oracle: oracle, Fixtures: served, Select: selection,
		Concurrency: f.concurrency, Strict: f.strict, FailOn: f.failOn, RequireWhole: f.requireWhole, Keep: f.keep, Seed: f.seed,
		Version: suiteVersion(), Commit: suiteCommit(), Arguments: f.arguments, Explore: f.explore, ExploreCase: sequence,
		LedgerFile: filepath.Join(f.out, "ledger.jsonl"), Progress: f.progress(screen, catalogue, binding, known, cancel),
	})
	screen.close()
	if err != nil {
		return err
	}
	code := concluded(result, known)
	if err := f.write(result, screen, io); err != nil {
		return err
	}
	if err := f.leadOn(io.out, result, cfg, catalogue); err != nil {
		return err
	}
	return failed(code)
}

// exploreCaseOf reads the sequence that is to be repeated; none where the flag is not given.
func (f *runFlags) exploreCaseOf() ([]steps.Operation, error) {
	if f.exploreCase == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.exploreCase)
	if err != nil {
		return nil, fmt.Errorf("--explore-case: %w", err)
	}
	all, err := steps.ParseOperations(string(text))
	if err != nil {
		return nil, fmt.Errorf("--explore-case %s: %w", f.exploreCase, err)
	}
	return all, nil
}

func (f *runFlags) screen(io streams) *screen {
	return newScreen(io, display{format: f.format, color: f.color, quiet: f.quiet, verbose: f.verbose})
}

// progress shows the events of a run and, with --fail-fast, ends it when a requirement has failed that decides the verdict.
// One that has an entry in the baseline goes on: its failure is known.
func (f *runFlags) progress(screen *screen, c *features.Catalogue, binding func(*features.Requirement) bool, known *baseline.Baseline, end context.CancelCauseFunc) func(steps.Event) {
	if !f.failFast {
		return screen.show
	}
	covered := func(id string) bool { // a known failure, or one that a known failure may explain
		return known != nil && slices.ContainsFunc(append(slices.Clone(c.Find(id).After), id), known.Names)
	}
	return func(e steps.Event) {
		screen.show(e)
		if e.Kind == steps.Ended && e.Verdict == reports.Failed && (c.Find(e.Text).Level.Decides(f.strict) || binding(c.Find(e.Text))) && !covered(e.Text) {
			end(&steps.Stopped{By: "--fail-fast: " + e.Text + " failed"})
		}
	}
}

func (f *runFlags) write(result *reports.Result, screen *screen, io streams) error {
	if err := export.Write(f.out, result); err != nil {
		return &exit{exitIncomplete, err}
	}
	if f.writeBaseline != "" {
		written, err := baseline.Write(f.writeBaseline, result)
		if err != nil {
			return &exit{exitIncomplete, err}
		}
		f.tell(io, "%s", summaryOf(written))
	}
	if err := summarise(result, os.Getenv("GITHUB_STEP_SUMMARY")); err != nil {
		fmt.Fprintln(io.err, "agentconform:", err)
	}
	if f.format == formatJSON {
		return result.WriteJSON(io.out)
	}
	return console.Write(io.out, result, console.Options{Color: screen.color, Width: screen.width, Out: f.out, Quiet: f.quiet})
}

// tell writes a notice to standard error, unless the run is to be quiet.
func (f *runFlags) tell(io streams, format string, args ...any) {
	if !f.quiet {
		fmt.Fprintln(io.err, "agentconform: "+safe.Line(fmt.Sprintf(format, args...)))
	}
}

// summarise appends the summary to the file that a CI system shows with the job. The system makes a regular file, and nobody else names it: a
// link, which leads to a file of somebody else, or a FIFO, which waits for a reader, is not written to.
func summarise(result *reports.Result, path string) error {
	if path == "" {
		return nil
	}
	file, err := outfile.Append(path)
	if err != nil {
		return fmt.Errorf("opening GITHUB_STEP_SUMMARY: %w", err)
	}
	return errors.Join(markdown.Write(file, result), file.Close())
}
