package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
)

// Where things are on an agent server (section 4). Ids are the target's own and may need escaping.
const threadsPath = "/threads"

func threadPath(id string) string    { return threadsPath + "/" + url.PathEscape(id) }
func statePath(id string) string     { return threadPath(id) + "/state" }
func runsPath(id string) string      { return threadPath(id) + "/runs" }
func runPath(id, run string) string  { return runsPath(id) + "/" + url.PathEscape(run) }
func joinPath(id, run string) string { return runPath(id, run) + "/join" }

// thread is one that the run created, with who owns it.
type thread struct {
	id     string // as a text, whatever it is: the interface shows no type
	owner  caller
	answer *client.Answer // of the creation
	again  bool           // its id was given before in this run
	runs   int            // how many were accepted on it
}

// graphRun is a run of the conformance graph.
type graphRun struct {
	id     string
	thread *thread
	order  order
	inputs []string       // the contents of its human messages; the last one is unique in this run of the suite
	answer *client.Answer // to its creation
	// begun is a time before which it had surely not begun to wait.
	begun    time.Time
	complete bool           // the state was seen to hold its answer
	final    *client.Answer // the state after it
}

// order says what a run is asked to do.
type order struct {
	words    string        // that steer the graph, besides those of the other fields
	hold     time.Duration // how long it stays in progress
	written  bool          // it writes a first message before it waits
	strategy string        // multitask_strategy
	before   []string      // human messages that come before the one that steers
	text     string        // in place of a unique text
}

const rollbackStrategy = "rollback"

// text is the content of the last human message: the words, and a text that no other run's message contains.
func (r *run) text(o order) string {
	if o.text != "" {
		return o.text
	}
	words := o.words
	if o.hold > 0 {
		word := "wait"
		if o.written {
			word = "wait-after-write"
		}
		words = strings.TrimSpace(fmt.Sprintf("%s=%d %s", word, o.hold.Milliseconds(), words))
	}
	return strings.TrimSpace(words + " " + r.name("word") + ".")
}

// ask sends a request and notes how long the answer took.
func (s *agentServer) ask(ctx context.Context, who caller, method, path string, body any) (*client.Answer, error) {
	a, err := s.client.Do(ctx, s.toAgent(s.base, who, method, path, body))
	if err == nil {
		s.pace.answers.add(a.Took)
	}
	return a, err
}

// createThread creates a thread and enters it in the ledger. What is wrong with the answer is for the caller to say.
func (s *agentServer) createThread(ctx context.Context, who caller, metadata map[string]any) (*thread, error) {
	body := map[string]any{}
	if metadata != nil {
		body["metadata"] = metadata
	}
	a, err := s.ask(ctx, who, http.MethodPost, threadsPath, body)
	if err != nil {
		return nil, err
	}
	t := &thread{owner: who, answer: a}
	if a.OK() {
		t.id = a.Get("thread_id").String()
	}
	if t.id == "" {
		return t, nil
	}
	t.again = !s.given.add(s.base + " " + t.id)
	return t, s.ledger.Created("thread", t.id, evidence.Scenario(ctx))
}

// sent is the id of a thread as the target wrote it: a text or a number.
func (t *thread) sent() any {
	if id := t.answer.Get("thread_id"); id.Type == gjson.Number {
		return json.RawMessage(id.Raw)
	}
	return t.id
}

// newThread creates a thread for a scenario to work with.
func (s *agentServer) newThread(ctx context.Context, who caller) (*thread, error) {
	t, err := s.createThread(ctx, who, nil)
	if err != nil {
		return nil, err
	}
	return t, t.usable()
}

// usable says what is wrong with a thread that a scenario is to work with alone.
func (t *thread) usable() error {
	switch {
	case t.id == "":
		return violated(t.answer, "a thread with a thread_id", "%s", seen(t.answer))
	case t.again:
		return violated(t.answer, "a new thread", "one that was there before, %s (AS-THREAD-1)", t.id)
	}
	return nil
}

// input is the payload of a run.
func (s *agentServer) input(inputs []string) map[string]any {
	messages := make([]any, len(inputs))
	for i, content := range inputs {
		messages[i] = map[string]any{"role": "user", "content": content}
	}
	return map[string]any{"messages": messages}
}

// post starts a run. Where it is refused the run has no id.
func (s *agentServer) post(ctx context.Context, who caller, t *thread, o order) (*graphRun, error) {
	g := &graphRun{thread: t, order: o, inputs: append(append([]string{}, o.before...), s.text(o))}
	body := map[string]any{"assistant_id": s.config.AssistantID, "input": s.input(g.inputs)}
	if o.strategy != "" {
		body["multitask_strategy"] = o.strategy
	}
	a, err := s.client.Do(ctx, s.toAgent(s.base, who, http.MethodPost, runsPath(t.id), body))
	if err != nil {
		return nil, err
	}
	g.answer, g.begun = a, a.Sent
	if a.OK() {
		g.id = a.Get("run_id").String()
		t.runs++
	}
	return g, nil
}

// start starts a run by the thread's owner for a scenario to work with. On a thread that had a run before, a refusal
// may mean that this one is just coming to its end: a moment later the thread is free.
func (s *agentServer) start(ctx context.Context, t *thread, o order) (*graphRun, error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		g, err := s.post(ctx, t.owner, t, o)
		if err != nil {
			return nil, err
		}
		if busy := g.answer.Refused() && t.runs > 0 && o.strategy == ""; !busy || wait > time.Second {
			return g, g.accepted()
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// accepted says what is wrong with the answer to the creation of a run.
func (g *graphRun) accepted() error {
	if g.id == "" {
		return violated(g.answer, "the run to be accepted, with a run_id", "%s", seen(g.answer))
	}
	return nil
}

// answered is when the creation was answered.
func (g *graphRun) answered() time.Time { return g.answer.Sent.Add(g.answer.Took) }

// notOverBefore is a time before which the run cannot come to its end by itself.
func (g *graphRun) notOverBefore() time.Time { return g.begun.Add(g.order.hold) }

// text is its last human message.
func (g *graphRun) text() string { return g.inputs[len(g.inputs)-1] }

func (s *agentServer) getRun(ctx context.Context, who caller, g *graphRun) (*client.Answer, error) {
	return s.ask(ctx, who, http.MethodGet, runPath(g.thread.id, g.id), nil)
}

func (s *agentServer) state(ctx context.Context, who caller, t *thread) (*client.Answer, error) {
	return s.ask(ctx, who, http.MethodGet, statePath(t.id), nil)
}

// join waits for the run to be over. Its answer may take as long as the run.
func (s *agentServer) join(ctx context.Context, who caller, g *graphRun) (*client.Answer, error) {
	request := s.toAgent(s.base, who, http.MethodGet, joinPath(g.thread.id, g.id), nil)
	request.Timeout = g.order.hold + s.config.Timeouts.Run
	return s.client.Do(ctx, request)
}

// joinCompleted joins a run that is over. How long the answer takes is judged, and no measure of others.
func (s *agentServer) joinCompleted(ctx context.Context, who caller, g *graphRun) (*client.Answer, error) {
	return s.client.Do(ctx, s.toAgent(s.base, who, http.MethodGet, joinPath(g.thread.id, g.id), nil))
}

// filter narrows a listing of threads: metadata that they must have, and ids. A nil one sends nothing.
type filter struct {
	metadata map[string]any
	ids      []any
}

// The search operation takes at most so many threads at once in the field. A target may give fewer than it is asked for.
const searchPage, searchPages = 1000, 50

// list returns the threads that the caller is shown, with the last answer. The listing of the configuration is asked;
// a filter goes to the search operation, since the plain list takes none.
func (s *agentServer) list(ctx context.Context, who caller, f *filter) ([]gjson.Result, *client.Answer, error) {
	if f == nil && !s.searches() {
		a, err := s.ask(ctx, who, http.MethodGet, threadsPath, nil)
		if err != nil {
			return nil, nil, err
		}
		return rowsOf(a), a, nil
	}
	var all []gjson.Result
	var last *client.Answer
	shown := map[string]bool{}
	for range searchPages {
		a, err := s.ask(ctx, who, http.MethodPost, threadsPath+"/search", f.body(len(all)))
		if err != nil {
			return nil, nil, err
		}
		before := len(shown)
		for _, row := range rowsOf(a) {
			key := row.Get("thread_id").String()
			if key == "" {
				key = row.Raw
			}
			if !shown[key] {
				shown[key] = true
				all = append(all, row)
			}
		}
		if last == nil || len(shown) > before {
			last = a
		}
		if len(shown) == before {
			break
		}
	}
	return all, last, nil
}

// searches tells whether threads are listed by the search operation.
func (r *run) searches() bool { return r.config.Agent.Listing == "search" }

func (f *filter) body(offset int) map[string]any {
	body := map[string]any{"limit": searchPage, "offset": offset}
	if f != nil && f.metadata != nil {
		body["metadata"] = f.metadata
	}
	if f != nil && f.ids != nil {
		body["ids"] = f.ids
	}
	return body
}

// rowsOf returns the threads of a listing, none where it is no list.
func rowsOf(a *client.Answer) []gjson.Result {
	if list := a.Get("@this"); a.OK() && list.IsArray() {
		return list.Array()
	}
	return nil
}

// holds tells whether a listing holds the thread.
func holds(rows []gjson.Result, id string) bool {
	for _, row := range rows {
		if row.Get("thread_id").String() == id {
			return true
		}
	}
	return false
}
