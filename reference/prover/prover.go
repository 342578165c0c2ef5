// Package prover runs the self-test: the suite against mutants, equivalent mutants and null implementations.
//
// [Run] is the entry point of "agentconform prove" and uses TCP. The Go tests of this package run the same rows in
// virtual time. A [trial] describes one server (trials.go). gate.go selects the scenarios that are run against it, and
// prover.go compares the result with what the row declares.
//
// If a check is removed from a definition or a judgement, a mutant survives and the self-test fails. A mutant that
// changed no exchange proves nothing, and counts as not reached.
package prover

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/replay"
)

// Options are the options of a self-test.
type Options struct {
	// Only contains names of faults, equivalent mutants and null implementations, and IDs of requirements. If it is
	// empty, all rows are tried.
	Only    []string
	Whole   bool // run all scenarios against each mutant instead of the gate (see [prover.selection])
	All     bool // also try all generated mutants, each until its first failure
	Replay  bool // replay the findings of each fault against four targets
	Version string
	// Keep receives the result of each test run with the name of its row. It may be nil. Several goroutines call it.
	Keep func(name string, r *reports.Result) error
	// Done receives each row when its test run has ended.
	Done func(row proof.Row, done, total int)
}

// environment contains the network and the folder that the servers of a trial use. The zero value uses those of the
// system.
type environment struct {
	network reference.Network
	tempDir string // folder for the data of the servers; empty means the temporary folder of the system
	// graphTime is the minimum duration of a graph run. Without it, a graph run in virtual time takes no time.
	graphTime time.Duration
	// buildTime is the minimum duration of a build.
	buildTime time.Duration
}

// dial returns the function that opens connections, or nil for the network of the system.
func (e environment) dial() client.Dial {
	if e.network == nil {
		return nil
	}
	return e.network.DialContext
}

// serve serves a handler on a free port until stop is called.
func (e environment) serve(h http.Handler) (url string, stop func(), err error) {
	listen := net.Listen
	if e.network != nil {
		listen = e.network.Listen
	}
	listener, err := listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: h}}
	server.Start()
	stop = func() {
		server.CloseClientConnections()
		server.Close() // waits for the handlers
	}
	return server.URL, stop, nil
}

// runsPerCore is the number of concurrent test runs per core. A test run mostly waits.
const runsPerCore = 8

// prover runs trials and judges their results.
type prover struct {
	Options
	catalogue *features.Catalogue
	oracle    *spec.Oracle

	mu      sync.Mutex
	passed  map[string][]string            // by edition: the requirements that passed at the unmodified reference
	senders map[string]map[string][]string // by edition and operation: the scenarios that sent the operation to that reference
}

// Check returns an error if Only contains an unknown name.
func (o Options) Check() error {
	_, err := (&prover{Options: o}).trials()
	return err
}

// newProver returns a prover with the requirements and the oracle loaded.
func newProver(o Options) (*prover, error) {
	p := &prover{Options: o, passed: map[string][]string{}, senders: map[string]map[string][]string{}}
	var err error
	p.catalogue, p.oracle, err = steps.Requirements()
	return p, err
}

// Run tries all rows and returns the concluded proof.
func Run(ctx context.Context, o Options) (*proof.Proof, error) {
	p, err := newProver(o)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	trials, err := p.trials()
	if err != nil {
		return nil, err
	}
	result := &proof.Proof{Schema: proof.Schema, Version: o.Version, Gate: !o.Whole, Whole: len(o.Only) == 0}
	for _, r := range p.catalogue.Requirements {
		result.Requirements = append(result.Requirements, proof.Requirement{ID: r.ID, Level: r.Level, Title: r.Title,
			After: r.After})
	}
	result.Rows = p.run(ctx, trials)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the self-test was interrupted: %w", context.Cause(ctx))
	}
	result.DurationMS = time.Since(start).Milliseconds()
	result.Conclude()
	return result, nil
}

// run runs the trials concurrently, the unmodified references first, and returns their rows in order. Undecided trials
// are tried a second time, one after the other.
func (p *prover) run(ctx context.Context, trials []trial) []proof.Row {
	rows := make([]proof.Row, len(trials))
	var mu sync.Mutex
	done := 0
	finished := func(i int, row proof.Row) {
		mu.Lock()
		defer mu.Unlock()
		rows[i] = row
		done++
		p.Done(row, done, len(trials))
	}
	slots := make(chan struct{}, runsPerCore*runtime.GOMAXPROCS(0))
	var references, others sync.WaitGroup
	for _, jobs := range p.jobs(trials) {
		for _, j := range jobs {
			slots <- struct{}{}
			if ctx.Err() != nil {
				<-slots
				break
			}
			wait := &others
			if trials[j[0]].row.Kind == proof.Pristine {
				wait = &references
			}
			wait.Go(func() {
				defer func() { <-slots }()
				p.do(ctx, environment{}, trials, j, finished)
			})
		}
		references.Wait()
	}
	others.Wait()
	for i, row := range rows {
		if row.Problem != "" && row.Undecided() && ctx.Err() == nil {
			rows[i] = p.try(ctx, environment{}, trials[i])
			rows[i].Attempts = 2
			p.Done(rows[i], done, len(trials))
		}
	}
	return rows
}

// try runs the suite against one server.
func (p *prover) try(ctx context.Context, e environment, t trial) proof.Row {
	row := t.row
	row.Red, row.Open = []string{}, []string{}
	start := time.Now()
	cfg, stop, err := t.begin(ctx, e)
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	defer stop()
	result, err := p.judge(ctx, e, t, cfg)
	row.MS = time.Since(start).Milliseconds()
	if err != nil {
		row.Problem = "run failed: " + err.Error()
		return row
	}
	if p.Keep != nil {
		if err := p.Keep(row.Name, result); err != nil {
			row.Problem = "keeping the result: " + err.Error()
			return row
		}
	}
	p.fill(&row, result)
	if row.Kind == proof.Pristine {
		p.learn(row, result)
	}
	if t.changed != nil {
		row.Changed = t.changed()
	}
	level := reports.Level("")
	if q := p.catalogue.Find(row.Fails); q != nil {
		level = q.Level
	}
	row.Problem = row.Judge(level, !p.Whole)
	if row.Problem == "" {
		row.Problem = cmp.Or(p.notPassed(t, row, result), contradiction(result), unclear(result))
	}
	if row.Kind == proof.GeneratedMutant {
		row = p.elsewhere(ctx, e, t, row)
	}
	if p.Replay && row.Kind == proof.Fault && row.Problem == "" && !t.fault.Elsewhere {
		row.Replayed, row.Problem = p.replay(ctx, e, t, cfg, result)
	}
	return row
}

// options returns the options of a test run with the configuration.
func (p *prover) options(e environment, cfg *config.Config) steps.Options {
	return steps.Options{Config: cfg, Dial: e.dial(), Catalogue: p.catalogue, Oracle: p.oracle, Seed: 1, ID: "proof", Once: true,
		Version: p.Version}
}

// fill copies the verdicts and the first finding of a result into the row.
func (p *prover) fill(row *proof.Row, result *reports.Result) {
	row.Verdict = result.Verdict
	var failed []string
	row.Explained = map[string][]string{}
	for _, q := range result.Requirements {
		if owners := p.coveredBy(q); len(owners) > 0 {
			row.Explained[q.ID] = owners
		}
		switch q.Verdict {
		case reports.Passed:
			row.Passed++
		case reports.Failed:
			if len(q.ExplainedBy) == 0 {
				failed = append(failed, q.ID)
				continue
			}
			row.Explained[q.ID] = q.ExplainedBy
		case reports.Blocked, reports.Inconclusive:
			row.Open = append(row.Open, q.ID)
		}
	}
	row.Red = p.failedRequirements(row, failed)
	for _, f := range result.Findings {
		row.Findings = append(row.Findings, f.ID)
		if row.Shown == "" && (row.Fails == "" || f.Requirement == row.Fails) {
			row.Shown = safe.Cut(fmt.Sprintf("%s: expected %s, got %s", f.Step, f.Expected, f.Actual), 300)
		}
	}
	if q := result.Requirement(row.Fails); row.Shown == "" && q != nil && q.Verdict != reports.Passed {
		row.Shown = safe.Cut(fmt.Sprintf("none, %s is %s: %s", q.ID, q.Verdict, q.Reason), 300)
	}
}

// coveredBy returns the failed requirements that show all violations that a rule about the record has found.
func (p *prover) coveredBy(q reports.Requirement) (owners []string) {
	for _, s := range q.Scenarios {
		if s.Skip != nil && p.catalogue.Find(s.Skip.Key) != nil && !slices.Contains(owners, s.Skip.Key) {
			owners = append(owners, s.Skip.Key)
		}
	}
	return owners
}

// notPassed returns a problem if requirements that passed at the reference did not pass at an equivalent mutant and the
// row does not declare them, or "". An equivalent mutant proves nothing about a requirement that is not judged.
func (p *prover) notPassed(t trial, row proof.Row, result *reports.Result) string {
	if row.Kind != proof.Equivalent || t.layer == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing []string
	for _, id := range p.passed[cmp.Or(row.Edition, config.Cloud)] {
		declared := row.Unjudged
		verdict := result.Requirement(id).Verdict
		if verdict == reports.Failed {
			declared = row.Also
		}
		if verdict != reports.Passed && declared[id] == "" {
			missing = append(missing, id)
		}
	}
	if missing == nil {
		return ""
	}
	return "not passed, unlike at the reference: " + strings.Join(missing, ", ")
}

// failedRequirements returns the failed requirements without the invariants that a fault may violate in addition to its
// requirement. It never returns nil, so that the file of rows contains [] and not null.
func (p *prover) failedRequirements(row *proof.Row, failed []string) []string {
	broken := p.catalogue.Find(row.Fails)
	mayViolateInvariants := row.Kind == proof.Fault && slices.Contains(failed, row.Fails) &&
		broken != nil && !broken.IsInvariant()
	red := []string{}
	for _, id := range failed {
		if mayViolateInvariants && p.catalogue.Find(id).IsInvariant() {
			continue
		}
		red = append(red, id)
	}
	return red
}

// replay replays the findings of the fault's requirement against four targets. It returns the number of findings that
// had the expected verdict at the last one.
//
// At a closed port and with wrong credentials, all findings must be inconclusive. At the unmodified reference, all must
// pass; a requirement about all responses may be inconclusive there. At the faulty server, at least one must fail
// again: the others may have been races.
func (p *prover) replay(ctx context.Context, e environment, t trial, faulty *config.Config,
	result *reports.Result) (n int, problem string) {
	findings, err := replay.Find(result, t.row.Fails)
	if err != nil {
		return 0, err.Error()
	}
	pristine, stop, err := p.reference(proof.Row{Edition: faulty.Edition}, nil).begin(ctx, e)
	if err != nil {
		return 0, err.Error()
	}
	defer stop()
	if t.fault.Once { // the server has already deviated, so another one is needed
		var stopFaulty func()
		faulty, stopFaulty, err = t.begin(ctx, e)
		if err != nil {
			return 0, err.Error()
		}
		defer stopFaulty()
	}
	closed, rejected := *pristine, *pristine
	closed.Target = "http://127.0.0.1:1"
	rejected.Credentials = config.Credentials{APIKey: "wrong", TenantID: "00000000-0000-4000-8000-000000000000",
		Bearer: "wrong"}
	judgesRecord := p.catalogue.Find(t.row.Fails).Scenarios[0].Is(features.TagLast)
	for _, at := range []struct {
		place string
		cfg   *config.Config
		want  reports.Verdict
	}{
		{"a closed port", &closed, reports.Inconclusive},
		{"the reference with wrong credentials", &rejected, reports.Inconclusive},
		{"the reference", pristine, reports.Passed},
		{"the faulty server", faulty, reports.Failed},
	} {
		replayed, _, err := replay.Judge(ctx, p.options(e, at.cfg), result, findings)
		if err != nil {
			return 0, "replay: " + err.Error()
		}
		n = 0
		for _, r := range replayed {
			// Without a DEPLOYED revision, a scenario that judges recorded exchanges may have none to judge.
			// A scenario about a cookie does not apply to the reference, which sets none.
			isUnjudged := at.cfg == pristine && r.Verdict == reports.Inconclusive && (judgesRecord || r.Scenarios == 0)
			if r.Verdict == at.want || isUnjudged {
				n++
				continue
			}
			problem = fmt.Sprintf("replay against %s: verdict is %s, expected %s: %s (%s)", at.place, r.Verdict, at.want,
				r.Reason, r.Finding.Summary)
		}
		if problem != "" && (n == 0 || at.cfg != faulty) {
			return 0, problem
		}
	}
	return n, ""
}
