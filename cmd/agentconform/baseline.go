package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/overview"
)

// loadBaseline reads the known failures before anything is run: a mistake in the file must not cost a run.
func (f *runFlags) loadBaseline(ctx context.Context, io streams) (*baseline.Baseline, error) {
	if f.baseline == "" {
		return nil, nil
	}
	known, err := reading(ctx, "the baseline", func() (*baseline.Baseline, error) { return baseline.Load(f.baseline) })
	if err != nil {
		return nil, err
	}
	if ids := known.Incomplete(); len(ids) > 0 {
		f.tell(io, "warning: %s: fill in the reason and owner of %s", known.File, strings.Join(ids, ", "))
	}
	return known, nil
}

// checkWriteBaseline refuses a file that could not be written at the end of the run. It may be in the folder of the reports, which the run
// makes.
func (f *runFlags) checkWriteBaseline(changed bool) error {
	switch {
	case f.writeBaseline == "" && changed:
		return errors.New("--write-baseline is empty: name a file, or remove the flag")
	case f.writeBaseline == "":
		return nil
	}
	folder := filepath.Dir(f.writeBaseline)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder == filepath.Clean(f.out) {
		return nil
	}
	return baseline.Check(f.writeBaseline)
}

// summaryOf says what was written to a baseline, and which fields to fill in.
func summaryOf(b *baseline.Baseline) string {
	text := fmt.Sprintf("wrote %s with %s", b.File, countEntries(len(b.Known)+len(b.Flaky)))
	if ids := b.Incomplete(); len(ids) > 0 {
		text += "; fill in the reason and owner of " + strings.Join(ids, ", ")
	}
	return text
}

func countEntries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// concluded returns the exit code of a run, where known failures do not count and entries that do not fit do.
func concluded(result *reports.Result, known *baseline.Baseline) int {
	if known != nil {
		baseline.Apply(result, known, time.Now())
	}
	return overview.Of(result).Display().Exit
}
