// Package agent sends requests to agent servers, without Gherkin: it creates threads, starts runs of the conformance
// graph, joins them, reads states, lists threads, and rolls runs back (sections 3 to 5 of the interface). It keeps the
// threads and runs that scenarios share, and the measured speed of these servers.
//
// A function that cannot do its work returns an error, mostly an *outcome.Outcome. The step decides what that means for
// the verdict.
//
// Waits are judged by order, not by the clock. The preflight (preflight.go) sends the first runs to an agent server:
// they show how long later runs must wait, and how many runs the server executes at a time. The suite never has more
// runs in progress (inprogress.go). The keys agent.words, runs, hold and listing replace the results of the preflight.
//
// Each word of the graph that a run needs is tried once before it is used (words.go). Only positive evidence shows
// that the graph does not understand a word: the answer repeats it, or the run ends too early or fails. Anything
// else is judged, so that a server that loses messages fails. If two states hold the input unchanged and an answer
// that repeats no part of it, the server runs a different graph (repeats.go).
package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Agents has the agent servers of a target and the state of a test run about them. It may be used by many goroutines.
type Agents struct {
	target *target.Target
	plane  *plane.Plane
	maker  *shared.Maker

	atOnce  int      // how many runs are in progress at most
	needed  int      // number of simultaneous runs that the preflight tries, because the scenarios may need them
	threads sync.Map // threads returned by servers, by server address and ID

	// The fields below are about the agent server under test.
	runs inProgress
	pace atomic.Pointer[pace] // results of the preflight so far, or nil

	completed    atomic.Pointer[GraphRun] // a plain run whose join returned and whose state has its answer, or nil
	showsRunning atomic.Bool              // a run was seen with the status running
	pendingToEnd atomic.Bool              // a run was pending until it ended, and no run was ever seen running
	unended      atomic.Bool              // a run was still pending or running after timeouts.run
}

// New returns the agent servers of the target, including those whose addresses the control plane returns. About atOnce
// runs are in progress at the same time, and no more than the server executes. The preflight measures whether the server
// executes enough runs at a time for the number of scenarios.
func New(t *target.Target, p *plane.Plane, maker *shared.Maker, atOnce, scenarios int) *Agents {
	atOnce = max(atOnce, mostAtOnce)
	return &Agents{target: t, plane: p, maker: maker, atOnce: atOnce, runs: newInProgress(atOnce),
		needed: max(leastAtOnce, min(scenarios, mostAtOnce))}
}

// Maker returns the maker of shared fixtures.
func (as *Agents) Maker() *shared.Maker { return as.maker }

// Server is one deployed agent server at its address ({deployment_url}). All Servers share the state in Agents.
type Server struct {
	*Agents
	Base       string
	deployment string // ID of its deployment; empty if the address is configured

	judged bool           // it is the agent server under test
	placed bool           // its runs have slots in Agents.runs already, or need none
	owner  *target.Caller // nil: the target's owner
}

// OwnedBy returns the same agent server with another owner: scenarios create threads and runs as that user.
func (s *Server) OwnedBy(who target.Caller) *Server {
	other := *s
	other.owner = &who
	return &other
}

// Owner returns the user that scenarios create threads and runs as: the user of OwnedBy, or else the first user of the
// configuration.
func (s *Server) Owner() target.Caller {
	if s.owner != nil {
		return *s.owner
	}
	return s.target.Owner()
}

// AgentServer returns the agent server under test: the configured one, or else the agent server of the shared deployment.
func (as *Agents) AgentServer(ctx context.Context) (*Server, error) {
	return shared.Get(ctx, as.maker, "the agent server", func(ctx context.Context) (*Server, error) {
		if as.target.Config.AgentTarget != "" {
			return &Server{Base: as.target.Config.AgentTarget, Agents: as, judged: true}, nil
		}
		if as.target.Config.Target == "" {
			return nil, outcome.Needs("agent_target", ", the base URL of an agent server")
		}
		d, err := as.judgedDeployment(ctx)
		if err != nil {
			return nil, err
		}
		s, err := as.AgentOf(ctx, d)
		if err != nil {
			return nil, err
		}
		as.target.JudgeAgentAt(s.Base)
		s.judged = true
		return s, nil
	})
}

// judgedDeployment returns the shared deployment. If the test run only reads, it returns the configured existing
// deployment.
func (as *Agents) judgedDeployment(ctx context.Context) (*plane.Deployment, error) {
	if !as.target.Config.ReadOnly {
		return as.plane.Shared(ctx, as.plane.Fixtures.Deployed)
	}
	if err := as.plane.Existing.CheckNamed(); err != nil {
		return nil, err
	}
	return as.plane.Existing.Deployments()[0], nil
}

// AgentOf reads the address of a deployment's agent server from the control plane, and waits until the server serves.
func (as *Agents) AgentOf(ctx context.Context, d *plane.Deployment) (*Server, error) {
	named, err := as.awaitAddress(ctx, d)
	if stays := as.plane.StuckStatus(d); err != nil && stays != "" && ctx.Err() == nil {
		return nil, blockedByStatus(stays, err)
	}
	if err != nil {
		return nil, err
	}
	base, err := as.target.Client.Names.Base(named)
	if err != nil {
		return nil, target.Refused(as.target, named, err)
	}
	s := &Server{Base: base, deployment: d.ID, Agents: as}
	return s, target.Refused(as.target, named, s.awaitServing(ctx, d))
}

// awaitAddress returns the address of a deployment's agent server. A target may know it only some time after the
// deployment is up.
func (as *Agents) awaitAddress(ctx context.Context, d *plane.Deployment) (string, error) {
	var last *exchange.Response
	named := ""
	err := as.target.RetryFor(ctx, as.target.Config.Timeouts.Request, func() (bool, error) {
		a, err := as.plane.GetDeployment(ctx, d.ID)
		if err != nil {
			return false, err
		}
		last, named = a, a.Get(as.target.Config.AgentURLFrom).String()
		return named != "" || !a.OK(), nil
	})
	switch {
	case err != nil:
		return "", err
	case named != "":
		return named, nil
	case !last.OK():
		return "", outcome.Blocked("the deployment cannot be retrieved (CP-GET-1): %s", outcome.Seen(last)).
			ByRequirement("CP-GET-1")
	}
	return "", as.missingAddress(d, last)
}

// missingAddress returns the outcome for a deployment without the address of an agent server. If the user has set
// agent_url_from, the outcome is blocked, because that key or the target is wrong. Otherwise it is skipped, because the
// target may have no agent servers. The remedy does not name agent_url_from if the deployment has no URL at all, and
// names agent_target only if it is not set.
func (as *Agents) missingAddress(d *plane.Deployment, a *exchange.Response) *outcome.Outcome {
	seen := "it has no http or https URL"
	var found []string
	for _, at := range plane.AddressesIn(a, target.Encode(d.Body)) {
		path, address := as.target.Redact.Text(at.Path), as.target.Redact.Text(at.URL)
		found = append(found, fmt.Sprintf("%.100q (%.100q)", path, address))
	}
	if len(found) > 0 {
		seen = "it has URLs at " + strings.Join(found, ", ")
	}
	c := as.target.Config
	missing := fmt.Sprintf("the deployment has no agent server address at %s; %s", c.AgentURLFrom, seen)
	switch {
	case c.AgentURLFrom != config.Default().AgentURLFrom:
		return outcome.Blocked("%s: correct agent_url_from", missing).By(reports.ByKey, "agent_url_from")
	case len(found) > 0:
		return outcome.Needs("agent_url_from", ": "+missing)
	case c.AgentTarget == "":
		return outcome.Needs("agent_target", ": "+missing)
	}
	return outcome.NotConfigured("", "not configured: %s", missing)
}

// servingTimeouts limits the wait for the agent server of a DEPLOYED deployment, as a multiple of timeouts.request: the
// interface does not say how soon after DEPLOYED it responds.
const servingTimeouts = 6

// awaitServing waits until the agent server of a deployment responds. A proxy without a server behind it returns 502,
// 503 or 504, which does not count. E2E-1 judges a server that never responds. If the revision stays in a status that
// the interface does not name, only an agent server that serves its user shows that the deployment is up.
func (s *Server) awaitServing(ctx context.Context, d *plane.Deployment) error {
	stays := s.plane.StuckStatus(d)
	limit := min(servingTimeouts*s.target.Config.Timeouts.Request, s.target.Config.Timeouts.Poll)
	var missing *outcome.Outcome
	start := time.Now()
	err := s.target.RetryFor(ctx, limit, func() (_ bool, err error) {
		missing, err = s.notServing(ctx, stays != "")
		return missing == nil, err
	})
	took := time.Since(start)
	switch {
	case err != nil:
		return err
	case missing != nil && stays != "":
		return blockedByStatus(stays, missing)
	case missing != nil:
		missing.Violations[0].Actual += fmt.Sprintf(", %s after DEPLOYED", took.Round(time.Second/10))
		return missing.Hinting("the deployment is DEPLOYED, but its agent server at " + s.target.Redact.Text(s.Base) +
			" does not serve: check the target's routing")
	}
	return nil
}

func blockedByStatus(stays string, cause error) *outcome.Outcome {
	return outcome.Blocked("the latest revision stays %q, which is not one of the thirteen statuses (CP-POLL-1), and "+
		"nothing else shows that the deployment is up: %v", stays, cause).ByRequirement("CP-POLL-1")
}

// notServing lists the threads of a user. It returns the evidence that the agent server does not serve yet, or nil if it
// does. If shown is set, one of the two listing endpoints must return 2xx.
func (s *Server) notServing(ctx context.Context, shown bool) (missing *outcome.Outcome, err error) {
	request := s.target.ToAgent(s.Base, s.target.Owner(), http.MethodGet, ThreadsPath, nil)
	if missing, err = s.tryServing(ctx, request, shown); err != nil || missing == nil || !shown {
		return missing, err
	}
	request = s.target.ToAgent(s.Base, s.target.Owner(), http.MethodPost, searchPath, map[string]any{})
	return s.tryServing(ctx, request, shown)
}

func (s *Server) tryServing(ctx context.Context, request exchange.Request, shown bool) (*outcome.Outcome, error) {
	v := outcome.Violation{Kind: outcome.NoResponse, Summary: "The agent server of a DEPLOYED deployment does not serve requests",
		Expected: "a response of the agent server"}
	request.Early = true
	a, err := s.target.Client.Do(ctx, request)
	var none *exchange.NoResponse
	switch {
	case errors.As(err, &none) && none.Busy == 0 && !errors.As(err, new(*exchange.RefusedAddress)):
		v.Actual, v.Exchange, v.Operation = none.Cause, none.ID, request.Method+" "+request.Path
		return outcome.Fails(nil, v).ByRequirement("E2E-1"), nil
	case err != nil:
		return nil, err
	case shown && !a.OK(),
		slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status):
		v.Kind = outcome.Unserved(a)
		return outcome.Fails(a, v).ByRequirement("E2E-1"), nil
	}
	return nil, nil
}

// FindRefusal returns the status with which the configured agent server refuses callers without credentials. It returns 0
// if the server serves them or if users are configured. It tries two operations, since one may be open by mistake. Call
// it before the scenarios begin.
func (as *Agents) FindRefusal(ctx context.Context) (status int, err error) {
	c := as.target.Config
	if c.AgentTarget == "" || len(c.Users) > 0 {
		return 0, nil
	}
	ctx = evidence.WithScenario(ctx, "fixture: callers without credentials", 0)
	for _, path := range []string{StatePath(target.UnknownID()), ThreadsPath} {
		a, err := as.target.Client.Do(ctx, as.target.ToAgent(c.AgentTarget, target.Caller{}, http.MethodGet, path, nil))
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err == nil && as.target.Rejects(spec.AgentServer, a.Status) {
			as.target.AgentRefuses(a.Status)
			return a.Status, nil
		}
	}
	return 0, nil
}
