package suite

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v34"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/spelling"
	"github.com/agentconform/agentconform/steps/agentserver"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane"
	"github.com/agentconform/agentconform/steps/endtoend"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// verdict is the outcome of one scenario.
type verdict struct {
	*outcome.Outcome
	step  int           // index of the step that ended it; the number of steps if all passed; -1 if no step began
	took  time.Duration // since its first request
	again *verdict      // the verdict of the second judgement, or nil if there was none
}

// chosen is a scenario that godog executes.
type chosen struct {
	*features.Scenario
	position int // random position at which it starts, counted from 0
	place    int // position in the features, counted from 1
}

// nameOf returns the name by which godog identifies a scenario.
type nameOf struct{ uri, name string }

// choose returns the scenarios with random positions, which differ between repetitions.
func (r *run) choose(scenarios []*features.Scenario) map[nameOf]chosen {
	places := map[*features.Scenario]int{}
	for i, s := range r.Catalogue.Scenarios() {
		places[s] = i + 1
	}
	all := map[nameOf]chosen{}
	random := rand.New(rand.NewPCG(uint64(r.Seed), uint64(r.repetition-1)))
	for position, i := range random.Perm(len(scenarios)) {
		s := scenarios[i]
		all[nameOf{s.URI, s.Name}] = chosen{s, position, places[s]}
	}
	return all
}

// execute runs the scenarios with godog. They start shortly after one another, in an order that depends on the seed.
// The client limits the requests in flight.
func (r *run) execute(ctx context.Context, scenarios []*features.Scenario) error {
	if len(scenarios) == 0 {
		return nil
	}
	all := r.choose(scenarios)
	concurrency := 1 + len(r.Catalogue.Scenarios()) // with the value 1, godog does not start scenarios in goroutines
	if r.recording != nil {                         // they wait for nothing, and each may need much memory
		concurrency = 1
	}
	suite := godog.TestSuite{
		Name: "agentconform",
		ScenarioInitializer: func(sc *godog.ScenarioContext) {
			e := &execution{run: r, chosen: all, definitions: sc, scene: &common.Scene{Stopped: r.cut || r.recording != nil}}
			sc.Before(e.before)
			sc.StepContext().Before(func(ctx context.Context, step *godog.Step) (context.Context, error) {
				if step.Type == messages.PickleStepType_ACTION {
					e.scene.Cases = nil
				}
				return evidence.WithPart(ctx, parts[step.Type]), nil
			})
			sc.StepContext().After(e.afterStep)
			sc.After(e.after)
		},
		Options: &godog.Options{
			Format:          "progress",
			Output:          io.Discard, // reports show the result instead
			FeatureContents: r.contents(scenarios),
			Concurrency:     concurrency,
			Strict:          true,
			DefaultContext:  ctx,
		},
	}
	suite.Run() // the returned status is redundant, because verdicts has more
	for _, s := range scenarios {
		if v := r.verdicts[s.Key()]; v == nil || r.repeats && v.again == nil { // an empty run must never look like a pass
			return fmt.Errorf("the suite itself failed, please report it: scenario %s (%s) was not executed", s.Name, s.Key())
		}
	}
	return nil
}

// judgeAgain executes the failed scenarios a second time after all others, so that findings show whether the failures
// were repeated. The verdicts do not change. It omits scenarios that may create or change something at the control plane,
// and scenarios that may have ended with a timeout.
func (r *run) judgeAgain(ctx context.Context, scenarios []*features.Scenario) error {
	failed := slices.DeleteFunc(slices.Clone(scenarios), func(s *features.Scenario) bool {
		v := r.verdicts[s.Key()]
		ofAgent := s.Requirement.Profile == features.AgentServer
		return v.Verdict != reports.Failed || s.Terms.Creates() || writes(s) && !ofAgent ||
			v.took >= r.target.Config.Timeouts.Request
	})
	if ctx.Err() != nil || r.Once || r.isRefused() || len(failed) == 0 {
		return nil
	}
	r.repeats = true
	defer func() { r.repeats = false }()
	return r.execute(ctx, failed)
}

func (r *run) contents(scenarios []*features.Scenario) []godog.Feature {
	var all []godog.Feature
	for _, f := range r.Catalogue.Files {
		if slices.ContainsFunc(scenarios, func(s *features.Scenario) bool { return s.URI == f.URI }) {
			all = append(all, godog.Feature{Name: f.URI, Contents: f.Extract(scenarios)})
		}
	}
	return all
}

// execution is one scenario that godog executes.
type execution struct {
	run         *run
	chosen      map[nameOf]chosen
	definitions common.Definer
	scene       *common.Scene

	step    int // index of the current step
	verdict *verdict
}

// before identifies the scenario. A scenario that is not selected ends here and does not appear in the result.
func (e *execution) before(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
	one, isChosen := e.chosen[nameOf{sc.Uri, sc.Name}]
	if !isChosen {
		return ctx, godog.ErrSkip
	}
	r, s := e.run, one.Scenario
	e.scene.Scenario = s
	client.Stagger(one.position)
	name := s.Attribution()
	if r.repeats {
		name += " (judged again)"
	} else {
		r.target.Progress(target.Event{Kind: target.Started, Name: s.Name, Text: s.Requirement.ID})
	}
	ctx = client.ForScenario(evidence.WithScenario(ctx, name, one.place))
	if o := r.preclude(ctx, s); o != nil {
		e.step = -1
		e.end(o)
		return ctx, godog.ErrSkip
	}
	ctx = r.forecast.Allowance(s).Within(ctx)
	var steps []string
	for _, step := range s.Steps {
		steps = append(steps, step.Text)
	}
	r.define(s.URI, common.NewDefinitions(e.definitions, &r.patterns, steps...), e.scene)
	return ctx, nil
}

// define registers the definitions of a feature file for one scenario, with a new state.
func (r *run) define(uri string, d *common.Definitions, scene *common.Scene) {
	c := controlplane.Define(d, uri, scene, r.target, r.plane)
	agentserver.Define(d, uri, scene, r.target, r.plane, r.agents)
	switch {
	case strings.HasPrefix(uri, "control_plane/"):
		r.situations.DefineDeployments(d)
	case strings.HasPrefix(uri, "agent_server/"):
		r.situations.DefineThreads(d)
	default:
		endtoend.Define(d, r.target, r.plane, r.agents, c)
	}
	common.DefineAllResponses(d, scene, r.target)
	r.invariants.Define(d)
}

// preclude returns the reason not to run a scenario, or nil.
func (r *run) preclude(ctx context.Context, s *features.Scenario) *outcome.Outcome {
	leftOut, lacking := r.forecast.leftOut(s), r.forecast.lacks(s)
	switch {
	case leftOut != nil:
		return leftOut
	case ctx.Err() != nil && !s.Terms.Record:
		return outcome.Inconclusive("not run: %v", context.Cause(ctx)).By(reports.ByRun, "ended")
	case r.unreachable != "":
		return outcome.Blocked("%s", r.unreachable).By(reports.ByTarget, r.target.Address())
	case len(lacking) > 0:
		return lacking[0]
	case r.agentDown != "" && isOfAgent(s):
		return outcome.Blocked("%s", r.agentDown).By(reports.ByTarget, r.target.Config.AgentTarget)
	}
	return nil
}

// parts has the part of a scenario's exchanges for each kind of step.
var parts = map[messages.PickleStepType]reports.Part{messages.PickleStepType_CONTEXT: reports.SetUp,
	messages.PickleStepType_ACTION:  reports.Act,
	messages.PickleStepType_OUTCOME: reports.Observation}

func (e *execution) afterStep(ctx context.Context, step *godog.Step, status godog.StepResultStatus,
	err error) (context.Context, error) {
	if e.scene.Scenario == nil || e.verdict != nil {
		return ctx, nil
	}
	switch {
	case status == godog.StepUndefined:
		e.end(outcome.SuiteError("%s", undefined(e.run.Catalogue, e.scene.Scenario, e.scene.Scenario.Steps[e.step])))
	case status == godog.StepAmbiguous:
		s := e.scene.Scenario
		e.end(outcome.SuiteError("features/%s:%d: several definitions match %q", s.URI, s.Steps[e.step].Line, step.Text))
	case err != nil:
		o := outcome.Judge(ctx, step.Type == messages.PickleStepType_CONTEXT, step.Text, err)
		if e.run.cut && o.IsBy(reports.ByObservation) {
			o = e.run.notAllSeen()
		}
		o = e.run.followLeftOut(e.scene.Scenario, o)
		if o.Verdict == reports.Failed && !isLeak(e.scene.Scenario.Requirement, o) {
			o = e.run.inconclusiveIfRepeated(evidence.Scenario(ctx), step.Text, o)
		}
		e.end(o)
	default:
		e.step++
	}
	return ctx, nil
}

// undefined describes a step without a definition, with its file and line and the most similar step of the same feature
// file. Only the definitions of that file match.
func undefined(c *features.Catalogue, s *features.Scenario, step features.Step) string {
	var known []string
	for _, other := range c.Scenarios() {
		for _, k := range other.Steps {
			if other.URI == s.URI && k.Text != step.Text {
				known = append(known, k.Text)
			}
		}
	}
	text := fmt.Sprintf("features/%s:%d: no definition matches %q", s.URI, step.Line, step.Text)
	near := spelling.Within(len(step.Text)/3, step.Text, known)
	if near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// isLeak reports whether a failure of a requirement about isolation or security is a leak, which a repeated request
// cannot explain. A list with too many or too few items does not prove a leak, because a repeated write may be the
// reason.
func isLeak(q *features.Requirement, o *outcome.Outcome) bool {
	if q.Subject != "isolation" && q.Subject != "security" {
		return false
	}
	return !slices.ContainsFunc(o.Violations, func(v outcome.Violation) bool {
		return v.Kind == outcome.ExtraItem || v.Kind == outcome.MissingItem
	})
}

// inconclusiveIfRepeated replaces a failure by an inconclusive outcome if the client sent a write of the scenario or of
// its fixtures twice, because the server may rightly have created two objects. A failure because of a missing response is
// not replaced.
func (r *run) inconclusiveIfRepeated(owner, step string, failed *outcome.Outcome) *outcome.Outcome {
	if x := r.repeatedWrite(owner); x != nil {
		return outcome.Inconclusive("%s %s: %s. This may be why the step failed: %s", x.Method, safe.ShortIDs(x.Path),
			reports.RepeatedNote, failed.Reason).By(reports.ByObservation, step)
	}
	return failed
}

// repeatedWrite returns the first write of a scenario or of its fixtures that the client sent twice, or nil.
func (r *run) repeatedWrite(owner string) *evidence.Observation {
	for _, x := range r.target.Collector.SentBy(r.senders(owner)...) {
		if x.RepeatedWrite && x.Status != 0 {
			return x
		}
	}
	return nil
}

func (e *execution) after(ctx context.Context, _ *godog.Scenario, _ error) (context.Context, error) {
	e.scene.End()
	if e.scene.Scenario != nil && e.verdict == nil {
		o := &outcome.Outcome{Verdict: reports.Passed, Reason: e.scene.Remark}
		if e.run.cut {
			o = e.run.notAllSeen()
		}
		e.end(o)
	}
	return ctx, nil
}

// end gives the scenario its verdict, once.
func (e *execution) end(o *outcome.Outcome) {
	r, s := e.run, e.scene.Scenario
	e.verdict = &verdict{Outcome: o, step: e.step}
	if sent := r.target.Collector.SentBy(s.Attribution()); len(sent) > 0 {
		e.verdict.took = time.Since(sent[0].Sent)
	}
	r.mu.Lock()
	if r.repeats {
		r.verdicts[s.Key()].again = e.verdict
	} else {
		r.verdicts[s.Key()] = e.verdict
	}
	r.mu.Unlock()
	if r.repeats {
		return
	}
	r.announce(target.Ended, s, e.verdict)
	r.reconsider(spec.AgentServer, spec.ControlPlane)
}
