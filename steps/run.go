package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// Options say what a run needs beyond its target's configuration.
type Options struct {
	Config    *config.Config
	Catalogue *features.Catalogue
	Oracle    *spec.Oracle // share one between runs: it is dear to make
	Select    Selection

	Concurrency int // scenarios in flight; DefaultConcurrency when 0
	Strict      bool
	Seed        int64  // shuffles the scenarios; any number but 0
	ID          string // of the run; names what it creates
	Version     string // of the suite
	Command     string // as the user gave it, for the report

	Journal    reports.Recorder
	LedgerFile string // "": in memory only
	Progress   func(Event)
}

// DefaultConcurrency is how many scenarios run at once unless the user says otherwise.
const DefaultConcurrency = 8

// run is one judgement of one target: what all its scenarios share.
type run struct {
	Options
	config    *config.Config
	client    *client.Client
	redact    *client.Redactor
	collector *evidence.Collector
	ledger    *evidence.Ledger
	registry  *registry
	fixtures  *fixtures
	start     time.Time
	ctx       context.Context // ends when the run does

	failedStatuses []string
	knownStatuses  []string
	deployments    int64 // how many were asked for, for the budget
	unreachable    string
	shutOut        string         // why, where a side has refused every request with the credentials of the configuration
	interrupted    bool           // the context ended before the scenarios did
	background     sync.WaitGroup // the makers of shared fixtures

	mu          sync.Mutex
	verdicts    map[string]*verdict // by scenario
	timeline    []reports.Transition
	transitions map[string]bool
	hanging     map[string]bool // revisions for which a poll ran out of time, and their deployments where that was waited for
	reads       map[string]read // by revision
	fruitless   map[string]bool // kinds of updates of which one made no revision in time
	serial      map[string]int
	agentRun
}

// Run judges the target and returns all that was learned. An error means that there is nothing to report: the
// journal or the ledger could not be written, or the selection holds no scenario. A target that is out of reach, or
// a context that ends early, is a result (incomplete), not an error.
func Run(ctx context.Context, o Options) (*reports.Result, error) {
	r, err := newRun(o)
	if err != nil {
		return nil, err
	}
	defer r.client.Close()
	defer r.ledger.Close()
	selected, err := r.Select.apply(r.Catalogue)
	if err != nil {
		return nil, err
	}
	var stop context.CancelFunc
	r.ctx, stop = context.WithCancel(ctx)
	defer stop()

	r.Progress(Event{Kind: Planned, Name: r.addresses(), Total: len(selected), Seed: r.Seed, Deployments: r.planned(selected)})
	if err := r.reach(r.ctx); err != nil {
		r.unreachable = err.Error()
	}
	first, last := split(selected)
	for _, phase := range [][]*features.Scenario{first, last} {
		if err := r.execute(r.ctx, phase); err != nil {
			return nil, err
		}
	}
	r.interrupted = ctx.Err() != nil
	stop()
	r.background.Wait()
	r.clean(ctx)
	r.blockShutOut(selected)
	return r.result(selected)
}

func newRun(o Options) (*run, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	ledger, err := evidence.OpenLedger(o.LedgerFile, o.ID, o.Config.Target)
	if err != nil {
		return nil, err
	}
	r := &run{
		Options: o, config: o.Config, ledger: ledger, start: time.Now(),
		redact:         client.NewRedactor(o.Config.Secrets()),
		client:         client.New(o.Concurrency),
		registry:       newRegistry(),
		failedStatuses: spec.FailedStatuses(),
		knownStatuses:  spec.RevisionStatuses(),
		verdicts:       map[string]*verdict{},
		transitions:    map[string]bool{},
		hanging:        map[string]bool{},
		reads:          map[string]read{},
		fruitless:      map[string]bool{},
		serial:         map[string]int{},
	}
	r.collector = evidence.New(o.Oracle, r.redact, o.Journal, r.start)
	r.client.Vocabulary = client.NewVocabulary(o.Config.Vocabulary)
	r.client.Observe = r.collector.Observe
	r.client.Throttled = func(asked time.Duration, granted bool) {
		r.collector.Waited(granted)
		r.Progress(Event{Kind: Throttled, Elapsed: asked, Refused: !granted})
	}
	r.fixtures = r.newFixtures()
	return r, nil
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

// name makes a name for something that the run creates: it carries the run's id and is used once.
func (r *run) name(purpose string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial[purpose]++
	return fmt.Sprintf("agentconform-%s-%s-%d", r.ID, purpose, r.serial[purpose])
}

// reach asks the target once, so that one that is out of reach is told at once and not once for each scenario. Any
// answer will do.
func (r *run) reach(ctx context.Context) error {
	var request client.Request
	switch {
	case r.config.Target != "":
		request = r.toControlPlane(theClient, "GET", revisionsPath(unknownID()), nil)
	case r.config.AgentTarget != "":
		request = r.toAgent(r.config.AgentTarget, caller{}, "GET", statePath(unknownID()), nil)
	default:
		return errors.New("no target is configured: give --target, --agent-target or both")
	}
	ctx = evidence.WithScenario(ctx, "fixture: the first request", 0)
	_, err := r.client.Do(ctx, request)
	var none *client.NoAnswer
	if errors.As(err, &none) && none.Timeout && request.Method == "GET" {
		request.Path = deploymentPath(unknownID()) // one operation may hang where others do not
		_, err = r.client.Do(ctx, request)
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

// applies says why a scenario is not judged at all: its part of the interface is not claimed, or has no address.
func (r *run) applies(s *features.Scenario) *outcome {
	profile := s.Requirement.Profile
	if claimed := r.Select.Profiles; len(claimed) > 0 && !slices.Contains(claimed, profile) {
		return skipped("not claimed: the run is limited to the profile %s", strings.Join(claimed, ", "))
	}
	if profile != features.AgentServer && r.config.Target == "" {
		return needs("target, the address of a control plane")
	}
	return nil
}
