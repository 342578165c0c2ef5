// Package prover runs the self-test: the suite against mutants, equivalent mutants and null implementations.
package prover

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// Options of a self-test.
type Options struct {
	Only    []string // names of faults, equivalent mutants and null implementations, or IDs of requirements; empty: all
	Whole   bool     // run all scenarios against each mutant; else the gate (see [prover.selection])
	All     bool     // also try all generated mutants, each until its first failure
	Replay  bool     // replay the findings of each fault against four targets
	Version string
	// Describe completes the configuration of a run against a reference.
	Describe func(*config.Config, *reference.Server)
	// Keep is given the result of each run by its name; with it, only the unmodified reference and one fault of each
	// requirement are run. It is called by several goroutines.
	Keep func(name string, r *reports.Result) error
	// Done is called with each row when its run has ended.
	Done func(row proof.Row, done, total int)
}

// The time limits of the runs, shorter than for a real target: some faults make the suite wait until a timeout.
var limits = config.Timeouts{Request: 4 * time.Second, Poll: 8 * time.Second, Run: 6 * time.Second}

// runsPerCore is how many runs of the suite are made at the same time for each core: most of their time they wait.
const runsPerCore = 12

type prover struct {
	Options
	catalogue *features.Catalogue
	oracle    *spec.Oracle
	pristine  map[string]*config.Config // unmodified references by edition; for replays

	mu sync.Mutex
	// Of the unmodified reference, by edition: how many requirements passed, and which scenarios sent which operation.
	passed  map[string]int
	senders map[string]map[string][]string
}

// trial is one run of the suite.
type trial struct {
	row       proof.Row
	slow      bool // started first, so that it does not run alone at the end
	last      bool // started when the others have ended
	once      bool // the fault occurs once per server
	elsewhere bool // only scenarios of other requirements meet the fault
	explored  bool // no scenario sees the fault: exploration does
	start     func(ctx context.Context, cfg *config.Config) (stop func(), err error)
	// place and layer are of an equivalent mutant that the gate may try together with others.
	place string
	layer faults.Layer
	// changed is how many exchanges a row has changed; nil where that is not counted.
	changed func() int64
	other   *trial // in the other edition; nil where one edition says everything
}

// Run makes all runs and concludes. An error means that there is no result.
func Run(ctx context.Context, o Options) (*proof.Proof, error) {
	p := &prover{Options: o, passed: map[string]int{}, senders: map[string]map[string][]string{}}
	var err error
	if p.catalogue, err = features.Load(); err != nil {
		return nil, err
	}
	if p.oracle, err = spec.New(); err != nil {
		return nil, err
	}
	start := time.Now()
	trials, err := p.trials()
	if err != nil {
		return nil, err
	}
	result := &proof.Proof{Schema: proof.Schema, Version: o.Version, Gate: !o.Whole, Whole: len(o.Only) == 0 && o.Keep == nil}
	for _, r := range p.catalogue.Requirements {
		result.Requirements = append(result.Requirements, proof.Requirement{ID: r.ID, Level: r.Level, Title: r.Title, After: r.After})
	}
	stop, err := p.startPristine(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	result.Rows = p.run(ctx, trials)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the self-test was interrupted: %w", context.Cause(ctx))
	}
	result.DurationMS = time.Since(start).Milliseconds()
	result.Conclude()
	return result, nil
}

func (p *prover) trials() ([]trial, error) {
	var all []trial
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		all = append(all, p.reference(proof.Row{Kind: proof.Pristine, Name: "reference-" + edition, Does: "the unmodified reference", Edition: edition}, nil))
	}
	for _, row := range IndependentServers() {
		all = append(all, independentServer(row))
	}
	for _, v := range faults.EquivalentMutants() {
		t := p.reference(proof.Row{Kind: proof.Equivalent, Name: v.Name, Does: v.Differs, Edition: v.Edition, Also: v.Also}, v.Apply)
		t.slow, t.last, t.place, t.layer = true, v.Queues, v.Place, v.Apply
		all = append(all, t)
	}
	for _, i := range faults.NullImplementations() {
		all = append(all, p.null(i))
	}
	for _, f := range faults.All() {
		layer, changed := counted(f)
		t := p.reference(proof.Row{Kind: proof.Fault, Name: f.Name, Does: f.Breaks, Edition: f.Edition, Fails: f.Fails, Also: f.Also}, layer)
		t.changed = changed
		t.slow, t.once, t.elsewhere, t.explored = f.Hangs, f.Once, f.Elsewhere, f.Explored
		all = append(all, t)
	}
	named := slices.ContainsFunc(p.Only, func(name string) bool { return strings.HasPrefix(name, "independent-server") })
	if p.Whole || named {
		all = append(all, p.proxied()...)
	}
	generated, err := p.generated()
	if err != nil {
		return nil, err
	}
	all, err = selected(append(all, generated...), p.Only)
	if p.Keep != nil {
		all = examples(all)
	}
	return all, err
}

// examples leaves the unmodified reference and one fault of each requirement: where there is a choice, one that the
// scenarios of the requirement meet.
func examples(all []trial) []trial {
	chosen := map[string]string{} // name, by requirement
	for _, elsewhere := range []bool{false, true} {
		for _, t := range all {
			if t.row.Kind == proof.Fault && t.elsewhere == elsewhere && chosen[t.row.Fails] == "" {
				chosen[t.row.Fails] = t.row.Name
			}
		}
	}
	return slices.DeleteFunc(all, func(t trial) bool {
		return t.row.Kind != proof.Pristine && chosen[t.row.Fails] != t.row.Name
	})
}

// selected returns the trials with the names and those that break the requirements with the IDs. The unmodified reference is
// always included, and with an ID all equivalent mutants: a requirement that fails on these kills every mutant.
func selected(all []trial, only []string) ([]trial, error) {
	if len(only) == 0 {
		return all, nil
	}
	byID := false
	for _, name := range only {
		isID := slices.ContainsFunc(all, func(t trial) bool { return t.row.Fails == name })
		byID = byID || isID
		if !isID && !slices.ContainsFunc(all, func(t trial) bool { return t.row.Name == name || t.row.Group == name }) {
			return nil, fmt.Errorf("--only %s: unknown name of a fault, equivalent mutant or null implementation, and no fault breaks a requirement with this ID; agentconform prove --list shows all names", name)
		}
	}
	return slices.DeleteFunc(all, func(t trial) bool {
		isNamed := slices.ContainsFunc(only, func(name string) bool { return name == t.row.Name || name == t.row.Fails || name == t.row.Group })
		return !isNamed && t.row.Kind != proof.Pristine && (t.row.Kind != proof.Equivalent || !byID)
	}), nil
}

// reference is a trial of the reference with a layer.
func (p *prover) reference(row proof.Row, layer faults.Layer) trial {
	return trial{row: row, start: func(ctx context.Context, cfg *config.Config) (func(), error) {
		options := reference.Options{Edition: row.Edition}
		if layer != nil {
			layer(&options)
		}
		server, err := reference.Start(ctx, options)
		if err != nil {
			return nil, err
		}
		p.Describe(cfg, server)
		return func() { _ = server.Close() }, nil // its data is temporary
	}}
}

// IndependentServers are the rows of another conforming server. It differs from the reference in many places at once.
func IndependentServers() (rows []proof.Row) {
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		rows = append(rows, proof.Row{Kind: proof.Equivalent, Name: "independent-server-" + edition,
			Does: "a server that shares no code with the reference", Edition: edition})
	}
	return rows
}

// independentServer is a trial of that server, with its own configuration.
func independentServer(row proof.Row) trial {
	return trial{row: row, slow: true, start: func(_ context.Context, cfg *config.Config) (func(), error) {
		server := independent.Start(independent.Options{Edition: row.Edition})
		return server.Close, server.Configure(cfg)
	}}
}

// null is a trial of a null implementation, with the configuration of the reference.
func (p *prover) null(i faults.NullImplementation) trial {
	row := proof.Row{Kind: proof.Null, Name: i.Name, Does: i.Is}
	return trial{row: row, slow: true, start: func(ctx context.Context, cfg *config.Config) (func(), error) {
		model, err := reference.Start(ctx, reference.Options{})
		if err != nil {
			return nil, err
		}
		p.Describe(cfg, model)
		server := httptest.NewServer(i.Handler())
		cfg.Target = server.URL
		return func() {
			server.CloseClientConnections()
			server.Close()
			_ = model.Close()
		}, nil
	}}
}

// run makes the trials, several at the same time and the unmodified references first, and returns their rows in order. Those
// that are undecided are tried once more, alone.
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
	for _, jobs := range p.jobs(trials) {
		slots := make(chan struct{}, runsPerCore*runtime.GOMAXPROCS(0))
		var wait sync.WaitGroup
		for _, j := range jobs {
			slots <- struct{}{}
			if ctx.Err() != nil {
				break
			}
			wait.Go(func() {
				defer func() { <-slots }()
				p.do(ctx, trials, j, finished)
			})
		}
		wait.Wait()
	}
	for i, row := range rows {
		if row.Problem != "" && row.Undecided() && ctx.Err() == nil {
			rows[i] = p.try(ctx, trials[i])
			rows[i].Attempts = 2
			p.Done(rows[i], done, len(trials))
		}
	}
	return rows
}

func (p *prover) try(ctx context.Context, t trial) proof.Row {
	row := t.row
	row.Red, row.Open = []string{}, []string{}
	start := time.Now()
	cfg := config.Default()
	stop, err := t.start(ctx, &cfg)
	if err != nil {
		row.Problem = "start failed: " + err.Error()
		return row
	}
	defer stop()
	if err := hurry(&cfg); err != nil {
		row.Problem = "invalid configuration: " + err.Error()
		return row
	}
	result, err := p.judge(ctx, t, &cfg)
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
		row.Counted, row.Changed = true, t.changed()
	}
	level := reports.Level("")
	if q := p.catalogue.Find(row.Fails); q != nil {
		level = q.Level
	}
	row.Problem = row.Judge(level)
	if row.Kind == proof.GeneratedMutant {
		row = p.elsewhere(ctx, t, row)
	}
	if p.Replay && row.Kind == proof.Fault && row.Problem == "" && !t.elsewhere {
		row.Replayed, row.Problem = p.replay(ctx, t, &cfg, result)
	}
	return row
}

func (p *prover) options(cfg *config.Config) steps.Options {
	return steps.Options{Config: cfg, Catalogue: p.catalogue, Oracle: p.oracle, Seed: 1, ID: "proof", Once: true, Version: p.Version}
}

// hurry completes a configuration with the time limits of the self-test.
func hurry(cfg *config.Config) error {
	cfg.Timeouts = limits
	cfg.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	return cfg.Complete()
}

// fill copies verdicts and the first finding from a result into the row.
func (p *prover) fill(row *proof.Row, result *reports.Result) {
	row.Verdict, row.Narrow = result.Verdict, p.narrow(*row)
	var failed []string
	row.Cells, row.Explained = map[string]string{}, map[string][]string{}
	for _, q := range result.Requirements {
		if p.Whole && q.Verdict != reports.Passed {
			row.Cells[q.ID] = cell(q)
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
	row.Red, row.Beside = p.apart(row, failed)
	for _, f := range result.Findings {
		if row.Fails == "" || f.Requirement == row.Fails {
			row.Shown = fmt.Sprintf("%s: expected %s, got %s", f.Step, f.Expected, f.Actual)
			break
		}
	}
	row.Shown = safe.Cut(row.Shown, 300)
	for _, f := range result.Findings {
		for _, site := range f.Sites {
			if site != "" && f.Requirement == row.Fails && !slices.Contains(row.Sites, site) {
				row.Sites = append(row.Sites, site)
			}
		}
	}
}

// cell is the verdict of a requirement and which scenarios failed.
func cell(q reports.Requirement) string {
	text := string(q.Verdict)
	for _, s := range q.Scenarios {
		if s.Verdict == reports.Failed {
			text += "; " + s.Name
		}
	}
	return text
}

// apart takes invariants from the requirements that failed where they may be seen beside the one that the fault breaks.
func (p *prover) apart(row *proof.Row, failed []string) (red, beside []string) {
	red = []string{}
	broken := p.catalogue.Find(row.Fails)
	mayBeBeside := row.Kind == proof.Fault && slices.Contains(failed, row.Fails) && broken != nil && !broken.IsInvariant()
	for _, id := range failed {
		if q := p.catalogue.Find(id); mayBeBeside && q != nil && q.IsInvariant() {
			beside = append(beside, id)
			continue
		}
		red = append(red, id)
	}
	return red, beside
}
