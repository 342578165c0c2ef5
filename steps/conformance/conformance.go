// Package conformance tests a server of the interface within go test: each requirement is a sub-test.
//
//	func TestAPI(t *testing.T) {
//		conformance.Test(t, conformance.Target{Handler: api.New(), Config: "agentconform.yaml"})
//	}
//
// go test -run 'TestAPI/CP-LIST' judges the requirements whose IDs begin with CP-LIST, and sends nothing for others.
// The keys of the configuration are those of the command, agentconform run.
package conformance

import (
	"cmp"
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
	"sync"
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

// Target is what is tested, and how. Without addresses and handlers it is the target of the configuration.
type Target struct {
	URL      string // base URL of the control plane
	AgentURL string // base URL of an agent server; "": that of the deployment which the run creates
	// Handler and AgentHandler are served on loopback addresses in place of URL and AgentURL, until the test has ended.
	Handler, AgentHandler http.Handler

	Config  string   // configuration file; "": agentconform.yaml in the folder of the test, if it is there
	Environ []string // variables AGENTCONFORM_<KEY>=value, which override the file; nil: those of the process

	FailOn   []string // "should", or tag expressions such as "@security": requirements that match count as MUST
	Baseline string   // file of known failures: their tests are skipped; "": none
	Out      string   // folder for the reports that agentconform run writes; "": none
	Seed     int64    // order of the scenarios; 0: a random one, which the test logs
}

// Test runs a sub-test for each requirement, with its ID as the name.
//
// A MUST that failed, or that could not be judged although it applies, fails its test. A SHOULD does only if FailOn
// binds it; else its test is skipped with the same text, as is that of a requirement that does not apply or lacks a key
// of the configuration. Where all requirements are selected, t also fails if agentconform run would not exit with 0, as
// for a server that refuses everything.
//
// The sub-tests are parallel: they run when the test function that called Test has returned. Close a server, or a
// database behind it, with t.Cleanup, not with defer. The run ends before the deadline of the test, in time to remove
// what it created.
func Test(t *testing.T, target Target) {
	t.Helper()
	r := &run{Target: target, t: t}
	if err := r.prepare(); err != nil {
		t.Fatal(safe.Terminal(err.Error()))
	}
	t.Cleanup(r.conclude)
	for _, q := range r.options.Catalogue.Requirements {
		t.Run(q.ID, func(t *testing.T) {
			r.options.Select.Only = append(r.options.Select.Only, q.ID)
			t.Parallel() // waits until all selected ones have come as far
			r.once.Do(r.judge)
			r.report(t, q.ID)
		})
	}
}

// run is the one run of the suite that the selected sub-tests share.
type run struct {
	Target
	t       *testing.T
	options steps.Options
	known   *baseline.Baseline // nil: none

	once   sync.Once
	result *reports.Result // nil: nothing was judged
	err    error
}

// prepare reads everything and starts the handlers. It sends and writes nothing.
func (r *run) prepare() (err error) {
	if r.options.Config, err = r.configuration(); err != nil {
		return err
	}
	if r.Baseline != "" {
		if r.known, err = baseline.Load(r.Baseline); err != nil {
			return err
		}
	}
	if r.Out != "" {
		if err := export.Check(r.Out); err != nil {
			return fmt.Errorf("the folder Out: %w", err)
		}
	}
	o := &r.options
	if o.Catalogue, o.Oracle, err = steps.Requirements(); err != nil {
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
	control := cmp.Or(r.URL, r.serve(r.Handler))
	agent := cmp.Or(r.AgentURL, r.serve(r.AgentHandler))
	if control+agent != "" {
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

// serve serves a handler until the test has ended, and returns its address; "" without one.
func (r *run) serve(h http.Handler) string {
	if h == nil {
		return ""
	}
	server := httptest.NewUnstartedServer(h)
	server.Config.BaseContext = func(net.Listener) context.Context { return r.t.Context() } // ends what still waits
	server.Start()
	r.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// arguments are those of the command that does the same, from which the reports derive others.
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
	if deadline, has := r.t.Deadline(); has {
		left := time.Until(deadline)
		reserve := min(suite.CleanUpTime+5*time.Second, left/2)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, left-reserve, &steps.Stopped{By: "the deadline of go test -timeout"})
		defer cancel()
	}
	if r.Out != "" {
		r.options.LedgerFile = filepath.Join(r.Out, "ledger.jsonl")
		if r.err = r.options.Check(); r.err == nil {
			r.err = export.Begin(r.Out)
		}
		if r.err != nil {
			return
		}
	}
	if len(r.options.Select.Only) == len(r.options.Catalogue.Requirements) {
		r.options.Select.Only = nil
	}
	if r.result, r.err = steps.Run(ctx, r.options); r.err != nil {
		return
	}
	if r.known != nil {
		baseline.Apply(r.result, r.known, time.Now())
	}
	if r.Out != "" {
		r.err = export.Write(r.Out, r.result)
	}
}

// report gives a sub-test the verdict of its requirement.
func (r *run) report(t *testing.T, id string) {
	if r.result == nil {
		t.Skip("not judged: the error is that of the test above")
	}
	q := r.result.Requirement(id)
	text := safe.Terminal(r.text(q))
	switch {
	case q.Verdict == reports.Passed:
	case q.Verdict == reports.Skipped:
		t.Skip(text)
	case q.Known != nil:
		t.Skip("known failure: " + safe.Terminal(q.Known.String()) + "\n" + text)
	case !q.Decides():
		t.Skip(string(q.Level) + " not met, which fails no test\n" + text)
	default:
		t.Error(text)
	}
}

// text says why a requirement has not passed: the findings of one that failed, else the reason, which names the key
// that would change it.
func (r *run) text(q *reports.Requirement) string {
	if q.Verdict != reports.Failed {
		text := fmt.Sprintf("%s: %s", q.Verdict, q.Reason)
		ofRecord := r.options.Catalogue.Find(q.ID).Scenarios[0].Terms.Record
		if ofRecord && q.Verdict == reports.Inconclusive && r.result.Filtered() {
			text += "; this rule judges all answers of a run: select requirements with it that send requests"
		}
		if slices.ContainsFunc(q.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByTarget }) {
			text += "; a server of this process has to be closed with t.Cleanup, since defer is too early"
		}
		return text
	}
	return console.Story(overview.Of(r.result), q, nil, console.Options{Out: r.Out})
}

// conclude judges the run as a whole and tells of it, when all sub-tests have ended.
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
	if left := cleanup.NotRemoved; left != "" {
		text += "\nnot cleaned up: " + left
	}
	if r.Out != "" {
		text += "\n" + cleanup.Command + "\nreport: " + filepath.Join(r.Out, "index.html")
	}
	exit := o.Display().Exit // 1: a MUST failed, or an entry of the baseline is out of date
	if exit == 0 || exit == 3 && (r.result.Filtered() || r.t.Failed()) {
		r.t.Log(safe.Terminal(text))
	} else {
		r.t.Error(safe.Terminal(text))
	}
}

// version is that of this module in the build of the test.
func version() string {
	if info, known := debug.ReadBuildInfo(); known {
		for _, m := range info.Deps {
			if m.Path == "github.com/agentconform/agentconform" { // as go.mod has it
				return m.Version
			}
		}
	}
	return "(devel)"
}
