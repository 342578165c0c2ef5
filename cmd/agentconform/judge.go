package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/target"
)

// judge runs the suite and writes the reports.
func (f *runFlags) judge(ctx context.Context, c *cobra.Command) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	screen := newScreen(c.ErrOrStderr(), f.display)
	screen.follow()
	f.options.Progress = f.progress(screen, cancel)
	result, err := steps.Run(ctx, f.options)
	screen.close()
	if err != nil {
		return err
	}
	if f.known != nil {
		baseline.Apply(result, f.known, time.Now())
	}
	if err := f.write(c, result); err != nil {
		return err
	}
	if err := f.leadOn(c.OutOrStdout(), result); err != nil {
		return err
	}
	return &exit{errReported, overview.Of(result).Display().Exit}
}

// readExploreCase reads the sequence that is to be repeated, if any.
func (f *runFlags) readExploreCase() error {
	if f.exploreCase == "" {
		return nil
	}
	text, err := os.ReadFile(f.exploreCase)
	if err != nil {
		return fmt.Errorf("--explore-case: %w", err)
	}
	if f.options.ExploreCase, err = explore.Parse(string(text)); err != nil {
		return fmt.Errorf("--explore-case %s: %w", f.exploreCase, err)
	}
	return nil
}

// progress shows the events of a run and, with --fail-fast, ends it when a requirement has failed that decides the
// verdict. It goes on where the failure is known, or a known one may explain it.
func (f *runFlags) progress(screen *screen, end context.CancelCauseFunc) func(target.Event) {
	return func(e target.Event) {
		screen.show(e)
		if !f.failFast || e.Kind != target.Ended || e.Verdict != reports.Failed || !e.Decides {
			return
		}
		q := f.options.Catalogue.Find(e.Text)
		covered := f.known != nil && slices.ContainsFunc(append(slices.Clone(q.After), q.ID), f.known.Names)
		if !covered {
			end(&steps.Stopped{By: "--fail-fast: " + q.ID + " failed"})
		}
	}
}

func (f *runFlags) write(c *cobra.Command, result *reports.Result) error {
	if err := export.Write(f.out, result); err != nil {
		return &exit{err, exitIncomplete}
	}
	if f.writeBaseline != "" {
		written, err := baseline.Write(f.writeBaseline, result)
		if err != nil {
			return &exit{err, exitIncomplete}
		}
		f.tell(c, "wrote %s with %s%s", written.File, reports.Count(len(written.Known)+len(written.Flaky), "known failure"),
			incomplete(written))
	}
	out := c.OutOrStdout()
	if f.format == formatJSON {
		return result.WriteJSON(out)
	}
	isPlain := f.format == formatPlain
	width := columns(out)
	shown := console.Options{Color: colored(f.color, width > 0, isPlain), Out: f.out, Quiet: f.quiet}
	if !isPlain {
		shown.Width = width
	}
	return console.Write(out, result, shown)
}

// tell writes a notice to standard error, unless the run is to be quiet.
func (f *runFlags) tell(c *cobra.Command, format string, args ...any) {
	if !f.quiet {
		c.PrintErrln("agentconform: " + safe.Line(fmt.Sprintf(format, args...)))
	}
}

// loadBaseline reads the known failures, if any.
func (f *runFlags) loadBaseline(c *cobra.Command) (err error) {
	if f.baseline == "" {
		return nil
	}
	if f.known, err = baseline.Load(f.baseline); err != nil {
		return err
	}
	if text := incomplete(f.known); text != "" {
		f.tell(c, "warning: %s%s", f.known.File, text)
	}
	return nil
}

// incomplete says which entries of a baseline a person has yet to complete; "" where there is none.
func incomplete(b *baseline.Baseline) string {
	if ids := b.Incomplete(); len(ids) > 0 {
		return ": fill in the reason and owner of " + strings.Join(ids, ", ")
	}
	return ""
}

// checkWriteBaseline refuses a file that could not be written at the end of the run. It may be in the folder of the
// reports, which the run makes.
func (f *runFlags) checkWriteBaseline() error {
	if f.writeBaseline == "" {
		return nil
	}
	folder := filepath.Dir(f.writeBaseline)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder == filepath.Clean(f.out) {
		return nil
	}
	return baseline.Check(f.writeBaseline)
}

// The memory above which garbage is collected more often, in bytes: of a run, and of each request in flight. Below it,
// garbage is collected once it is this part of what is in use, in percent.
const (
	memoryOfRun     = 32 << 20
	memoryOfRequest = 5 << 20
	garbage         = 60
)

// limitMemory makes a run, above all one that judges large answers, collect garbage soon. It is no hard limit, and
// GOMEMLIMIT and GOGC take precedence.
func limitMemory(concurrency int) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 { // only asks
		return
	}
	debug.SetMemoryLimit(memoryOfRun + int64(concurrency)*memoryOfRequest)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
