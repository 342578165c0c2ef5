package agent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// ThreadsPath is where the threads of an agent server are (section 4). Ids are the target's own and may need escaping.
const ThreadsPath = "/threads"

// ThreadPath is where a thread is, a vendor extension.
func ThreadPath(id string) string { return ThreadsPath + "/" + url.PathEscape(id) }

// StatePath is where the state of a thread is.
func StatePath(id string) string { return ThreadPath(id) + "/state" }

// RunsPath is where the runs of a thread are.
func RunsPath(id string) string { return ThreadPath(id) + "/runs" }

func runPath(id, run string) string { return RunsPath(id) + "/" + url.PathEscape(run) }

func joinPath(id, run string) string { return runPath(id, run) + "/join" }

// RollbackStrategy is the multitask_strategy that the interface defines (section 3).
const RollbackStrategy = "rollback"

// Text is the content of the last human message: the words, and a text that no other run's message contains.
func (as *Agents) Text(o Order) string {
	if o.Text != "" {
		return o.Text
	}
	words := o.Words
	if o.Hold > 0 {
		word := Wait
		if o.written {
			word = EarlyWrite
		}
		words = strings.TrimSpace(fmt.Sprintf("%s=%d %s", word, o.Hold.Milliseconds(), words))
	}
	return strings.TrimSpace(words + " " + as.target.Name("word") + ".")
}

func (s *Server) ask(ctx context.Context, who target.Caller, method, path string, body any) (*client.Answer, error) {
	return s.target.Client.Do(ctx, s.target.ToAgent(s.Base, who, method, path, body))
}

// CreateThread creates a thread and enters it in the ledger. What is wrong with the answer is for the caller to say.
func (s *Server) CreateThread(ctx context.Context, who target.Caller, metadata map[string]any) (*Thread, error) {
	body := map[string]any{}
	if metadata != nil {
		body["metadata"] = metadata
	}
	a, err := s.ask(ctx, who, http.MethodPost, ThreadsPath, body)
	if err != nil {
		return nil, err
	}
	t := &Thread{Owner: who, Answer: a}
	if a.OK() {
		t.ID = a.Get("thread_id").String()
	}
	if t.ID == "" {
		return t, nil
	}
	_, t.again = s.agents.threads.LoadOrStore(s.Base+" "+t.ID, true)
	return t, NoteThread(ctx, s, t)
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

// TryPost starts a run at once. Where it is refused the run has no id.
func (s *Server) TryPost(ctx context.Context, who target.Caller, t *Thread, o Order) (*GraphRun, error) {
	g := &GraphRun{Thread: t, Order: o, Inputs: append(append([]string{}, o.Before...), s.agents.Text(o))}
	body := map[string]any{"assistant_id": cmp.Or(o.Assistant, s.target.Config.AssistantID), "input": Input(g.Inputs)}
	if o.Strategy != "" {
		body["multitask_strategy"] = o.Strategy
	}
	client.Hurry(ctx, client.RunInProgress)
	a, err := s.ask(ctx, who, http.MethodPost, RunsPath(t.ID), body)
	if err == nil {
		g.Answer, g.begun = a, a.Sent
	}
	if err == nil && a.OK() {
		g.ID = a.Get("run_id").String()
		t.runs++
	}
	if s.judged {
		s.agents.runs.posted(g, s.agents.Slack())
	}
	if err != nil {
		return nil, err
	}
	return g, noteRun(ctx, s, who, g)
}

// Post starts a run of a caller who may. It is blocked where the graph does not understand a word of the order, and
// waits while the server executes as many runs as it can. Where it is refused the run has no id.
func (s *Server) Post(ctx context.Context, who target.Caller, t *Thread, o Order) (*GraphRun, error) {
	if err := s.Understood(ctx, o.words()...); err != nil {
		return nil, err
	}
	return s.postInTurn(ctx, who, t, o)
}

// Start starts a run by the thread's owner for a scenario to work with, which needs a graph that answers.
func (s *Server) Start(ctx context.Context, t *Thread, o Order) (*GraphRun, error) {
	if err := s.Understood(ctx, append([]string{Echo}, o.words()...)...); err != nil {
		return nil, err
	}
	return s.start(ctx, t, o)
}

// start starts a run by the thread's owner. On a thread that had a run before, a refusal may mean that this one is just
// coming to its end: a moment later the thread is free.
func (s *Server) start(ctx context.Context, t *Thread, o Order) (g *GraphRun, err error) {
	const first, longest, limit = 10 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second
	err = client.Repeat(ctx, first, longest, time.Now().Add(limit), func() (bool, error) {
		g, err = s.postInTurn(ctx, t.Owner, t, o)
		return err == nil && !(g.Answer.Refused() && t.runs > 0 && o.Strategy == ""), err
	})
	if err != nil {
		return nil, err
	}
	return g, outcome.Unless(ctx, g.Accepted(), s.KnowsAssistant)
}

// startAlone starts a run of the owner on a new thread.
func startAlone(ctx context.Context, s *Server, o Order) (*GraphRun, error) {
	t, err := s.NewThread(ctx, s.Owner())
	if err != nil {
		return nil, err
	}
	return s.Start(ctx, t, o)
}

// GetRun asks for the run.
func (s *Server) GetRun(ctx context.Context, who target.Caller, g *GraphRun) (*client.Answer, error) {
	return s.ask(ctx, who, http.MethodGet, runPath(g.Thread.ID, g.ID), nil)
}

// State asks for the state of the thread.
func (s *Server) State(ctx context.Context, who target.Caller, t *Thread) (*client.Answer, error) {
	return s.ask(ctx, who, http.MethodGet, StatePath(t.ID), nil)
}

// Join waits for the run to be over. Its answer may take as long as the run.
func (s *Server) Join(ctx context.Context, who target.Caller, g *GraphRun) (*client.Answer, error) {
	request := s.joinOf(who, g)
	request.Timeout, request.Waits = g.Order.Hold+s.target.Config.Timeouts.Run, true
	return s.target.Client.Do(ctx, request)
}

// JoinCompleted joins a run that is over. How long the answer takes is judged, and no measure of others.
func (s *Server) JoinCompleted(ctx context.Context, who target.Caller, g *GraphRun) (*client.Answer, error) {
	return s.target.Client.Do(ctx, s.joinOf(who, g))
}

func (s *Server) joinOf(who target.Caller, g *GraphRun) client.Request {
	request := s.target.ToAgent(s.Base, who, http.MethodGet, joinPath(g.Thread.ID, g.ID), nil)
	request.Raised = g.Order.raises()
	return request
}

// ReadsOf are the paths of GET at which the server shows something of a run: also that of the list, where it has one.
func (s *Server) ReadsOf(ctx context.Context, g *GraphRun) ([]string, error) {
	paths := []string{StatePath(g.Thread.ID), runPath(g.Thread.ID, g.ID), joinPath(g.Thread.ID, g.ID)}
	if err := findListing(ctx, s); err != nil || s.target.Searches() {
		return paths, err
	}
	return append(paths, ThreadsPath), nil
}

// Filter narrows a listing of threads: metadata that they must have, and ids. A nil one sends nothing.
type Filter struct {
	Metadata map[string]any
	IDs      []any
}

// The search operation is asked for so many threads at once: an answer with more could have more values than one may have. A target may
// give fewer than it is asked for.
const searchPage, searchPages = 200, 50

// List returns the threads that the caller is shown, with the last answer. The listing of the configuration is asked, or what the
// target serves; a filter goes to the search operation, since the plain list takes none.
func (s *Server) List(ctx context.Context, who target.Caller, f *Filter) (Listing, *client.Answer, error) {
	if err := findListing(ctx, s); err != nil {
		return nil, nil, err
	}
	if f == nil && !s.target.Searches() {
		a, err := s.ask(ctx, who, http.MethodGet, ThreadsPath, nil)
		if err != nil {
			return nil, nil, err
		}
		return ListingOf(a), a, nil
	}
	var all Listing
	var last *client.Answer
	shown := map[string]bool{}
	for range searchPages {
		a, err := s.ask(ctx, who, http.MethodPost, ThreadsPath+"/search", f.body(len(shown)))
		if err != nil {
			return nil, nil, err
		}
		before, page := len(shown), ListingOf(a)
		for _, row := range page.All() {
			shown[strings.Clone(cmp.Or(row.Get("thread_id").String(), row.Raw))] = true
		}
		if last == nil || len(shown) > before {
			last, all = a, append(all, page...)
		}
		if len(shown) == before {
			break
		}
	}
	return all, last, nil
}

func (f *Filter) body(offset int) map[string]any {
	body := map[string]any{"limit": searchPage, "offset": offset}
	if f != nil && f.Metadata != nil {
		body["metadata"] = f.Metadata
	}
	if f != nil && f.IDs != nil {
		body["ids"] = f.IDs
	}
	return body
}

// Listing is what a caller was shown: the pages that are lists, none where no list was answered. Rows are read from them each time, since
// many scenarios hold a list and it may be long.
type Listing []*client.Answer

// ListingOf returns the listing of one page.
func ListingOf(a *client.Answer) Listing {
	if a.OK() && a.IsArray() {
		return Listing{a}
	}
	return nil
}

// All yields the threads, each with its place in its page.
func (l Listing) All() iter.Seq2[int, gjson.Result] {
	return func(yield func(int, gjson.Result) bool) {
		for _, page := range l {
			i, more := 0, true
			gjson.ParseBytes(page.Body).ForEach(func(_, row gjson.Result) bool {
				more = yield(i, row)
				i++
				return more
			})
			if !more {
				return
			}
		}
	}
}

// Len is the number of threads.
func (l Listing) Len() (n int) {
	for range l.All() {
		n++
	}
	return n
}

// Holds tells whether a listing holds the thread.
func (l Listing) Holds(id string) bool {
	for _, row := range l.All() {
		if row.Get("thread_id").String() == id {
			return true
		}
	}
	return false
}

const searchPath = ThreadsPath + "/search"

// findListing finds out with which endpoint the server lists threads, where the configuration does not say: GET /threads is tried
// as the user, and if that is not served (404 or 405) and POST /threads/search is, the latter is used from then on. The error is
// that of the context: a server that does not answer is judged by the list itself.
func findListing(ctx context.Context, s *Server) error {
	if s.target.Config.Agent.Listing != "" {
		return nil
	}
	_, err := s.agents.learned.lists.search.Get(ctx, s.agents.maker, "the listing endpoint", func(ctx context.Context) (bool, error) {
		who := s.target.Owner()
		if who.User == nil {
			who = target.Caller{}
		}
		listed, err := s.ask(ctx, who, http.MethodGet, ThreadsPath, nil)
		if err != nil || !target.NotServed(listed) {
			return false, ctx.Err()
		}
		found, err := s.ask(ctx, who, http.MethodPost, searchPath, (*Filter)(nil).body(0))
		if err != nil || target.NotServed(found) || found.Status >= http.StatusInternalServerError {
			return false, ctx.Err()
		}
		s.target.ListsBySearch()
		s.target.NoteListing(listed)
		return true, nil
	})
	return err
}

// AskOtherEndpoint lists the threads by the endpoint that is not used.
func (s *Server) AskOtherEndpoint(ctx context.Context, who target.Caller) (*client.Answer, error) {
	if err := findListing(ctx, s); err != nil {
		return nil, err
	}
	if s.target.Searches() {
		return s.ask(ctx, who, http.MethodGet, ThreadsPath, nil)
	}
	return s.ask(ctx, who, http.MethodPost, searchPath, (*Filter)(nil).body(0))
}

// ServesOtherEndpoint tells whether the listing endpoint that is not used serves the user. A target needs only one.
func (s *Server) ServesOtherEndpoint(ctx context.Context) (bool, error) {
	return s.agents.learned.lists.other.Get(ctx, s.agents.maker, "the other listing endpoint", func(ctx context.Context) (bool, error) {
		a, err := s.AskOtherEndpoint(ctx, s.target.Owner())
		if err == nil && s.target.Searches() {
			s.target.NoteListing(a)
		}
		return err == nil && a.OK(), err
	})
}
