// Package conformance tests a server of the interface within go test: each requirement is a sub-test.
//
//	func TestAPI(t *testing.T) {
//		conformance.Test(t, conformance.Target{Handler: api.New(), Config: "agentconform.yaml"})
//	}
//
// go test -run 'TestAPI/CP-LIST' judges the requirements whose IDs begin with CP-LIST, and sends nothing for others.
// The keys of the configuration are those of the command agentconform run.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// Target is the server under test with the options of the test run. If it has no addresses and no handlers, the
// configuration names the server.
type Target struct {
	URL      string // base URL of the control plane
	AgentURL string // base URL of an agent server; "": the agent server of the deployment that the test run creates
	// Handler and AgentHandler are served on loopback addresses in place of URL and AgentURL, until the test has ended.
	Handler, AgentHandler http.Handler

	Config  string   // configuration file; "": agentconform.yaml in the folder of the test, if it exists
	Environ []string // variables AGENTCONFORM_<KEY>=value, which override the file; nil: the variables of the process

	FailOn   []string // "should", or tag expressions such as "@security": requirements that match count as MUST
	Baseline string   // file of known failures, whose tests are skipped; "": none
	Out      string   // folder for the reports that agentconform run writes; "": none
	Seed     int64    // order of the scenarios; 0: random, and logged by the test
}

// Test runs a sub-test for each requirement, with its ID as the name.
//
// The sub-test of a MUST fails if the requirement failed, or if it applies and could not be judged. The sub-test of a
// SHOULD fails only if FailOn includes it. Otherwise it is skipped with the same text. Requirements that do not apply,
// or that need a key of the configuration, are skipped as well. If all requirements are selected, t also fails if
// agentconform run would not exit with 0, as for a server that refuses everything.
//
// Test returns when the test run has ended, so that a server may be closed with defer. Sub-tests report in the order of
// the catalogue, a blocked one after its cause. The test run ends before the deadline of the test, in time to remove what
// it created.
func Test(t *testing.T, target Target) {
	t.Helper()
	r := &run{Target: target, t: t}
	if err := r.prepare(); err != nil {
		t.Fatal(safe.Terminal(err.Error()))
	}
	r.begin()
	if len(r.subTests) > 0 {
		r.judge()
	}
	for _, s := range r.inOrder() {
		close(s.turn)
		<-s.ended
	}
	r.conclude()
}

// run is the test run that the selected sub-tests share.
type run struct {
	Target
	t       *testing.T
	options steps.Options
	known   *baseline.Baseline // nil: none

	subTests []*subTest      // the selected ones, in the order of the catalogue
	result   *reports.Result // nil: nothing was judged
	err      error
}

// subTest is the sub-test of a requirement. All sub-tests begin before the test run, because -run selects a sub-test only
// when it begins. They report one after the other after the test run.
type subTest struct {
	id                 string
	begun, turn, ended chan struct{}
}

// begin begins a sub-test for each requirement. Those that -run does not select end at once.
func (r *run) begin() {
	for _, q := range r.options.Catalogue.Requirements {
		s := &subTest{q.ID, make(chan struct{}), make(chan struct{}), make(chan struct{})}
		go func() {
			defer close(s.ended)
			r.t.Run(s.id, func(t *testing.T) {
				close(s.begun)
				<-s.turn
				r.report(t, s.id)
			})
		}()
		select {
		case <-s.begun:
			r.subTests = append(r.subTests, s)
			r.options.Select.Only = append(r.options.Select.Only, s.id)
		case <-s.ended:
		}
	}
}

// inOrder returns the sub-tests in the order of the catalogue, except that a requirement comes after those that block or
// explain it.
func (r *run) inOrder() []*subTest {
	if r.result == nil {
		return r.subTests
	}
	var all []*subTest
	seen := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		i := slices.IndexFunc(r.subTests, func(s *subTest) bool { return s.id == id })
		if i < 0 || seen[id] {
			return
		}
		seen[id] = true
		q := r.result.Requirement(id)
		for _, cause := range q.ExplainedBy {
			visit(cause)
		}
		for _, b := range q.BlockedBy {
			if b.Kind == reports.ByRequirement {
				visit(b.Name)
			}
		}
		all = append(all, r.subTests[i])
	}
	for _, s := range r.subTests {
		visit(s.id)
	}
	return all
}

// prepare reads all files and starts the handlers. It sends no requests and writes no files.
func (r *run) prepare() (err error) {
	o := &r.options
	o.Config, err = r.configuration()
	if err != nil {
		return err
	}
	if r.Baseline != "" {
		r.known, err = baseline.Load(r.Baseline)
		if err != nil {
			return err
		}
	}
	if r.Out != "" {
		err = export.Check(r.Out)
		if err != nil {
			return fmt.Errorf("the folder Out: %w", err)
		}
	}
	o.Catalogue, o.Oracle, err = steps.Requirements()
	if err != nil {
		return err
	}
	o.FailOn = r.FailOn
	o.Seed = r.Seed
	o.Version = version()
	o.Arguments = r.arguments()
	_, err = suite.Binding(o.Catalogue, o.FailOn)
	return err
}

func (r *run) configuration() (*config.Config, error) {
	if r.URL != "" && r.Handler != nil || r.AgentURL != "" && r.AgentHandler != nil {
		return nil, errors.New("an address and a handler of the same half are given: remove one of them")
	}
	sources := config.Sources{File: r.Config, Environ: r.Environ}
	if r.Environ == nil {
		sources.Environ = os.Environ()
	}
	control, agent := r.URL, r.AgentURL
	if r.Handler != nil {
		control = r.serve(r.Handler)
	}
	if r.AgentHandler != nil {
		agent = r.serve(r.AgentHandler)
	}
	if control != "" || agent != "" {
		sources.Flags = map[string]string{"target": control, "agent_target": agent}
	}
	cfg, err := config.Load(sources)
	switch {
	case err != nil:
		return nil, err
	case cfg.Target == "" && cfg.AgentTarget == "":
		return nil, errors.New("no target: set URL, Handler, AgentURL or AgentHandler, or the key target")
	case cfg.Target != "" && cfg.Fixtures.Serve != "":
		return nil, errors.New("fixtures.serve: only the command agentconform serves fixtures; set create.body in its place")
	}
	return cfg, nil
}

// serve serves a handler until the test has ended, and returns its address.
func (r *run) serve(h http.Handler) string {
	server := httptest.NewUnstartedServer(h)
	server.Config.BaseContext = func(net.Listener) context.Context { return r.t.Context() } // ends waiting handlers
	server.Start()
	r.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// arguments returns the arguments of agentconform for the same test run. Reports derive commands from them.
func (r *run) arguments() []string {
	all := []string{"run"}
	given := [][2]string{{"--config", r.Config}, {"--target", r.URL}, {"--agent-target", r.AgentURL}, {"--out", r.Out}}
	for _, flag := range given {
		if flag[1] != "" {
			all = append(all, flag[:]...)
		}
	}
	return all
}

// judge runs the suite for the selected requirements.
func (r *run) judge() {
	ctx := r.t.Context()
	deadline, hasDeadline := r.t.Deadline()
	if hasDeadline {
		left := time.Until(deadline)
		reserve := min(suite.CleanUpTime+5*time.Second, left/2)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, left-reserve, &steps.Stopped{By: "the deadline of go test -timeout"})
		defer cancel()
	}
	if r.Out != "" {
		r.options.LedgerFile = filepath.Join(r.Out, "ledger.jsonl")
		r.err = r.options.Check()
		if r.err != nil {
			return
		}
		r.err = export.Begin(r.Out)
		if r.err != nil {
			return
		}
	}
	if len(r.options.Select.Only) == len(r.options.Catalogue.Requirements) {
		r.options.Select.Only = nil
	}
	r.result, r.err = steps.Run(ctx, r.options)
	if r.err != nil {
		return
	}
	r.result.Run.GoTest = r.t.Name()
	if r.known != nil {
		baseline.Apply(r.result, r.known, time.Now())
	}
	if r.Out != "" {
		r.err = export.Write(r.Out, r.result)
	}
}

// report ends a sub-test with the verdict of its requirement.
func (r *run) report(t *testing.T, id string) {
	if r.result == nil {
		t.Skip("not judged: see the error of the parent test")
	}
	q := r.result.Requirement(id)
	text := safe.Terminal(r.text(q))
	switch {
	case q.Verdict == reports.Passed:
	case lacksOthers(q):
		t.Error(text)
	case q.Verdict == reports.Skipped:
		t.Skip(text)
	case q.Known != nil:
		t.Skip("known failure: " + safe.Terminal(q.Known.String()) + "\n" + text)
	case !q.Decides():
		t.Skip(string(q.Level) + " not met, which does not fail the test\n" + text)
	default:
		t.Error(text)
	}
}

// lacksOthers reports whether a requirement that judges the record was selected without the requirements that could show
// a violation.
func lacksOthers(q *reports.Requirement) bool {
	return q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotSelected && q.Skip.Key == "--only"
}

// text describes the reason why a requirement has not passed: the findings if it failed, or else the reason of the
// result, which names the key to change.
func (r *run) text(q *reports.Requirement) string {
	again := "\nTry: " + r.result.Run.ReplayCommand(q.ID)
	if q.Verdict == reports.Failed {
		return console.Story(overview.Of(r.result), q, nil, r.Out) + again
	}
	text := fmt.Sprintf("%s: %s", q.Verdict, q.Reason)
	judgesRecord := r.options.Catalogue.Find(q.ID).Scenarios[0].Terms.Record
	if lacksOthers(q) || judgesRecord && q.Verdict == reports.Inconclusive && r.result.Filtered() {
		text += "; this rule judges all responses of a test run: also select requirements that send requests"
	}
	if q.Verdict == reports.Blocked {
		text += again
	}
	return text
}

// conclude reports the verdict of the test run after all sub-tests have ended.
func (r *run) conclude() {
	if r.err != nil {
		r.t.Error(safe.Terminal(r.err.Error()))
	}
	if r.result == nil {
		return
	}
	o := overview.Of(r.result)
	text := o.FirstLine() + fmt.Sprintf("\nseed %d", r.result.Run.Seed)
	cleanup := o.Cleanup(r.Out)
	if cleanup.NotRemoved != "" {
		text += "\nnot cleaned up: " + cleanup.NotRemoved
	}
	if r.Out != "" {
		text += "\n" + cleanup.Command + "\nreport: " + filepath.Join(r.Out, "index.html")
	}
	exit := o.Display().Exit // 1: a MUST failed, or an entry of the baseline is outdated
	isExpected := exit == 0 || exit == 3 && (r.result.Filtered() || r.t.Failed())
	if isExpected {
		r.t.Log(safe.Terminal(text))
		return
	}
	r.t.Error(safe.Terminal(text))
}

// version returns the version of this module in the build of the test.
func version() string {
	const module = "github.com/agentconform/agentconform"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "(devel)"
}
