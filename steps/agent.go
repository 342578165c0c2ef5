package steps

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// agentRun is what the scenarios of the agent server share.
type agentRun struct {
	pace       pace
	agentBase  lazy[*agentServer]
	quietRun   lazy[*graphRun] // completed, on a thread that no scenario changes
	rolledBack lazy[*rollback] // a run that had written made room for another one
	soundly    lazy[*rollback] // the same, seen to be gone
	pending    lazy[*rollback] // a run made room for another one as soon as it was accepted
	additive   lazy[bool]      // whether a second run adds to the messages of the first
	otherIn    lazy[bool]      // the other user was served what is their own
	enqueues   lazy[bool]      // whether a run can be asked to wait behind another one
	otherCall  lazy[bool]      // whether the user is served by the listing call that is not configured
	joinHangs  atomic.Bool     // a join was seen not to answer although the run was over
	nameless   atomic.Bool     // a deployment that is up was seen not to tell the address of its agent server

	given     lazyList[string]       // threads: the address of their agent server, and their id
	called    lazyList[string]       // addresses of agent servers that were called
	underTest atomic.Pointer[string] // that of the one that is judged
}

// agentWorld is the part of a scenario's world that belongs to the agent server.
type agentWorld struct {
	agent         *agentServer
	thread        *thread        // that the sentences speak of
	threads       []*thread      // that the scenario has made besides
	current       *graphRun      // the run that the sentences speak of; the new one, where there is a prior one
	kept          []*graphRun    // whose messages are to be in the thread, in their order
	prior         *progress      // the run that is to make room, or just is in progress
	aside         []*graphRun    // runs on other threads of the user
	foreign       string         // what a run was to say that was to be refused
	attempted     string         // who has tried something, as the sentence names them
	rolled        *rollback      // what became of the prior run and the new one
	rivals        []*graphRun    // runs that were started one after the other, or at once
	left          []*graphRun    // those of them that are still found
	joined        *joining       // a join beside the scenario
	looks         []look         // what was seen of the prior run and the state
	listed        listing        // the last list of threads
	owned         ownership      // who owns which threads, and by what they are known
	introductions []introduction // what runs said of their callers
	answersOf     []string       // what the deployment's agent server has answered, first to last

	prepared []func(ctx context.Context, attempt int) error // preconditions that a lost race uses up
	wanted   time.Duration                                  // how long the run in progress should take, after a lost race
}

// agentServer is one deployed agent server at its address ({deployment_url}).
type agentServer struct {
	*run
	base string
}

// defineAgent writes down the sentences about the agent server.
func (w *World) defineAgent(b *book) {
	b.given(`a deployed agent server`, w.aDeployedAgentServer)
	w.defineThreads(b)
	w.defineRuns(b)
	w.defineState(b)
	w.defineRollback(b)
	w.defineRivals(b)
	w.defineCallers(b)
	w.defineOwners(b)
	w.defineEndToEnd(b)
	w.defineOpenDoors(b)
}

func (w *World) aDeployedAgentServer(ctx context.Context) (err error) {
	w.agent, err = w.run.agentServer(ctx)
	return err
}

// agentServer returns the agent server under test: the configured one, else that of the shared deployment.
func (r *run) agentServer(ctx context.Context) (*agentServer, error) {
	return r.agentBase.get(ctx, r, "the agent server", func(ctx context.Context) (*agentServer, error) {
		if r.config.AgentTarget != "" {
			return r.agentAt(r.config.AgentTarget), nil
		}
		if r.config.Target == "" {
			return nil, needs("agent_target, the address of an agent server")
		}
		d, err := r.shared(ctx, r.fixtures.up)
		if err != nil {
			return nil, err
		}
		s, err := r.agentOf(ctx, d)
		if err == nil {
			r.underTest.Store(&s.base)
			r.Progress(Event{Kind: Named, Name: s.base})
		}
		return s, err
	})
}

// agentOf asks the control plane for the address of a deployment's agent server.
func (r *run) agentOf(ctx context.Context, d *deployment) (*agentServer, error) {
	told, err := r.awaitAddress(ctx, d)
	if err != nil {
		return nil, err
	}
	base, err := client.NamedBy(r.config.Target, told)
	if err != nil {
		return nil, blocked("no user's token is sent to the address that the deployment tells at %s, %.200q: %s; set agent_target if it is right", r.config.AgentURLFrom, r.redact.Text(told), err)
	}
	r.client.Guard(r.config.Target, base)
	return r.agentAt(base), nil
}

func (r *run) agentAt(base string) *agentServer {
	r.called.add(base)
	return &agentServer{run: r, base: base}
}

// agentAddress is the address of the agent server under test, "" while it is not known.
func (r *run) agentAddress() string {
	if found := r.underTest.Load(); found != nil {
		return *found
	}
	return r.config.AgentTarget
}

// bases returns the addresses of a side, longer ones first: one may stand below another.
func (r *run) bases(side spec.Side) []string {
	if side == spec.ControlPlane {
		return []string{r.config.Target}
	}
	all := r.called.all()
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// toAgent makes a request to an agent server. The body is sent as JSON; a []byte is sent as it is.
func (r *run) toAgent(base string, who caller, method, path string, body any) client.Request {
	request := client.Request{Side: spec.AgentServer, Base: base, Method: method, Path: path, Header: who.header.Clone(), Timeout: r.config.Timeouts.Request}
	request.Trusted = who.user != nil || who.name == theUser
	if request.Header == nil {
		request.Header = http.Header{}
	}
	switch body := body.(type) {
	case nil:
	case []byte:
		request.Body = body
	default:
		request.Body = encode(body)
	}
	if request.Body != nil {
		request.Header["Content-Type"] = []string{"application/json"}
	}
	return request
}
