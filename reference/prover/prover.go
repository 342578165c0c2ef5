// Package prover runs the self-test: the suite against mutants, equivalent mutants and null implementations.
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

// Options of a self-test.
type Options struct {
	Only    []string // names of faults, equivalent mutants and null implementations, or IDs of requirements; empty: all
	Whole   bool     // run all scenarios against each mutant; else the gate (see [prover.selection])
	All     bool     // also try all generated mutants, each until its first failure
	Replay  bool     // replay the findings of each fault against four targets
	Version string
	// Keep is given the result of each run by its name; nil where nobody wants them. It is called by several goroutines.
	Keep func(name string, r *reports.Result) error
	// Done is called with each row when its run has ended.
	Done func(row proof.Row, done, total int)
}

// environment is where the servers of a trial run. The zero value is the network of the system.
type environment struct {
	network reference.Network
	tempDir string // for the data of the servers; that of the system if empty
	// graphTime is the minimum duration of a graph run. In virtual time it would take none.
	graphTime time.Duration
	// buildTime is the minimum duration of a build.
	buildTime time.Duration
}

// dial returns how clients connect; nil means the network of the system.
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

// runsPerCore is how many runs of the suite are made at the same time for each core: most of their time they wait.
const runsPerCore = 8

type prover struct {
	Options
	catalogue *features.Catalogue
	oracle    *spec.Oracle

	mu sync.Mutex
	// Of the unmodified reference, by edition: the requirements that passed, and which scenarios sent which operation.
	passed  map[string][]string
	senders map[string]map[string][]string
}

// Check refuses names that Run would refuse, before anything is done.
func (o Options) Check() error {
	_, err := (&prover{Options: o}).trials()
	return err
}

func newProver(o Options) (*prover, error) {
	p := &prover{Options: o, passed: map[string][]string{}, senders: map[string]map[string][]string{}}
	var err error
	p.catalogue, p.oracle, err = steps.Requirements()
	return p, err
}

// Run makes all runs and concludes. An error means that there is no result.
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

// run makes the trials, several at the same time and the unmodified references first, and returns their rows in order.
// Those that are undecided are tried once more, alone.
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
	row.Problem = cmp.Or(row.Judge(level, !p.Whole), p.notPassed(t, row, result))
	if row.Kind == proof.GeneratedMutant {
		row = p.elsewhere(ctx, e, t, row)
	}
	if p.Replay && row.Kind == proof.Fault && row.Problem == "" && !t.fault.Elsewhere {
		row.Replayed, row.Problem = p.replay(ctx, e, t, cfg, result)
	}
	return row
}

func (p *prover) options(e environment, cfg *config.Config) steps.Options {
	return steps.Options{Config: cfg, Dial: e.dial(), Catalogue: p.catalogue, Oracle: p.oracle, Seed: 1, ID: "proof", Once: true,
		Version: p.Version}
}

// fill copies verdicts and the first finding from a result into the row.
func (p *prover) fill(row *proof.Row, result *reports.Result) {
	row.Verdict = result.Verdict
	var failed []string
	row.Explained = map[string][]string{}
	for _, q := range result.Requirements {
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
	row.Red = p.red(row, failed)
	for _, f := range result.Findings {
		row.Findings = append(row.Findings, f.ID)
		if row.Shown == "" && (row.Fails == "" || f.Requirement == row.Fails) {
			row.Shown = safe.Cut(fmt.Sprintf("%s: expected %s, got %s", f.Step, f.Expected, f.Actual), 300)
		}
	}
}

// notPassed returns the problem of an equivalent mutant of the reference at which less is judged than at the reference,
// or "": an equivalent mutant that hides a requirement proves nothing of it.
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

// red leaves invariants out of the requirements that failed where they may be seen beside the one that the fault breaks.
func (p *prover) red(row *proof.Row, failed []string) []string {
	broken := p.catalogue.Find(row.Fails)
	if row.Kind == proof.Fault && slices.Contains(failed, row.Fails) && broken != nil && !broken.IsInvariant() {
		failed = slices.DeleteFunc(failed, func(id string) bool { return p.catalogue.Find(id).IsInvariant() })
	}
	return append([]string{}, failed...) // a reader of the file sees [], never null
}

// replay replays the findings of the fault's requirement. Against the faulty server at least one must still fail
// (others may pass: it may be a race), against an unmodified reference all must pass (a rule about all answers may have
// nothing to judge), and at a closed port or with wrong credentials all must be inconclusive. It returns how many findings had the expected verdict against all four.
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
	if t.fault.Once {
		if faulty, stop, err = t.begin(ctx, e); err != nil {
			return 0, err.Error()
		}
		defer stop()
	}
	dead, wrong := *pristine, *pristine
	dead.Target = "http://127.0.0.1:1"
	wrong.Credentials = config.Credentials{APIKey: "wrong", TenantID: "00000000-0000-4000-8000-000000000000",
		Bearer: "wrong"}
	for _, at := range []struct {
		place string
		cfg   *config.Config
		want  reports.Verdict
	}{
		{"a closed port", &dead, reports.Inconclusive},
		{"the reference with wrong credentials", &wrong, reports.Inconclusive},
		{"the reference", pristine, reports.Passed},
		{"the faulty server", faulty, reports.Failed},
	} {
		answers, _, err := replay.Judge(ctx, p.options(e, at.cfg), result, findings)
		if err != nil {
			return 0, "replay: " + err.Error()
		}
		n = 0
		for _, a := range answers {
			ofRecord := at.cfg == pristine && p.catalogue.Find(t.row.Fails).Scenarios[0].Is(features.TagLast)
			if a.Verdict == at.want || ofRecord && a.Verdict == reports.Inconclusive { // what is not DEPLOYED yet shows nothing
				n++
				continue
			}
			problem = fmt.Sprintf("replay against %s: verdict is %s, expected %s: %s (%s)", at.place, a.Verdict, at.want,
				a.Reason, a.Finding.Summary)
		}
		if problem != "" && (n == 0 || at.cfg != faulty) {
			return 0, problem
		}
	}
	return n, ""
}
