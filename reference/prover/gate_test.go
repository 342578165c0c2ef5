package prover

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
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
	sampleOf = flag.Int("one-of", 1, "test one of `N` servers, chosen by their names")
)

// TestGate is the gate of the self-test in virtual time: a sub-test for each server. Equivalent mutants are tried
// together, several in one sub-test; with a pattern that selects sub-tests (-run 'Gate/gzip') each is a sub-test.
func TestGate(t *testing.T) {
	l := newLab(t, Options{}, everything)
	t.Cleanup(func() {
		if l.isWhole() {
			l.conclude(t)
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

// everything is a filter of rows that keeps all.
func everything(proof.Row) bool { return true }

// newLab makes a lab for the rows that a filter keeps. The unmodified references are always among them.
func newLab(t *testing.T, o Options, filter func(proof.Row) bool) *lab {
	// Hundreds of short runs allocate much and keep little. Garbage is collected more often above the limit.
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(600<<20)
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

// isWhole reports whether each server was to be tried, and neither the flags nor a failure left one out.
func (l *lab) isWhole() bool {
	return !selectsSubTests() && *sampleOf == 1 && !slices.Contains(l.rows, nil)
}

// test makes a sub-test of each job, and prints the progress.
func (l *lab) test(t *testing.T, name string) {
	l.watch(t, name)
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
	for _, j := range references { // first: the others are compared with them
		t.Run(l.nameOf(j), func(t *testing.T) { l.judgeJob(t, j) })
	}
	for _, j := range others {
		name := l.nameOf(j)
		if !isSampled(name, *sampleOf) {
			continue
		}
		t.Run(name, func(t *testing.T) {
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

// isSampled reports whether a name is one of those that a sample of one of n holds.
func isSampled(name string, n int) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // it returns no error
	return int(sum.Sum32()%uint32(n)) == 0
}

// judgeJob runs the trials of a job and reports their problems.
func (l *lab) judgeJob(t *testing.T, j job) {
	if l.trials[j[0]].row.Kind != proof.Pristine {
		l.learnReferences(t, j)
	}
	for _, i := range j {
		if len(j) > 1 {
			t.Log(l.trials[i].row.Name)
		}
	}
	err := inBubble(t, func(ctx context.Context, e environment) { l.do(ctx, e, l.trials, j, l.finish) })
	for _, i := range j {
		row := l.rows[i]
		if row == nil {
			row = &l.trials[i].row
			l.finish(i, *row)
		}
		if err != nil {
			row.Problem = err.Error()
		}
		if row.Problem != "" && l.isKnownSurvivor(*row) {
			t.Logf("%s %s: %s: it may survive (.ci/survivors.txt)", row.Kind, row.Name, row.Problem)
		} else if row.Problem != "" {
			t.Errorf("%s %s: %s\n%s\nfailed: %v\nexplained: %v\nblocked or inconclusive: %v\nfirst finding: %s\n"+
				"to repeat it: go test ./reference/prover -run '%s/%s'", row.Kind, row.Name, row.Problem, row.Does,
				row.Red, row.Explained, row.Open, row.Shown, strings.Split(t.Name(), "/")[0], row.Name)
		}
	}
}

// isKnownSurvivor reports whether a row is a generated mutant that may survive.
func (l *lab) isKnownSurvivor(row proof.Row) bool {
	return slices.Contains(l.survivors, string(row.Kind)+" "+row.Name)
}

// learnReferences runs the unmodified references, if a job is compared with them and they did not run yet.
func (l *lab) learnReferences(t *testing.T, j job) {
	isCompared := len(j) > 1 || strings.Contains(l.trials[j[0]].row.Fails, "-CONTRACT-")
	if !isCompared || l.Whole {
		return
	}
	l.learning.Lock()
	defer l.learning.Unlock()
	for _, pristine := range l.trials {
		if pristine.row.Kind != proof.Pristine || l.passed[pristine.row.Edition] > 0 {
			continue
		}
		err := inBubble(t, func(ctx context.Context, e environment) { l.try(ctx, e, pristine) })
		require.NoError(t, err)
	}
}

// finish keeps the row of a trial.
func (l *lab) finish(i int, row proof.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[i] = &row
}

// conclude judges the rows together and writes them.
func (l *lab) conclude(t *testing.T) {
	result := &proof.Proof{Gate: !l.Whole, Whole: true}
	for _, q := range l.catalogue.Requirements {
		result.Requirements = append(result.Requirements, proof.Requirement{ID: q.ID, Level: q.Level, After: q.After})
	}
	for _, row := range l.rows {
		result.Rows = append(result.Rows, *row)
	}
	result.Conclude()
	assert.Empty(t, result.Problems)
	fmt.Println(result.Sentence())
}

// shownRow is what two gates have in common, whatever machine they ran on.
type shownRow struct {
	Kind     proof.Kind `json:"kind"`
	Name     string     `json:"name"`
	Outcome  string     `json:"outcome"`
	Failed   []string   `json:"failed"`
	Open     []string   `json:"open"` // blocked or inconclusive
	Findings []string   `json:"findings"`
}

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
	return os.WriteFile(file, text, 0o644)
}

// How often the progress is printed, and after which time without work the process is ended.
const (
	progressEvery = 5 * time.Second
	longestRest   = 30 * time.Second
)

// watch prints the progress until the test ends, and ends the process with all stacks if it has stopped working.
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
		rest := restMeter{}
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			tried, failed := l.progress()
			fmt.Printf("%s: %d of %d servers, %d failed, %s\n", what, tried, len(l.rows), failed,
				time.Since(start).Round(time.Second))
			if rest.since() >= longestRest {
				panic("the self-test has used no CPU time for " + longestRest.String())
			}
		}
	}()
}

// progress returns how many trials have ended, and how many of them have a problem.
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
