// Package suite runs the specification against a target: it selects scenarios, has godog execute their sentences, gives
// each its verdict, and puts all that was learned together as one result. What is known before a run begins is a
// Forecast.
package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Options say what a run needs beyond its target's configuration.
type Options struct {
	Config    *config.Config
	Catalogue *features.Catalogue
	Oracle    *spec.Oracle // share one between runs: making one takes long
	Select    Selection

	Concurrency int      // requests in flight; DefaultConcurrency when 0
	FailOn      []string // "should", or tag expressions: requirements that match one count as MUST
	Seed        int64    // shuffles the scenarios; 0: a random one, which the result tells
	ID          string   // of the run; names what it creates; "": a random one
	Version     string   // of the suite
	Commit      string   // of the suite's source, where the build recorded it
	Arguments   []string // of the program, as the user gave them, for the report

	Explore     int                 // operations that are explored besides; [Automatic]
	ExploreCase []explore.Operation // is explored in place of these, at each half what is of that

	Once         bool // scenarios that failed are not judged again
	Keep         bool // what the run created stays at the target
	RequireWhole bool // a run that leaves something out is incomplete

	Fixtures target.Fixtures // what the suite serves to the target's builder; nil: nothing
	Dial     client.Dial     // connects to the target; nil means the network of the system

	LedgerFile string // "": in memory only
	Progress   func(target.Event)
}

// DefaultConcurrency is how many requests are in flight unless the user says otherwise.
const DefaultConcurrency = 8

// run is the state that all scenarios of one run share.
type run struct {
	Options
	target     *target.Target
	maker      *shared.Maker
	plane      *plane.Plane
	agents     *agent.Agents
	forecast   *Forecast
	invariants *invariants.Record
	start      time.Time

	binding  func(*features.Requirement) bool // counts as MUST by Options.FailOn, or by a claim
	selected []*features.Scenario             // and the sequences that exploration has found to fail
	explored int                              // operations

	// What kept the run from judging all that was selected:
	unreachable string // why no request was answered
	cut         bool   // the context ended before all that sends requests was judged

	mu       sync.Mutex
	verdicts map[string]*verdict // by scenario
	repeats  bool                // scenarios are being judged once more; see judgeAgain
}

// Check refuses a selection, expressions and a ledger that Run would refuse, before anything is done.
func (o *Options) Check() error {
	_, err := o.Select.Apply(o.Catalogue)
	if err == nil {
		_, err = Binding(o.Catalogue, o.FailOn)
	}
	if err == nil && o.LedgerFile != "" {
		err = evidence.CheckLedger(o.LedgerFile)
	}
	return err
}

// Run tests the target and returns the result. An error means that there is nothing to report: the
// ledger could not be written, or the selection holds no scenario. A target that does not answer, or
// a context that ends early, is a result (incomplete), not an error.
func Run(ctx context.Context, o Options) (*reports.Result, error) {
	within, stop := context.WithCancel(ctx)
	r, err := newRun(within, o)
	if err != nil {
		stop()
		return nil, err
	}
	defer func() { // in this order: what is being made writes to the ledger
		stop()
		r.maker.Wait()
		r.agents.Close()
		_ = r.target.Close() // what is in the ledger was written as it came
	}()
	r.forecast.Spend(r.selected)
	r.forecast.AssignMembers(r.selected)
	r.target.Progress(target.Event{Kind: target.Planned, Name: strings.Join(o.Config.Addresses(), ", agent server "),
		Total: len(r.selected), Seed: r.Seed, Deployments: r.forecast.Plan(r.selected).Deployments})
	if err := r.reach(within); err != nil {
		r.unreachable = err.Error()
	} else if err := r.forecast.Look(within, r.plane, r.agents); err != nil && ctx.Err() == nil {
		return nil, err
	}
	phases := phasesOf(r.selected)
	for _, phase := range phases[:2] {
		if err := r.execute(within, phase); err != nil {
			return nil, err
		}
	}
	r.askOnceMore(within)
	r.cut = ctx.Err() != nil
	if err := r.judgeAgain(within, phases[0]); err != nil {
		return nil, err
	}
	r.explore(within)
	judging := within
	if ctx.Err() != nil {
		r.maker.Wait() // what is still being made may add to the record
		judging = context.WithoutCancel(within)
	}
	if err := r.execute(judging, phases[2]); err != nil {
		return nil, err
	}
	stop()
	r.maker.Wait()
	ended := time.Now()
	r.clean(ctx)
	return r.result(ctx, time.Since(ended)), nil
}

func newRun(ctx context.Context, o Options) (*run, error) {
	selected, err := o.Select.Apply(o.Catalogue)
	if err != nil {
		return nil, err
	}
	binding, err := Binding(o.Catalogue, o.FailOn)
	if err != nil {
		return nil, err
	}
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	o.Seed = cmp.Or(o.Seed, time.Now().UnixNano()%1_000_000+1)
	o.ID = cmp.Or(o.ID, uuid.NewString()[:8])
	if every := o.Config.Every(); every > 0 { // who waits long for the rate loses races with the runs that it has started
		o.Concurrency = max(min(o.Concurrency, int(time.Second/(2*every))), 1)
	}
	start := time.Now()
	t, err := target.New(target.Options{Config: o.Config, Concurrency: o.Concurrency, RunID: o.ID, Seed: o.Seed, Fixtures: o.Fixtures,
		Progress: o.Progress, Oracle: o.Oracle, Start: start, LedgerFile: o.LedgerFile, Dial: o.Dial})
	if err != nil {
		return nil, err
	}
	maker := shared.NewMaker(ctx)
	p := plane.New(t, maker, start)
	scenarios := len(selected)
	if o.Explore != 0 {
		scenarios += o.Concurrency // sequences of operations that are explored at the same time
	}
	agents := agent.New(t, p, maker, o.Concurrency, scenarios)
	r := &run{Options: o, target: t, maker: maker, plane: p, agents: agents, forecast: Foresee(o.Config, o.Select),
		start: start, verdicts: map[string]*verdict{}, selected: selected}
	claims := features.Claims(o.Config.Supports)
	r.binding = func(q *features.Requirement) bool { return binding(q) || claims.Names(q) }
	r.invariants = invariants.NewRecord(t, r.judgedApart)
	return r, nil
}

// reach sends one request, so that a target that does not answer is reported once. Any answer is enough.
func (r *run) reach(ctx context.Context) error {
	var request exchange.Request
	switch {
	case r.target.Config.Target != "":
		request = r.target.ToControlPlane(target.TheClient, "GET", plane.RevisionsPath(target.UnknownID()), nil)
	case r.target.Config.AgentTarget != "":
		request = r.target.ToAgent(r.target.Config.AgentTarget, target.Caller{}, "GET", agent.StatePath(target.UnknownID()),
			nil)
	default:
		return errors.New("no target is configured: set --target, --agent-target or both")
	}
	ctx = evidence.WithScenario(ctx, "fixture: the first request", 0)
	_, err := r.target.Client.Do(ctx, request)
	var none *exchange.NoResponse
	if errors.As(err, &none) && none.Timeout {
		request.Path = plane.DeploymentPath(target.UnknownID()) // one operation may hang where others do not
		_, err = r.target.Client.Do(ctx, request)
	}
	switch {
	case !errors.As(err, &none):
		return err
	case none.Closed || none.Busy != 0:
		return nil // it answers; the scenarios judge the answer
	default:
		return fmt.Errorf("%s does not answer: %s", request.Base, none.Message())
	}
}

// Stopped is the cause of a context that ends a run early. The result says what it was.
type Stopped struct {
	By string // for people: "--timeout 1s", "Ctrl-C"
}

func (s *Stopped) Error() string { return "stopped by " + s.By }

// stoppedBy says what ended the run before all was judged, "" if every scenario was judged.
func (r *run) stoppedBy(ctx context.Context) string {
	isNotJudged := func(v *verdict) bool { return v.IsBy(reports.ByRun) }
	if ctx.Err() == nil || !slices.ContainsFunc(slices.Collect(maps.Values(r.verdicts)), isNotJudged) {
		return ""
	}
	if s, is := errors.AsType[*Stopped](context.Cause(ctx)); is {
		return s.By
	}
	return context.Cause(ctx).Error()
}

// phasesOf separates the scenarios in the order in which they are run: most, then those tagged @last, then those that
// only judge the record of the run, so that nothing is recorded after they were judged.
func phasesOf(all []*features.Scenario) (phases [3][]*features.Scenario) {
	for _, s := range all {
		at := 0
		switch {
		case s.Terms.Record:
			at = 2
		case s.Is(features.TagLast):
			at = 1
		}
		phases[at] = append(phases[at], s)
	}
	return phases
}

// notAllSeen is the outcome of a scenario that found no violation in the record of a run that was stopped.
func (r *run) notAllSeen() *outcome.Outcome {
	return outcome.Inconclusive("no violation was recorded before the run was stopped").By(reports.ByRun, "ended")
}
