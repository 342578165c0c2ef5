// Package doctor checks before a test run whether a target can be tested and which keys of its configuration are
// missing. It sends a few requests that only read, and creates nothing.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// State is the result of a check.
type State string

// The results of a check. Only Problem prevents a test run.
const (
	Fine    State = "ok"
	Noted   State = "note"
	Missing State = "missing"
	Problem State = "problem"
)

// Check is one line of an examination. Found and Remedy may contain text of the target.
type Check struct {
	State   State
	Subject string // "control plane", or a key of the configuration
	Found   string // the request and its result
	Remedy  string // an imperative with the key; may be empty
}

// Examination is the result of checking a target.
type Examination struct {
	Checks        []Check
	Judged, Total int // number of requirements that a test run would judge, and of all requirements
}

// Testable reports whether a test run could judge any requirement.
func (e *Examination) Testable() bool { return e.Judged > 0 && len(e.problems()) == 0 }

// Sort orders the checks: problems, missing keys, notes, and checks that passed. Checks of the same kind keep their
// order.
func (e *Examination) Sort() {
	order := []State{Problem, Missing, Noted, Fine}
	slices.SortStableFunc(e.Checks, func(a, b Check) int { return slices.Index(order, a.State) - slices.Index(order, b.State) })
}

// Conclusion summarizes the checks in one sentence.
func (e *Examination) Conclusion() string {
	if e.Testable() {
		return fmt.Sprintf("The target can be tested: a test run judges %d of %d requirements.", e.Judged, e.Total)
	}
	problems := len(e.problems())
	if problems == 0 {
		return "The target cannot be tested yet: no requirement can be judged with this configuration."
	}
	return "The target cannot be tested yet: " + reports.Count(problems, "problem") + "."
}

func (e *Examination) problems() []Check {
	var all []Check
	for _, c := range e.Checks {
		if c.State == Problem {
			all = append(all, c)
		}
	}
	return all
}

func (e *Examination) add(state State, subject, found, remedy string) {
	e.Checks = append(e.Checks, Check{state, subject, found, remedy})
}

// examiner checks one target.
type examiner struct {
	*Examination
	suite.Options // options of the test run that would follow
	target        *target.Target
	plane         *plane.Plane
	agents        *agent.Agents
	forecast      *suite.Forecast
	listed        *probe // the request for the threads as the first user, or nil if no agent server is configured
	nobody        *probe // the same request without credentials
	unknown       *probe // the same request with an unknown token
}

func newExaminer(t *target.Target, maker *shared.Maker, o suite.Options) *examiner {
	p := plane.New(t, nil, time.Time{})
	return &examiner{
		Examination: &Examination{},
		Options:     o,
		target:      t,
		plane:       p,
		agents:      agent.New(t, p, maker, requestsAtOnce, 1),
		forecast:    suite.NewForecast(t.Config, suite.Selection{}),
	}
}

// requestsAtOnce is the maximum number of requests in flight.
const requestsAtOnce = 9

// Examine checks whether a test run with the options could judge the target, and which keys its configuration lacks. It
// only reads, unless try is set. With try it also runs the conformance graph once for each word of its contract, on
// threads that it removes if the agent server supports DELETE. It returns an error if the context ends or the route is
// invalid.
func Examine(ctx context.Context, o suite.Options, try bool) (*Examination, error) {
	c := o.Config
	t, err := target.New(target.Options{
		Config: c, Concurrency: requestsAtOnce, RunID: "doctor",
		Fixtures: o.Fixtures, Oracle: o.Oracle, Start: time.Now(), Dial: o.Dial,
	})
	if err != nil {
		return nil, err
	}
	defer t.Close() //nolint:errcheck // the ledger has no file
	maker := shared.NewMaker(ctx)
	defer maker.Wait()
	x := newExaminer(t, maker, o)
	x.examineTarget(ctx)
	if c.Target != "" && len(c.Create.Body) > 0 {
		x.examineTemplate()
	}
	x.examineExisting(ctx)
	for _, name := range t.Collector.Words().Unchanged() {
		x.add(Problem, "vocabulary."+name, fmt.Sprintf("the target uses %q and never %q", name, t.Client.Words.OnWire(name)),
			"remove or correct vocabulary."+name)
	}
	if try {
		x.tryGraph(ctx)
	}
	x.examineFixtures(ctx)
	short := c.ShortSecrets()
	if short != "" {
		x.add(Noted, "secrets", short, "")
	}
	scenarios, _, err := o.Scenarios()
	if err != nil {
		return nil, err
	}
	x.examineGaps(scenarios)
	x.examinePlan(scenarios)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return x.Examination, nil
}

// examineTemplate validates create.body against the contract, as a test run validates its own requests.
func (x *examiner) examineTemplate() {
	const subject = "create.body"
	body := x.plane.Sources.Body("agentconform-doctor", nil)
	request := x.target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, body)
	violations := x.Oracle.JudgeRequest(spec.Exchange{
		Side: request.Side, Method: request.Method, Path: request.Path,
		RequestHeader: request.Header, RequestBody: request.Body,
	})
	if len(violations) > 0 {
		v := violations[0]
		found := fmt.Sprintf("%s: expected %s, got %s", strings.TrimPrefix(v.Pointer, "/body"), v.Expected, v.Actual)
		if len(violations) > 1 {
			found += fmt.Sprintf(" (and %d more)", len(violations)-1)
		}
		x.add(Problem, subject, x.target.Redact.Excerpt(found),
			"correct create.body: a test run whose own requests break the contract is never conformant")
		return
	}
	source := x.target.Config.Source()
	var fields []string
	switch source {
	case config.GitHost:
		fields = []string{"repo_ref", "graph_config_path"}
	case config.ExternalContainer:
		fields = []string{"image_uri"}
	}
	revision, _ := body["source_revision_config"].(map[string]any)
	for _, name := range fields {
		if revision[name] == nil {
			field := "source_revision_config." + name
			x.add(Noted, subject, "lacks "+field+": a server without a default for it refuses each creation with 422",
				"set create.body."+field)
			return
		}
	}
	x.add(Fine, subject, "source "+source+", matches the contract", "")
}

func (x *examiner) examineGaps(scenarios []*features.Scenario) {
	gaps, judged := x.forecast.Gaps(scenarios)
	x.Judged = judged
	x.Total = len(slices.CompactFunc(slices.Clone(scenarios), func(a, b *features.Scenario) bool { return a.Requirement == b.Requirement }))
	needed := map[reports.Skip]string{} // the requirements that need a key
	for _, g := range gaps {
		names := g.Named(x.Catalogue)
		needed[g.Skip] = names
		switch {
		case g.Skip.Kind == reports.NotApplicable && len(g.Whole) > 0:
			found := (&suite.Gap{Whole: g.Whole}).Named(x.Catalogue) + ": " +
				strings.TrimPrefix(g.Reason, "not applicable: ")
			x.add(Noted, "not applicable", found, "")
		case g.Skip.Kind == reports.NotApplicable:
		case g.Skip.Kind == reports.NotClaimed:
			x.add(Noted, "not claimed", names+": supports does not name "+g.Skip.Key, "")
		case g.Skip.Kind != reports.NotConfigured:
			x.add(Missing, g.Skip.Key, "would enable "+names, "")
		}
	}
	for _, g := range x.forecast.Missing(scenarios) {
		found := "would enable " + g.Named(x.Catalogue)
		if g.IsEmpty() {
			found = "one of several keys that are missing for " + needed[g.Skip]
		}
		x.add(Missing, g.Skip.Key, found, "")
	}
}

func (x *examiner) examinePlan(scenarios []*features.Scenario) {
	x.forecast.AssignMembers(scenarios)
	p := x.forecast.Plan(scenarios)
	c := x.target.Config
	found := "a test run creates no deployment"
	switch {
	case c.Target == "":
		found = "a test run creates threads and runs, and no deployment"
	case p.Deployments > 0:
		found = fmt.Sprintf("a test run creates at most %s with %s",
			reports.Count(p.Deployments, "deployment"), reports.Count(p.Revisions, "revision"))
		x.Options.Explore = suite.Automatic
		if explored := x.Exploration(p.Deployments); explored > 0 {
			found += fmt.Sprintf(", and up to %d more deployments to explore", explored)
		}
	}
	isLimited := c.MaxDeployments > 0 && c.MaxDeployments < p.Deployments && c.Target != ""
	if isLimited {
		x.add(Noted, "plan",
			fmt.Sprintf("%s; max_deployments is %d, so some requirements are skipped", found, c.MaxDeployments),
			fmt.Sprintf("set max_deployments to %d", p.Deployments))
		return
	}
	x.add(Fine, "plan", found, "")
}

// examineFixtures reports the sources that a test run serves to the target's builder, and whether this machine reaches
// the advertised URL.
func (x *examiner) examineFixtures(ctx context.Context) {
	f, c := x.target.Fixtures, x.target.Config
	if f == nil {
		if c.Fixtures.Serve != "" && c.Target == "" {
			x.add(Noted, "fixtures", "not served: no control plane is configured", "set target, or remove fixtures")
		}
		return
	}
	x.add(Fine, "fixtures", fmt.Sprintf("served at %s, for builders at %s: %s; graph in %s", f.Listening(), f.Advertised(),
		strings.Join(f.Contents(), ", "), c.Fixtures.Graph), "")
	err := f.Reached(ctx)
	if err != nil {
		x.add(Noted, target.AdvertiseKey, fmt.Sprintf("this machine cannot reach %s: %v", f.Advertised(), err),
			"check that the target's builder reaches it, or correct "+target.AdvertiseKey)
		return
	}
	x.add(Fine, target.AdvertiseKey, "this machine reaches "+f.Advertised(), "")
}
