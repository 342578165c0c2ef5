// Package suite runs the specification against a target and returns the result of the test run.
//
// Start with [Run], which calls the other files in this order:
//
//	selection.go  the scenarios to run
//	forecast.go   which of them run, and what they may create, from the configuration and the tags (preview.go: for --plan)
//	execute.go    lets godog execute the steps, and keeps the verdict of each scenario (leftout.go: skips those that
//	              depend on requirements which the test run omits; announce.go: reports progress to the display)
//	explore.go    random sequences of operations
//	clean.go      removes what was created
//	result.go     the requirements, the findings (chain.go: the exchanges of each), and the headline
//	repeat.go     judges the scenarios several times (results.go: the results of all repetitions)
//	recorded.go   judges a recording in place of a test run
//	mistakes.go   blocks scenarios whose cause is a mistake in the configuration
//
// godog only executes, because it counts a skip as a pass. Verdicts are decided by the typed causes of outcomes, never
// by their texts.
//
// A scenario that failed is judged again after the others, unless it may create or change something at the control
// plane or may have waited until a timeout. Its findings then state in how many judgements they were seen. The verdict
// remains that of the first. No request is sent to decide which failure explains another one: the features declare
// that.
//
// With --read-only, the client refuses to send a write, so a scenario that would send one ends as an error of the
// suite. The tags declare before the test run which scenarios are skipped.
package suite

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/requirements"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/recording"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/situations"
	"github.com/agentconform/agentconform/steps/target"
)

// Options are the options of a test run. Most of them are flags of the command.
type Options struct {
	Config    *config.Config
	Catalogue *features.Catalogue
	Oracle    *spec.Oracle // test runs may share it, because creating one takes long
	Select    Selection
	Set       *requirements.Set // if set, requirements and scenarios that are not in the set do not count

	Concurrency int      // requests in flight; 0 means DefaultConcurrency
	FailOn      []string // "should", or tag expressions: requirements that match one count as MUST
	Seed        int64    // seed of the order of the scenarios; 0 means a random seed, which is in the result
	ID          string   // ID of the test run, and part of the names of created objects; "" means a random one
	Version     string   // version of the suite
	Commit      string   // commit of the suite's source, or "" if unknown
	Arguments   []string // arguments of the program, for the report

	Explore     int                 // operations to explore, or [Automatic]
	ExploreCase []explore.Operation // if set, the sequence to explore instead of random ones

	Repeat       int  // repetitions of the scenarios, from 1 to [MaxRepeat]; 0 means 1
	Once         bool // do not judge failed scenarios again
	Keep         bool // do not remove what the test run created
	RequireWhole bool // a test run is incomplete if it does not judge every requirement

	Fixtures target.Fixtures // sources that the suite serves to the target's builder, or nil
	Dial     client.Dial     // connects to the target; nil means the network of the system
	Server   target.Server   // nil if the target was not started for the test run

	LedgerFile string // "" keeps the ledger in memory
	Progress   func(target.Event)
}

// DefaultConcurrency is the default maximum of requests in flight.
const DefaultConcurrency = 8

// run is the state of a test run, which its scenarios share.
type run struct {
	Options
	target     *target.Target
	maker      *shared.Maker
	plane      *plane.Plane
	agents     *agent.Agents
	situations *situations.Situations
	forecast   *Forecast
	invariants *invariants.Record
	patterns   common.Patterns
	start      time.Time

	binding   func(*features.Requirement) bool // whether a requirement counts as MUST because of Options.FailOn or a claim
	scenarios []*features.Scenario             // selected scenarios that count
	selected  []*features.Scenario             // the scenarios of the test run, including failed sequences of exploration
	newer     []*features.Scenario             // selected scenarios that Options.Set lacks
	isAlone   bool                             // only an agent server is tested: see Selection.Scenarios
	explored  int                              // operations
	planned   int                              // maximum number of deployments that the selected scenarios create

	recording *recording.Recording // the recording whose exchanges are judged, or nil
	played    recording.Summary

	unreachable string // the reason why nothing can be judged, or "": the target does not respond, or its address is wrong
	agentDown   string // the reason why the agent server at agent_target cannot be judged, or "": it does not respond, although the control plane does
	cut         bool   // the context ended before all scenarios that send requests were judged

	repetition            int      // the current repetition, counted from 1
	counting, notCounting results  // results of the scenarios in selected, and in newer
	rejecting             []string // halves that refused all requests; see blockRejected
	rejected, wrongWords  string   // the reasons of blockRejected and blockUnknownWords

	mu       sync.Mutex
	verdicts map[string]*verdict // verdicts by the key of the scenario
	repeats  bool                // scenarios are being judged again; see judgeAgain
	doubts   []doubt             // doubts about failures; see announce
}

// Check returns an error if Run would return one for the selection, the expressions of FailOn, or the ledger.
func (o *Options) Check() error {
	if _, err := o.Select.Apply(o.Catalogue); err != nil {
		return err
	}
	if _, err := Binding(o.Catalogue, o.FailOn); err != nil {
		return err
	}
	if o.LedgerFile == "" {
		return nil
	}
	return evidence.CheckLedger(o.LedgerFile)
}

// Run tests the target and returns the result. It returns an error if there is nothing to report: the ledger could not
// be written, or no scenario is selected. If the target does not respond, or the context ends early, the result is
// incomplete.
func Run(ctx context.Context, o Options) (*reports.Result, error) {
	within, stop := context.WithCancel(ctx)
	r, err := newRun(within, o)
	if err != nil {
		stop()
		return nil, err
	}
	defer func() { // in this order, because fixtures in progress write to the ledger
		stop()
		r.maker.Wait()
		r.agents.Close()
		_ = r.target.Close() // the ledger was written line by line
	}()
	everything := slices.Concat(r.selected, r.newer)
	r.forecast.Spend(everything)
	r.forecast.AssignMembers(everything)
	r.planned = r.forecast.Plan(everything).Deployments
	r.target.Progress(target.Event{Kind: target.Planned, Name: strings.Join(o.Config.Addresses(), ", agent server "),
		Total: len(everything) * r.Repeat, Repetition: r.Repeat, Seed: r.Seed, Deployments: r.planned, Explored: r.Exploration(r.planned)})
	if err := r.prepare(within); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err := r.judgeAll(ctx, within); err != nil {
		return nil, err
	}
	stop()
	r.maker.Wait()
	ended := time.Now()
	r.clean(ctx)
	return r.result(ctx, time.Since(ended)), nil
}

// prepare sends the first requests: it checks whether the target responds, and completes the forecast. The error is the
// cause of the context.
func (r *run) prepare(ctx context.Context) error {
	err := r.reach(ctx)
	if err == nil {
		err = r.wrongBase(ctx)
	}
	if err != nil {
		r.unreachable = err.Error()
		return nil
	}
	r.agentDown = r.reachAgent(ctx)
	sendsRequests := func(s *features.Scenario) bool { return !s.Terms.Record }
	if slices.ContainsFunc(r.selected, sendsRequests) {
		r.separateCallers(ctx)
	}
	return r.forecast.Look(ctx, r.plane, r.agents)
}

// separateCallers tests whether the server confuses two callers on one connection. The preflight does the same at the
// agent server of a deployment.
func (r *run) separateCallers(ctx context.Context) {
	ctx = evidence.WithScenario(ctx, "fixture: two callers on one connection", 0)
	c := r.target.Config
	if c.Target != "" {
		path := plane.RevisionsPath(target.UnknownID())
		r.target.SeparateCallers(ctx, r.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil),
			r.target.ToControlPlane(target.Nobody, http.MethodGet, path, nil))
	}
	if c.AgentTarget != "" && len(c.Users) > 0 {
		path := agent.StatePath(target.UnknownID())
		r.target.SeparateCallers(ctx, r.target.ToAgent(c.AgentTarget, r.target.Owner(), http.MethodGet, path, nil),
			r.target.ToAgent(c.AgentTarget, target.Caller{}, http.MethodGet, path, nil))
	}
}

// judge executes the phases. within is the context of the test run, which ends after ctx. If ctx has ended, judge
// executes only the scenarios that judge the record.
func (r *run) judge(ctx, within context.Context) error {
	phases, newer := phasesOf(r.selected), phasesOf(r.newer)
	for _, phase := range phases[:2] {
		if err := r.execute(within, phase); err != nil {
			return err
		}
		r.announceLongest(phase)
	}
	r.requestUnknownThread(within)
	r.reconsider("", spec.AgentServer, spec.ControlPlane)
	r.cut = ctx.Err() != nil
	if err := r.judgeAgain(within, phases[0]); err != nil {
		return err
	}
	r.explore(within)
	judging := within
	if ctx.Err() != nil {
		r.maker.Wait() // fixtures in progress may add to the record
		judging = context.WithoutCancel(within)
	}
	if err := r.execute(judging, phases[2]); err != nil {
		return err
	}
	for _, phase := range newer { // after the record was judged, so that their responses do not count
		if err := r.execute(within, phase); err != nil {
			return err
		}
	}
	return nil
}

// newRun returns a test run. It sends no requests.
func newRun(ctx context.Context, o Options) (*run, error) {
	selected, isAlone, err := o.Scenarios()
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
	o.Repeat = max(o.Repeat, 1)
	o.Once = o.Once || o.isRepeated()
	o.Seed = cmp.Or(o.Seed, time.Now().UnixNano()%1_000_000+1)
	o.ID = cmp.Or(o.ID, uuid.NewString()[:8])
	every := o.Config.Every()
	if every > 0 { // a request that waits long for the rate limit would come after the end of the run that it needs in progress
		o.Concurrency = max(min(o.Concurrency, int(time.Second/(2*every))), 1)
	}
	start := time.Now()
	t, err := target.New(target.Options{Config: o.Config, Concurrency: o.Concurrency, RunID: o.ID, Seed: o.Seed, Fixtures: o.Fixtures,
		Progress: o.Progress, Oracle: o.Oracle, Start: start, LedgerFile: o.LedgerFile, Dial: o.Dial, Server: o.Server})
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
	r := &run{Options: o, target: t, maker: maker, plane: p, agents: agents, forecast: NewForecast(o.Config, o.Select),
		start: start, verdicts: map[string]*verdict{}, isAlone: isAlone}
	r.forecast.repeat = o.Repeat
	for _, s := range selected {
		if o.Set.Has(s.Requirement.ID, s.Digest()) {
			r.selected = append(r.selected, s)
		} else {
			r.newer = append(r.newer, s)
		}
	}
	r.scenarios = slices.Clone(r.selected)
	claims := features.Claims(o.Config.Supports)
	r.binding = func(q *features.Requirement) bool { return binding(q) || claims.Names(q) }
	r.invariants = invariants.NewRecord(t, r.otherOutcomes)
	r.situations = &situations.Situations{Target: t, Plane: p, Agents: agents, Selected: situations.Select(selected)}
	return r, nil
}

// Stopped is the cause of a context that ends a test run early. It is in the result.
type Stopped struct {
	By string // readable reason: "--timeout 1s", "Ctrl-C"
}

func (s *Stopped) Error() string { return "stopped by " + s.By }

// stoppedBy returns the reason why the test run ended early, or "" if every scenario was judged.
func (r *run) stoppedBy(ctx context.Context) string {
	if ctx.Err() == nil {
		return ""
	}
	allJudged := r.repetition >= r.Repeat
	for _, v := range r.verdicts {
		if v.IsBy(reports.ByRun) {
			allJudged = false
		}
	}
	if allJudged {
		return ""
	}
	stopped, is := errors.AsType[*Stopped](context.Cause(ctx))
	if is {
		return stopped.By
	}
	return context.Cause(ctx).Error()
}

// phasesOf returns the scenarios in the order of their execution: first most of them, then those with the tag @last, and
// last those that only judge the record, because nothing may be recorded after them.
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

// notAllSeen returns the outcome of a scenario that found no violation in the record of a test run that was stopped.
func (r *run) notAllSeen() *outcome.Outcome {
	return outcome.Inconclusive("no violation was recorded before the test run was stopped").By(reports.ByRun, "ended")
}
