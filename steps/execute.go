package steps

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/cucumber/godog"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
)

// verdict is what was learned of one scenario.
type verdict struct {
	outcome  *outcome // nil: passed
	step     int      // index of the step that ended it, -1 when all passed
	sentence string
	took     time.Duration
}

func newRegistry() *registry { return &registry{compiled: map[string]*regexp.Regexp{}} }

// execute has godog run the scenarios, several at once, in an order that the seed shuffles.
func (r *run) execute(ctx context.Context, scenarios []*features.Scenario) error {
	if len(scenarios) == 0 {
		return nil
	}
	chosen := map[string]*features.Scenario{}
	for _, s := range scenarios {
		chosen[s.URI+"\n"+s.Name] = s
	}
	suite := godog.TestSuite{
		Name: "agentconform",
		ScenarioInitializer: func(sc *godog.ScenarioContext) {
			e := &execution{run: r, chosen: chosen, world: &World{run: r}}
			sc.Before(e.before)
			sc.StepContext().After(e.afterStep)
			sc.After(e.after)
			e.world.define(&book{registry: r.registry, sc: sc})
		},
		Options: &godog.Options{
			Format:          silent,
			Output:          io.Discard,
			FeatureContents: r.contents(scenarios),
			Concurrency:     r.Concurrency,
			Randomize:       r.Seed,
			Strict:          true,
			DefaultContext:  ctx,
		},
	}
	suite.Run() // its status says nothing that the verdicts do not
	return r.missing(scenarios)
}

// contents returns the features that hold the scenarios. Those with scenarios that wait come first, so that the
// others fill the time.
func (r *run) contents(scenarios []*features.Scenario) []godog.Feature {
	slow, needed := map[string]bool{}, map[string]bool{}
	for _, s := range scenarios {
		needed[s.URI] = true
		slow[s.URI] = slow[s.URI] || s.Is(features.TagSlow)
	}
	var first, then []godog.Feature
	for _, f := range r.Catalogue.Files {
		switch {
		case slow[f.URI]:
			first = append(first, godog.Feature{Name: f.URI, Contents: f.Content})
		case needed[f.URI]:
			then = append(then, godog.Feature{Name: f.URI, Contents: f.Content})
		}
	}
	return append(first, then...)
}

// missing finds scenarios that godog did not run: an empty run must never look like a good one.
func (r *run) missing(scenarios []*features.Scenario) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range scenarios {
		if r.verdicts[s.Key()] == nil {
			return fmt.Errorf("the suite itself failed, please report it: scenario %s (%s) was not executed", s.Name, s.Key())
		}
	}
	return nil
}

// execution is one scenario on its way through godog.
type execution struct {
	run    *run
	chosen map[string]*features.Scenario
	world  *World

	start   time.Time
	step    int
	verdict *verdict
}

// before finds out which scenario this is. One that is not selected goes no further and leaves no trace.
func (e *execution) before(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
	s := e.chosen[sc.Uri+"\n"+sc.Name]
	if s == nil {
		return ctx, godog.ErrSkip
	}
	e.start = time.Now()
	e.world.scenario = s
	e.run.Progress(Event{Kind: Started, Name: s.Name, Text: s.Requirement.ID})
	ctx = evidence.WithScenario(ctx, s.Key()+" "+s.Name, e.run.position(s))
	if o := e.run.preclude(ctx, s); o != nil {
		e.end(o, "")
		return ctx, godog.ErrSkip
	}
	return ctx, nil
}

// preclude says why a scenario is not even begun.
func (r *run) preclude(ctx context.Context, s *features.Scenario) *outcome {
	if o := r.applies(s); o != nil {
		return o
	}
	if ctx.Err() != nil {
		return inconclusive("not begun: %v", context.Cause(ctx))
	}
	if r.unreachable != "" {
		return blocked("%s", r.unreachable)
	}
	return nil
}

func (e *execution) afterStep(ctx context.Context, step *godog.Step, status godog.StepResultStatus, err error) (context.Context, error) {
	if e.world.scenario == nil || e.verdict != nil {
		return ctx, nil
	}
	switch {
	case status == godog.StepUndefined || status == godog.StepAmbiguous:
		e.end(inconclusive("the suite itself failed here, please report it: no single definition for %q", step.Text), step.Text)
	case err != nil:
		e.end(judge(ctx, step.Type, err), step.Text)
	default:
		e.step++
	}
	return ctx, nil
}

func (e *execution) after(ctx context.Context, _ *godog.Scenario, _ error) (context.Context, error) {
	for _, undo := range slices.Backward(e.world.undo) {
		undo()
	}
	if e.world.scenario != nil && e.verdict == nil {
		e.step = -1
		e.end(nil, "")
	}
	return ctx, nil
}

// end gives the scenario its verdict, once.
func (e *execution) end(o *outcome, sentence string) {
	s := e.world.scenario
	if o == nil && e.world.note != "" {
		o = &outcome{verdict: reports.Passed, reason: e.world.note}
	}
	e.verdict = &verdict{outcome: o, step: e.step, sentence: sentence, took: time.Since(e.start)}
	e.run.mu.Lock()
	e.run.verdicts[s.Key()] = e.verdict
	e.run.mu.Unlock()
	event := Event{Kind: Ended, Name: s.Name, Text: s.Requirement.ID, Verdict: reports.Passed, Elapsed: e.verdict.took}
	if o != nil {
		event.Verdict, event.Reason = o.verdict, e.run.redact.Excerpt(o.reason)
	}
	e.run.Progress(event)
}

// position is the scenario's place in the features, from 1.
func (r *run) position(s *features.Scenario) int {
	return slices.Index(r.Catalogue.Scenarios(), s) + 1
}

// silent is the name of a formatter that says nothing: godog's own mix up scenarios that run at once, and what
// people see comes from the result.
const silent = "agentconform-silent"

func init() {
	godog.Format(silent, "says nothing", func(string, io.Writer) godog.Formatter { return quiet{} })
}
