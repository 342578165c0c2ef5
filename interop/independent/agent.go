package independent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// agent is the agent server of a deployment. Its threads remain when a new revision is deployed.
type agent struct {
	voice   string    // voice of the revision in service
	threads []*thread // oldest first
	ids     int       // the number of IDs in use
}

// thread is a thread of an agent server.
type thread struct {
	id       string
	metadata object
	runs     []*run   // oldest first, without rolled-back runs
	gone     []string // the IDs of rolled-back runs
}

// nextID returns a new ID. IDs of threads and runs are opaque strings (interface, section 2); these are not UUIDs.
func (a *agent) nextID(kind string) string {
	a.ids++
	return kind + "~" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", kind, a.ids))
}

func (s *Server) agentServers() http.Handler {
	routes := http.NewServeMux()
	for pattern, handler := range map[string]func(*call) response{
		"POST /{agent}/threads":                         (*call).createThread,
		"GET /{agent}/threads":                          (*call).listThreads,
		"POST /{agent}/threads/search":                  (*call).searchThreads,
		"GET /{agent}/threads/{thread}/state":           (*call).getState,
		"POST /{agent}/threads/{thread}/runs":           (*call).createRun,
		"GET /{agent}/threads/{thread}/runs/{run}":      (*call).getRun,
		"GET /{agent}/threads/{thread}/runs/{run}/join": (*call).join,
	} {
		routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			// This is the authentication handler (interface, section 5, item 2).
			at := slices.IndexFunc(Users, func(u User) bool { return bearer(r) == u.Token })
			if at < 0 {
				if bearer(r) == blockedToken {
					send(w, r, blockedStatus[s.edition], "text/plain; charset=utf-8", []byte(blockedDetail))
					return
				}
				w.Header().Set("WWW-Authenticate", "Bearer")
				send(w, r, refusedStatus[s.edition], "text/plain; charset=utf-8", []byte(refusedDetail))
				return
			}
			(&call{Server: s, r: r, user: Users[at]}).serve(w, (*call).findThread, handler)
		})
	}
	return routes
}

// fault returns an error of an agent server. The interface does not specify its body.
func fault(status int, kind string, why any) response {
	return answer(status, object{"fault": object{"kind": kind, "why": why}})
}

func (c *call) badRequest() response { return fault(http.StatusBadRequest, "bad-request", c.problems) }

// findThread finds the agent server, the thread and the run of the path. It returns false with a refusal if one does
// not exist. A run is only found under its own thread. A rolled-back run returns 410 (interface, section 7).
func (c *call) findThread() (response, bool) {
	id, runID := c.r.PathValue("thread"), c.r.PathValue("run")
	c.agent = c.agents[c.r.PathValue("agent")]
	if c.agent == nil {
		return fault(http.StatusNotFound, "no-agent", "no agent server lives here"), false
	}
	if id == "" {
		return response{}, true
	}
	at := slices.IndexFunc(c.agent.threads, func(t *thread) bool { return t.id == id })
	if at < 0 {
		return fault(http.StatusNotFound, "no-thread", "there is no such thread"), false
	}
	c.thread = c.agent.threads[at]
	if !c.thread.matches(c.own()) {
		return fault(http.StatusForbidden, "not-yours", "this thread is somebody else's"), false
	}
	if runID == "" {
		return response{}, true
	}
	for _, r := range c.thread.runs {
		if r.id == runID {
			c.run = r
			return response{}, true
		}
	}
	if slices.Contains(c.thread.gone, runID) {
		return fault(http.StatusGone, "rolled-back", "the run made room for another one"), false
	}
	return fault(http.StatusUnprocessableEntity, "no-run", "the thread has no such run"), false
}

// own returns the filter of the authorization handler (interface, section 5, items 6 and 7).
func (c *call) own() object {
	if c.user.Studio {
		return object{}
	}
	if c.user.Team != "" {
		return object{"owner": c.user.Identity, "team": c.user.Team}
	}
	return object{"owner": c.user.Identity}
}

// owned returns metadata with the filter merged into it. The filter overwrites an owner in the metadata.
func (c *call) owned(metadata object) object {
	all := object{"origin": "api/v7"}
	maps.Copy(all, metadata)
	maps.Copy(all, c.own())
	return all
}

// matches reports whether the metadata of the thread contains the filter.
func (t *thread) matches(filter object) bool {
	for k, v := range filter {
		if !reflect.DeepEqual(t.metadata[k], v) {
			return false
		}
	}
	return true
}

// threadBody is the body of a request that creates or searches threads. It may be empty (interface, section 4).
type threadBody struct {
	Metadata object  `json:"metadata"`
	Limit    *uint16 `json:"limit"`
	Offset   *uint16 `json:"offset"`
}

// readThreadBody reads the body of a request that creates or searches threads.
func (c *call) readThreadBody() (b threadBody) {
	if len(c.body) > 0 {
		c.read(&b)
	}
	return b
}

func (c *call) createThread() response {
	t := &thread{metadata: c.owned(c.readThreadBody().Metadata)}
	if !c.ok() {
		return c.badRequest()
	}
	t.id = c.agent.nextID("thread")
	c.agent.threads = append(c.agent.threads, t)
	return answer(http.StatusCreated, t.describe())
}

func (t *thread) describe() object {
	return object{"thread_id": t.id, "metadata": t.metadata, "mood": "calm", "runs": len(t.runs), "error": nil}
}

// found returns the threads of the caller that match a filter, newest first (interface, section 5, item 6).
func (c *call) found(filter object) []object {
	all := []object{}
	for _, t := range slices.Backward(c.agent.threads) {
		if t.matches(c.own()) && t.matches(filter) {
			all = append(all, t.describe())
		}
	}
	return all
}

func (c *call) listThreads() response { return answer(http.StatusOK, c.found(nil)) }

// searchThreads lists a page of the threads of the caller with some metadata.
func (c *call) searchThreads() response {
	b := c.readThreadBody()
	if !c.ok() {
		return c.badRequest()
	}
	return answer(http.StatusOK, cut(c.found(b.Metadata), int(orElse(b.Limit, 10)), int(orElse(b.Offset, 0))))
}

// getState returns the state of a thread (interface, section 2).
func (c *call) getState() response {
	messages := []object{}
	for _, r := range c.thread.runs {
		messages = append(messages, r.messages...)
	}
	values := object{"messages": messages, "turns": len(c.thread.runs), "topic": nil}
	return answer(http.StatusOK, object{"values": values, "of": c.thread.id, "error": nil})
}

type run struct {
	id       string
	user     User
	metadata object
	input    []object
	messages []object // the messages of the run in the state; empty before it starts
	phase    string   // waiting, active, done, broken, stopped
	ctx      context.Context
	cancel   context.CancelFunc
}

// over reports whether the run has ended. The graph has no effect from then on.
func (r *run) over() bool { return r.ctx.Err() != nil }

// kinds contains the types of messages by role (interface, section 2, "Thread state").
var kinds = map[string]string{"user": "human", "human": "human", "assistant": "ai", "ai": "ai", "tool": "tool",
	"system": "system"}

// message returns a message of a state, with an additional member.
func message(kind, content string) object {
	return object{"id": "msg-" + uuid.NewString(), "type": kind, "content": content, "extras": object{"type": "none"}}
}

// payload is the body of a new run (interface, section 4).
type payload struct {
	Assistant *string `json:"assistant_id"`
	Strategy  *string `json:"multitask_strategy"`
	Metadata  object  `json:"metadata"`
	Input     struct {
		Messages []struct{ Role, Content *string } `json:"messages"`
	} `json:"input"`
}

// createRun creates a run and applies the strategy to the unfinished runs of the thread.
func (c *call) createRun() response {
	var p payload
	c.read(&p)
	created := &run{user: c.user, metadata: c.owned(p.Metadata), phase: "waiting"}
	for i, m := range p.Input.Messages {
		kind := kinds[orElse(m.Role, "")]
		if kind == "" || m.Content == nil {
			c.wrong("wrong-kind", "a message has a role and a text as content", "input", "messages", i)
		}
		created.input = append(created.input, message(kind, orElse(m.Content, "")))
	}
	if p.Assistant == nil || p.Input.Messages == nil {
		c.wrong("absent", "name a graph, and say something to it", "assistant_id", "input")
	}
	strategy := orElse(p.Strategy, "reject") // by default, a busy thread refuses runs
	if !slices.Contains([]string{"reject", "enqueue", "interrupt", "rollback"}, strategy) {
		c.wrong("unknown-value", strconv.Quote(strategy)+" is no strategy", "multitask_strategy")
	}
	switch {
	case !c.ok():
		return c.badRequest()
	case *p.Assistant != assistantID:
		return fault(http.StatusNotFound, "no-graph", "no graph of that name is deployed")
	case !c.thread.makeRoom(strategy):
		return fault(http.StatusConflict, "busy", "the thread has a run already")
	}
	created.id = c.agent.nextID("run")
	created.ctx, created.cancel = context.WithCancel(c.ctx)
	c.thread.runs = append(c.thread.runs, created)
	c.startNext()
	return answer(http.StatusAccepted, created.describe())
}

// makeRoom applies the strategy to the unfinished runs of the thread. It returns false if the new run is refused. The
// caller holds the lock until the new run is added, so that a rollback (interface, section 3) is one step: no client
// sees the removed runs, and they cannot write.
func (t *thread) makeRoom(strategy string) bool {
	for _, old := range slices.Clone(t.runs) {
		switch {
		case old.over() || strategy == "enqueue":
			continue
		case strategy == "reject":
			return false
		case strategy == "rollback":
			t.gone = append(t.gone, old.id)
			t.runs = slices.DeleteFunc(t.runs, func(r *run) bool { return r == old })
		}
		old.phase = "stopped"
		old.cancel()
	}
	return true
}

// startNext starts the first waiting run of the thread, unless another run is active.
func (c *call) startNext() {
	at := slices.IndexFunc(c.thread.runs, func(r *run) bool { return !r.over() })
	if at < 0 || c.thread.runs[at].phase == "active" {
		return
	}
	next, voice := c.thread.runs[at], c.agent.voice
	next.phase, next.messages = "active", slices.Clone(next.input)
	c.work.Go(func() {
		end := parrot(next, voice, func(kind, content string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !next.over() {
				next.messages = append(next.messages, message(kind, content))
			}
		})
		c.mu.Lock()
		defer c.mu.Unlock()
		if !next.over() {
			next.phase = end
			next.cancel()
			c.startNext()
		}
	})
}

func (r *run) describe() object {
	return object{"run_id": r.id, "phase": r.phase, "metadata": r.metadata, "attempt": 1, "error": nil}
}

func (c *call) getRun() response { return answer(http.StatusOK, c.run.describe()) }

// join returns 204 when the run has ended. The interface does not specify a body (section 4).
func (c *call) join() response {
	if !c.run.over() {
		return response{wait: c.run.ctx.Done()}
	}
	return response{status: http.StatusNoContent}
}

// parrot is the conformance graph. It repeats the last human message, whose words control it
// (reference/graphs/CONTRACT.md), and returns the phase in which the run ends.
func parrot(r *run, voice string, write func(kind, content string)) string {
	text := ""
	for _, m := range r.input {
		if m["type"] == "human" {
			text, _ = m["content"].(string)
		}
	}
	said, words := fmt.Sprintf("%s says <<%s>>, over & out", voice, text), map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		words[key] = value
	}
	for _, word := range []string{"wait", "wait-after-write"} {
		n, err := strconv.ParseUint(words[word], 10, 16) // at most a minute
		if err == nil && word == "wait-after-write" {
			write("ai", "(clears its throat)")
		}
		if err == nil && !pause(r.ctx, time.Duration(n)*time.Millisecond) {
			return "stopped"
		}
	}
	has := func(word string) bool { return slices.Contains(strings.Fields(text), word) }
	if has("fail") {
		return "broken"
	}
	if has("tool") {
		write("tool", "looked up: "+text)
		said += "; I looked up: " + text
	}
	if has("whoami") {
		user := object{"identity": r.user.Identity, "role": r.user.Role, "is_studio_user": r.user.Studio}
		if r.user.Team != "" {
			user["team"] = r.user.Team
		}
		shown, _ := json.MarshalIndent(user, "", "  ")
		said = string(shown)
	}
	write("ai", said)
	return "done"
}
