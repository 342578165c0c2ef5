package prover

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/proof"
)

var (
	rowsFile = flag.String("rows", filepath.FromSlash("../../out/gate/rows.json"), "`file` for the rows of a whole gate")
	keepDir  = flag.String("keep", "", "`folder` for the result of each test run, as JSON")
	sampleOf = flag.Uint("one-of", 1, "test one of `N` servers, chosen by their names")
)

// TestGate is the gate of the self-test in virtual time: a sub-test for each server. Equivalent mutants are tried
// together, several in one sub-test; with a pattern that selects sub-tests (-run 'Gate/gzip') each is a sub-test.
func TestGate(t *testing.T) {
	l := newLab(t, Options{}, everything)
	if !selectsSubTests() {
		require.NoError(t, os.RemoveAll(*rowsFile)) // rows of an earlier gate
	}
	t.Cleanup(func() {
		if l.isWhole() {
			assert.Empty(t, l.result().Problems)
			assert.NoError(t, writeRows(*rowsFile, l.rows))
		}
	})
	l.test(t, "gate")
}

// selectsSubTests reports whether the flag -run has a pattern for sub-tests.
func selectsSubTests() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

// lab runs the trials of a self-test in virtual time.
type lab struct {
	*prover
	trials []trial

	survivors []string   // generated mutants that may survive
	learning  sync.Mutex // held while the unmodified references run

	mu   sync.Mutex
	rows []*proof.Row // by trial; nil until it has ended
}

// everything is a filter that keeps all rows.
func everything(proof.Row) bool { return true }

// newLab returns a lab with the rows that a filter keeps and the unmodified references.
func newLab(t *testing.T, o Options, filter func(proof.Row) bool) *lab {
	// Hundreds of short test runs allocate much memory and keep little. Above the memory limit, garbage is collected more
	// often.
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(800<<20)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	if *keepDir != "" {
		require.NoError(t, os.MkdirAll(*keepDir, 0o755))
		o.Keep = func(name string, r *reports.Result) error {
			name = strings.ReplaceAll(name, "/", "-") + ".json"
			return outfile.Write(filepath.Join(*keepDir, name), outfile.Public, r.WriteJSON)
		}
	}
	p, err := newProver(o)
	require.NoError(t, err)
	trials, err := p.trials()
	require.NoError(t, err)
	trials = slices.DeleteFunc(trials, func(t trial) bool { return t.row.Kind != proof.Pristine && !filter(t.row) })
	return &lab{prover: p, trials: trials, rows: make([]*proof.Row, len(trials))}
}

// isWhole reports whether every trial of the test has a row.
func (l *lab) isWhole() bool {
	return !selectsSubTests() && *sampleOf == 1 && !slices.Contains(l.rows, nil)
}

// test runs a sub-test for each job, and prints the progress and the summary.
func (l *lab) test(t *testing.T, name string) {
	l.watch(t, name)
	t.Cleanup(func() {
		if l.isWhole() {
			fmt.Printf("%s: %s\n", name, l.result().Sentence())
		}
	})
	jobs := l.jobs(l.trials)
	var references, others []job
	for _, j := range slices.Concat(jobs[0], jobs[1]) {
		switch {
		case l.trials[j[0]].row.Kind == proof.Pristine:
			references = append(references, j)
		case len(j) > 1 && selectsSubTests():
			for _, i := range j {
				others = append(others, job{i})
			}
		default:
			others = append(others, j)
		}
	}
	for _, j := range references { // they come first, because all others are compared with them
		t.Run(l.nameOf(j), func(t *testing.T) { l.judgeJob(t, j) })
	}
	for _, j := range others {
		subTest := l.nameOf(j)
		if !isSampled(subTest, *sampleOf) {
			continue
		}
		t.Run(subTest, func(t *testing.T) {
			t.Parallel()
			l.judgeJob(t, j)
		})
	}
}

// nameOf returns the name of a sub-test.
func (l *lab) nameOf(j job) string {
	first := l.trials[j[0]].row
	if len(j) == 1 {
		return first.Name
	}
	return fmt.Sprintf("%d-equivalents-from-%s", len(j), first.Name)
}

// judgeJob runs the trials of a job and reports their problems.
func (l *lab) judgeJob(t *testing.T, j job) {
	l.learnReferences(t, j)
	if len(j) > 1 {
		for _, i := range j {
			t.Log(l.trials[i].row.Name)
		}
	}
	err := inBubble(t, func(ctx context.Context, e environment) { l.do(ctx, e, l.trials, j, l.finish) })
	if len(j) > 1 && err == nil && l.rowOf(j[0]).Together < len(j) {
		fmt.Printf("%s was split, because its servers have a problem together: give two of them the same place\n", t.Name())
	}
	for _, i := range j {
		row := l.rowOf(i)
		if err != nil {
			row.Problem = err.Error()
			l.finish(i, row)
		}
		switch {
		case row.Problem == "":
		case l.isKnownSurvivor(row):
			t.Logf("%s %s: %s: it may survive (.ci/survivors.txt)", row.Kind, row.Name, row.Problem)
		default:
			t.Errorf("%s %s: %s\n%s\nfailed: %v\nexplained: %v\nblocked or inconclusive: %v\nfirst finding: %s\n"+
				"to repeat it: %s", row.Kind, row.Name, row.Problem, row.Does, row.Red, row.Explained, row.Open, row.Shown,
				commandFor(t.Name(), row.Name))
		}
	}
}

// commandFor returns the command that runs one row of a test again.
func commandFor(test, row string) string {
	test, _, _ = strings.Cut(test, "/")
	tags := ""
	if test != "TestGate" {
		tags = " -tags nightly"
	}
	var pattern []string
	for element := range strings.SplitSeq(test+"/"+row, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(element)+"$")
	}
	return fmt.Sprintf("go test%s ./reference/prover -run '%s'", tags, strings.Join(pattern, "/"))
}

// isKnownSurvivor reports whether a row is a generated mutant that may survive.
func (l *lab) isKnownSurvivor(row proof.Row) bool {
	return slices.Contains(l.survivors, string(row.Kind)+" "+row.Name)
}

// learnReferences runs the unmodified references if the job is compared with them and they have not run yet.
func (l *lab) learnReferences(t *testing.T, j job) {
	first := l.trials[j[0]].row
	isCompared := first.Kind == proof.Equivalent || strings.Contains(first.Fails, "-CONTRACT-")
	if first.Kind == proof.Pristine || !isCompared {
		return
	}
	l.learning.Lock()
	defer l.learning.Unlock()
	for i, pristine := range l.trials {
		if pristine.row.Kind != proof.Pristine || l.rowOf(i).Verdict != "" {
			continue
		}
		err := inBubble(t, func(ctx context.Context, e environment) { l.finish(i, l.try(ctx, e, pristine)) })
		require.NoError(t, err)
		require.Empty(t, l.rowOf(i).Problem, pristine.row.Name)
	}
}

// rowOf returns the current row of a trial.
func (l *lab) rowOf(i int) proof.Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows[i] == nil {
		return l.trials[i].row
	}
	return *l.rows[i]
}

// finish stores the row of a trial.
func (l *lab) finish(i int, row proof.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[i] = &row
}

// result returns the concluded proof of all rows.
func (l *lab) result() *proof.Proof {
	result := &proof.Proof{Gate: !l.Whole, Whole: true}
	for _, q := range l.catalogue.Requirements {
		result.Requirements = append(result.Requirements, proof.Requirement{ID: q.ID, Level: q.Level, After: q.After})
	}
	for _, row := range l.rows {
		result.Rows = append(result.Rows, *row)
	}
	result.Conclude()
	return result
}

// shownRow is a row without values that depend on the machine.
type shownRow struct {
	Kind     proof.Kind `json:"kind"`
	Name     string     `json:"name"`
	Outcome  string     `json:"outcome"`
	Failed   []string   `json:"failed"`
	Open     []string   `json:"open"` // blocked or inconclusive
	Findings []string   `json:"findings"`
}

// writeRows writes the rows of a gate as JSON.
func writeRows(file string, rows []*proof.Row) error {
	var shown []shownRow
	for _, r := range rows {
		outcome := cmp.Or(r.Problem, "passed")
		if r.Kind == proof.Fault && r.Problem == "" {
			outcome = string(r.Outcome())
		}
		failed := slices.Concat(r.Red, slices.Sorted(maps.Keys(r.Explained)))
		shown = append(shown, shownRow{r.Kind, r.Name, outcome, failed, r.Open, r.Findings})
	}
	text, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

const (
	progressEvery = 5 * time.Second  // the time between two lines of progress
	longestRest   = 30 * time.Second // the time without CPU use after which the process is ended
)

// watch prints the progress until the test ends. It ends the process with all stacks if the process is stuck.
func (l *lab) watch(t *testing.T, what string) {
	done, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(done)
		<-ended
	})
	start := time.Now()
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		idle := idleMeter{}
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			tried, failed := l.progress()
			fmt.Printf("%s: %d servers tried, %d failed, %s\n", what, tried, failed, time.Since(start).Round(time.Second))
			if idle.duration() >= longestRest {
				debug.SetTraceback("all")
				panic("the self-test has used no CPU time for " + longestRest.String())
			}
		}
	}()
}

// progress returns the number of trials that have ended, and the number of those with a problem.
func (l *lab) progress() (tried, failed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range l.rows {
		if row == nil {
			continue
		}
		tried++
		if row.Problem != "" {
			failed++
		}
	}
	return tried, failed
}
