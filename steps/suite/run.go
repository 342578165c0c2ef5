package suite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/controlplane"
	"github.com/agentconform/agentconform/steps/endtoend"
	"github.com/agentconform/agentconform/steps/evidence"
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

	Concurrency int // scenarios in flight; DefaultConcurrency when 0
	Strict      bool
	Seed        int64  // shuffles the scenarios; any number but 0
	ID          string // of the run; names what it creates
	Version     string // of the suite
	Command     string // as the user gave it, for the report

	Journal    reports.Recorder
	LedgerFile string // "": in memory only
	Progress   func(target.Event)
}

// DefaultConcurrency is how many scenarios run at once unless the user says otherwise.
const DefaultConcurrency = 8

// run is one judgement of one target: what all its scenarios share.
type run struct {
	Options
	target   *target.Target
	maker    *shared.Maker
	plane    *plane.Plane
	agents   *agent.Agents
	forecast *Forecast
	start    time.Time

	unreachable string   // why the target could not be asked at all
	rejecting   []string // sides that have refused every request with the credentials of the configuration
	rejected    string   // why, where a side has refused every request with the credentials of the configuration
	interrupted bool     // the context ended before the scenarios did

	mu       sync.Mutex
	verdicts map[string]*verdict // by scenario
}

// Run judges the target and returns all that was learned. An error means that there is nothing to report: the
// journal or the ledger could not be written, or the selection holds no scenario. A target that is out of reach, or
// a context that ends early, is a result (incomplete), not an error.
func Run(ctx context.Context, o Options) (*reports.Result, error) {
	selected, err := o.Select.apply(o.Catalogue)
	if err != nil {
		return nil, err
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	maker := shared.NewMaker(within)
	r, err := newRun(o, maker)
	if err != nil {
		return nil, err
	}
	defer r.target.Close() //nolint:errcheck // what is in the ledger was written as it came

	r.target.Progress(target.Event{Kind: target.Planned, Name: r.addresses(), Total: len(selected), Seed: r.Seed, Deployments: r.planned(selected)})
	if err := r.reach(within); err != nil {
		r.unreachable = err.Error()
	}
	first, last := split(selected)
	for _, phase := range [][]*features.Scenario{first, last} {
		if err := r.execute(within, phase); err != nil {
			return nil, err
		}
	}
	r.interrupted = ctx.Err() != nil
	stop()
	maker.Wait()
	r.clean(ctx)
	r.blockRejected(selected)
	return r.result(selected)
}

func newRun(o Options, maker *shared.Maker) (*run, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	start := time.Now()
	t, err := target.New(target.Options{Config: o.Config, Concurrency: o.Concurrency, RunID: o.ID, Progress: o.Progress,
		Oracle: o.Oracle, Journal: o.Journal, Start: start, LedgerFile: o.LedgerFile})
	if err != nil {
		return nil, err
	}
	p := plane.New(t, maker, start)
	return &run{Options: o, target: t, maker: maker, plane: p, agents: agent.New(t, p, maker),
		forecast: Foresee(o.Config, o.Catalogue, o.Select), start: start, verdicts: map[string]*verdict{}}, nil
}

// define registers every sentence for one scenario, with worlds of its own.
func define(r *common.Registrar, scene *common.Scene, t *target.Target, p *plane.Plane, agents *agent.Agents, shard bool) {
	c := controlplane.Define(r, scene, t, p)
	agentserver.Define(r, scene, t, p, agents)
	endtoend.Define(r, t, p, agents, c)
	common.DefineClosing(r, scene, t, shard)
}

// split separates what can be judged only at the end of the run.
func split(all []*features.Scenario) (first, last []*features.Scenario) {
	for _, s := range all {
		if s.Is(features.TagLast) {
			last = append(last, s)
		} else {
			first = append(first, s)
		}
	}
	return first, last
}

// reach asks the target once, so that one that is out of reach is told at once and not once for each scenario. Any
// answer will do.
func (r *run) reach(ctx context.Context) error {
	var request client.Request
	switch {
	case r.target.Config.Target != "":
		request = r.target.ToControlPlane(target.TheClient, "GET", plane.RevisionsPath(target.UnknownID()), nil)
	case r.target.Config.AgentTarget != "":
		request = r.target.ToAgent(r.target.Config.AgentTarget, target.Caller{}, "GET", agent.StatePath(target.UnknownID()), nil)
	default:
		return errors.New("no target is configured: give --target, --agent-target or both")
	}
	ctx = evidence.WithScenario(ctx, "fixture: the first request", 0)
	_, err := r.target.Client.Do(ctx, request)
	var none *client.NoAnswer
	if errors.As(err, &none) && none.Timeout && request.Method == "GET" {
		request.Path = plane.DeploymentPath(target.UnknownID()) // one operation may hang where others do not
		_, err = r.target.Client.Do(ctx, request)
	}
	var busy *client.Busy
	switch {
	case errors.As(err, &busy), errors.As(err, &none) && none.Closed:
		return nil // it is there, and what is wrong with its answer is for the scenarios to find
	case errors.As(err, &none):
		return fmt.Errorf("%s does not answer: %s", request.Base, none.Told())
	}
	return err
}
