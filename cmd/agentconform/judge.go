package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/events"
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
	stop := screen.start()
	f.options.Progress = f.progress(screen, cancel)
	if f.format == formatJSONL {
		f.events = events.NewWriter(c.OutOrStdout())
	}
	result, err := steps.Run(ctx, f.options)
	stop()
	if err != nil {
		return err
	}
	if f.known != nil {
		baseline.Apply(result, f.known, time.Now())
	}
	return f.report(c, result)
}

// report writes the reports and returns the exit code. If a report cannot be written, a test run that is not conformant
// keeps its exit code, because the code for an incomplete test run would hide the failure.
func (f *runFlags) report(c *cobra.Command, result *reports.Result) error {
	code := overview.Of(result).Display().Exit
	err := f.write(c, result)
	if err == nil {
		err = f.showNextSteps(c.OutOrStdout(), result)
	}
	switch {
	case err == nil:
		return &exit{errReported, code}
	case code == exitNonConformant:
		return &exit{err, code}
	}
	return &exit{err, exitIncomplete}
}

// readExploreCase reads the sequence of --explore-case, if any.
func (f *runFlags) readExploreCase() error {
	if f.exploreCase == "" {
		return nil
	}
	text, err := os.ReadFile(f.exploreCase)
	if err != nil {
		return fmt.Errorf("--explore-case: %w", err)
	}
	f.options.ExploreCase, err = explore.Parse(string(text))
	if err != nil {
		return fmt.Errorf("--explore-case %s: %w", f.exploreCase, err)
	}
	return nil
}

// progress returns a function that shows the events of a test run. With --fail-fast it ends the test run when a
// requirement that decides the verdict fails, unless the failure is known or a known failure may explain it.
func (f *runFlags) progress(screen *screen, end context.CancelCauseFunc) func(target.Event) {
	return func(e target.Event) {
		screen.show(e)
		if f.events != nil {
			writeEvent(f.events, e)
		}
		hasVerdict := e.Kind == target.Ended || e.Kind == target.Changed
		if !f.failFast || !hasVerdict || e.Verdict != reports.Failed || !e.Decides {
			return
		}
		q := f.options.Catalogue.Find(e.Text)
		isKnown := f.known != nil && (f.known.Names(q.ID) || slices.ContainsFunc(q.After, f.known.Names))
		if !isKnown {
			end(&steps.Stopped{By: "--fail-fast: " + q.ID + " failed"})
		}
	}
}

// write writes the reports, the baseline and standard output. If one of them cannot be written, it returns the error.
func (f *runFlags) write(c *cobra.Command, result *reports.Result) error {
	if err := export.Write(f.out, result); err != nil {
		return err
	}
	if f.writeBaseline != "" {
		written, err := baseline.Write(f.writeBaseline, result)
		if err != nil {
			return err
		}
		f.notify(c, "wrote %s with %s%s", written.File, reports.Count(len(written.Known)+len(written.Flaky), "known failure"),
			incomplete(written))
	}
	out := c.OutOrStdout()
	switch f.format {
	case formatJSON:
		return result.WriteJSON(out)
	case formatJSONL:
		return f.events.Result(result, f.out)
	}
	width := columns(out)
	shown := console.Options{Color: colored(f.color, width > 0, f.isPlain()), Out: f.out, Quiet: f.quiet}
	if !f.isPlain() {
		shown.Width = cmp.Or(width, widthOfVariable())
		shown.Links = linkTo(f.out, width > 0)
	}
	err := console.Write(out, result, shown)
	if err != nil || f.format != formatGitHub {
		return err
	}
	return f.reportToWorkflow(out, result)
}

// widthOfVariable returns the width in the environment variable COLUMNS, or 0 if it is not a usable number.
func widthOfVariable() int {
	width, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || width <= 20 {
		return 0
	}
	return width
}

// notify prints a notice to standard error, except with --quiet.
func (f *runFlags) notify(c *cobra.Command, format string, args ...any) {
	if !f.quiet {
		c.PrintErrln("agentconform: " + safe.Line(fmt.Sprintf(format, args...)))
	}
}

// loadBaseline reads the known failures, if any.
func (f *runFlags) loadBaseline(c *cobra.Command) error {
	if f.baseline == "" {
		return nil
	}
	known, err := baseline.Load(f.baseline)
	if err != nil {
		return err
	}
	f.known = known
	text := incomplete(known)
	if text != "" {
		f.notify(c, "note: %s%s", known.File, text)
	}
	return nil
}

// incomplete lists the entries of a baseline that lack a reason or owner, or returns "" if there are none.
func incomplete(b *baseline.Baseline) string {
	ids := b.Incomplete()
	if len(ids) == 0 {
		return ""
	}
	return ": fill in the reason and owner of " + strings.Join(ids, ", ")
}

// checkWriteBaseline refuses a file that cannot be written. The folder of the reports may not exist yet.
func (f *runFlags) checkWriteBaseline() error {
	if f.writeBaseline == "" {
		return nil
	}
	folder := filepath.Dir(f.writeBaseline)
	_, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) && folder == filepath.Clean(f.out) {
		return nil
	}
	return baseline.Check(f.writeBaseline)
}

// The memory limit of a test run in bytes is memoryOfRun and memoryOfRequest for each request in flight. Garbage is
// collected more often above this limit, and below it whenever the heap has grown by gcPercent. The whole process needs
// some 30 MB more.
const (
	memoryOfRun     = 95 << 20
	memoryOfRequest = 5 << 20
	gcPercent       = 120

	memoryOfRecording = 116 << 20 // for judging one, whose own limit is 150 MB
)

// limitMemory makes a test run collect garbage early, especially if responses are large. It sets a soft limit.
// GOMEMLIMIT and GOGC take precedence, also with the value off.
func limitMemory(concurrency int) { limitMemoryTo(memoryOfRun + int64(concurrency)*memoryOfRequest) }

// limitMemoryTo sets the soft limit to a number of bytes.
func limitMemoryTo(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
