package agent

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// ThreadsPath is the path of the threads of an agent server (section 4). The target chooses the IDs, which may need
// escaping.
const ThreadsPath = "/threads"

// ThreadPath returns the path of a thread, which is a vendor extension.
func ThreadPath(id string) string { return ThreadsPath + "/" + url.PathEscape(id) }

func StatePath(id string) string { return ThreadPath(id) + "/state" }

func RunsPath(id string) string { return ThreadPath(id) + "/runs" }

// HistoryPath returns the path of the earlier states of a thread, which is a vendor extension.
func HistoryPath(id string) string { return ThreadPath(id) + "/history" }

func runPath(id, run string) string { return RunsPath(id) + "/" + url.PathEscape(run) }

func joinPath(id, run string) string { return runPath(id, run) + "/join" }

// RollbackStrategy is the multitask_strategy that the interface defines (section 3).
const RollbackStrategy = "rollback"

// text returns the content of the last human message: the words, and a text that is unique to the run.
func (as *Agents) text(o Order) string {
	if o.Text != "" {
		return o.Text
	}
	words := o.Words
	if o.Hold > 0 {
		words = strings.TrimSpace(o.holdText() + " " + words)
	}
	return strings.TrimSpace(words + " " + as.target.Name("word") + ".")
}

func (s *Server) send(ctx context.Context, who target.Caller, method, path string, body any) (*exchange.Response, error) {
	return s.target.Client.Do(ctx, s.target.ToAgent(s.Base, who, method, path, body))
}

// CreateThread creates a thread and adds it to the ledger. The caller judges the response.
func (s *Server) CreateThread(ctx context.Context, who target.Caller, metadata map[string]any) (*Thread, error) {
	body := map[string]any{}
	if metadata != nil {
		body["metadata"] = metadata
	}
	return s.createThread(ctx, who, body, false)
}

// TryThread is [Server.CreateThread] with a body that the server may refuse.
func (s *Server) TryThread(ctx context.Context, who target.Caller, body map[string]any) (*Thread, error) {
	return s.createThread(ctx, who, body, true)
}

func (s *Server) createThread(ctx context.Context, who target.Caller, body map[string]any, mayRefuse bool) (*Thread, error) {
	if _, err := s.threadsBefore(ctx, who); err != nil { // read before the first one is created
		return nil, err
	}
	request := s.target.ToAgent(s.Base, who, http.MethodPost, ThreadsPath, body)
	request.Wrong = mayRefuse
	a, err := s.target.Client.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	t := &Thread{Owner: who, Response: a}
	if a.OK() {
		t.ID = a.Get("thread_id").String()
	}
	if t.ID == "" {
		return t, nil
	}
	_, t.again = s.threads.LoadOrStore(s.Base+" "+exchange.IDKey(t.ID), true)
	return t, s.NoteThread(ctx, t)
}

// NewThread creates a thread for a scenario to work with.
func (s *Server) NewThread(ctx context.Context, who target.Caller) (*Thread, error) {
	t, err := s.CreateThread(ctx, who, nil)
	if err != nil {
		return nil, err
	}
	return t, t.Usable()
}

// Input is the payload of a run.
func Input(inputs []string) map[string]any {
	messages := make([]any, len(inputs))
	for i, content := range inputs {
		messages[i] = map[string]any{"role": "user", "content": content}
	}
	return map[string]any{"messages": messages}
}

// TryPost starts a run at once, for any caller. If the run is refused, it has no id.
func (s *Server) TryPost(ctx context.Context, who target.Caller, t *Thread, o Order) (*GraphRun, error) {
	if err := s.tooLong(o.Hold); err != nil {
		return nil, err
	}
	if o.Fresh != nil {
		o.Before = o.Fresh()
	}
	g := &GraphRun{Thread: t, Order: o, Inputs: slices.Concat(o.Before, []string{s.text(o)})}
	body := map[string]any{"assistant_id": cmp.Or(o.Assistant, s.target.Config.AssistantID), "input": Input(g.Inputs)}
	if o.Strategy != "" {
		body["multitask_strategy"] = o.Strategy
	}
	for i, text := range g.Inputs { // so that they can be compared with responses
		g.Inputs[i] = client.Short(text)
	}
	maps.Copy(body, o.More)
	t.begin(g)
	client.Prioritize(ctx)
	request := s.target.ToAgent(s.Base, who, http.MethodPost, RunsPath(t.ID), body)
	request.Wrong = o.Wrong
	if o.Type != "" {
		request.Header.Set("Content-Type", o.Type)
		request.Wrong = true // so that no other requirement judges the status
	}
	a, err := s.target.Client.Do(ctx, request)
	if err == nil {
		g.Response, g.begun = a, a.Sent
	}
	if err == nil && a.OK() {
		g.ID = a.Get("run_id").String()
		t.runs.Add(1)
	}
	t.end(g)
	if err != nil {
		return nil, err
	}
	if s.judged && g.ID != "" {
		s.runs.accepted(g, s.Slack())
	}
	return g, s.noteRun(ctx, who, g)
}

// Post starts a run as the thread's owner. It waits until the server can execute one more run, and returns an error
// that blocks if the graph does not understand a word of the order. If the run is refused, it has no id. A refusal may
// mean that an earlier run on the thread is just ending, so Post tries again for a moment.
func (s *Server) Post(ctx context.Context, t *Thread, o Order) (g *GraphRun, err error) {
	if words := o.words(); len(words) > 0 && !o.trial {
		if err := s.Understood(ctx, words...); err != nil {
			return nil, err
		}
	}
	isLimited := s.judged && !s.placed
	if isLimited {
		if _, err := s.preflight(ctx); err != nil {
			return nil, err
		}
		defer s.runs.abandon(t.ID)
	}
	if o.Waits {
		o.Hold = s.Hold(o.Hold)
	}
	who := t.Owner
	if o.By != nil {
		who = *o.By
	}
	const first, longest, limit = 10 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second
	err = client.Repeat(ctx, first, longest, time.Now().Add(limit), func() (bool, error) {
		if isLimited {
			if err := s.runs.enter(ctx, t.ID); err != nil {
				return false, err
			}
		}
		g, err = s.TryPost(ctx, who, t, o)
		if err != nil {
			return false, err
		}
		mayBeEnding := t.runs.Load() > 0 && o.Strategy == ""
		return !(mayBeEnding && g.Response.IsRefused()), nil
	})
	return g, err
}

// Start posts a run that the scenario needs. It returns an error if the run is refused or the graph does not work.
func (s *Server) Start(ctx context.Context, t *Thread, o Order) (*GraphRun, error) {
	if !o.trial {
		if err := s.Understood(ctx, o.words()...); err != nil {
			return nil, err
		}
	}
	g, err := s.Post(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return g, outcome.Unless(ctx, g.Accepted(), s.KnowsAssistant)
}

// startAlone is Start on a new thread of the caller.
func (s *Server) startAlone(ctx context.Context, who target.Caller, o Order) (*GraphRun, error) {
	t, err := s.NewThread(ctx, who)
	if err != nil {
		return nil, err
	}
	return s.Start(ctx, t, o)
}

// Together waits until a number of threads may have unfinished runs at the same time, executed or pending, and returns
// the server to start them at. It first tries the words that they need, because that takes runs too. Leave releases the
// slots.
func (s *Server) Together(ctx context.Context, threads int, words ...string) (group *Server, leave func(), err error) {
	if err := s.Understood(ctx, words...); err != nil {
		return nil, nil, err
	}
	if _, err := s.preflight(ctx); err != nil {
		return nil, nil, err
	}
	leave, err = s.runs.enterGroup(ctx, threads)
	if err != nil {
		return nil, nil, err
	}
	return s.unbounded(), leave, nil
}

// unbounded returns the same server without the limit of runs in progress.
func (s *Server) unbounded() *Server {
	other := *s
	other.placed = true
	return &other
}

// GetRun sends GET of a run.
func (s *Server) GetRun(ctx context.Context, who target.Caller, g *GraphRun) (*exchange.Response, error) {
	request := s.target.ToAgent(s.Base, who, http.MethodGet, runPath(g.Thread.ID, g.ID), nil)
	request.Removable = func() bool { return g.Thread.isRemovable(g.ID) }
	a, err := s.readKnown(ctx, who, g, request)
	if err == nil && isRunning(a) {
		s.showsRunning.Store(true)
	}
	return a, err
}

// readKnown reads a run. It repeats the read if the response is 404 and the server may not show the run yet: within
// patience after the creation, a read may show the state before it (section 4). It does not repeat reads by other
// callers, reads of runs that the server did not create, and reads of runs that a rollback may have removed.
func (s *Server) readKnown(
	ctx context.Context, who target.Caller, g *GraphRun, request exchange.Request,
) (a *exchange.Response, err error) {
	mayBeNew := g.Response != nil && who.Key == g.Thread.Owner.Key
	if !mayBeNew {
		return s.target.Client.Do(ctx, request)
	}
	settled := g.Responded().Add(s.target.Config.Patience)
	err = client.Repeat(ctx, firstLook, longestPause, settled, func() (bool, error) {
		a, err = s.target.Client.Do(ctx, request)
		if err != nil {
			return false, err
		}
		hasWaited := a.Took > s.Prompt() // so the server knew the run
		return a.Status != http.StatusNotFound || hasWaited || g.Thread.isRemovable(g.ID), nil
	})
	return a, err
}

func (s *Server) State(ctx context.Context, who target.Caller, t *Thread) (*exchange.Response, error) {
	return s.send(ctx, who, http.MethodGet, StatePath(t.ID), nil)
}

// Join sends a join and waits for the response, which may take as long as the run.
func (s *Server) Join(ctx context.Context, who target.Caller, g *GraphRun) (*exchange.Response, error) {
	request := s.joinOf(who, g)
	request.Timeout, request.Waits = g.Order.Hold+s.RunTimeout(), true
	return s.readKnown(ctx, who, g, request)
}

// JoinCompleted joins a run that has ended. The response must be prompt, so the timeout is timeouts.request.
func (s *Server) JoinCompleted(ctx context.Context, who target.Caller, g *GraphRun) (*exchange.Response, error) {
	return s.readKnown(ctx, who, g, s.joinOf(who, g))
}

func (s *Server) joinOf(who target.Caller, g *GraphRun) exchange.Request {
	request := s.target.ToAgent(s.Base, who, http.MethodGet, joinPath(g.Thread.ID, g.ID), nil)
	request.Raised = g.Order.says(Fail)
	request.Removable = func() bool { return g.Thread.isRemovable(g.ID) }
	return request
}
