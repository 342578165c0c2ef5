package independent

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"
)

// agent is one deployed agent server. Its threads outlive the revisions of its deployment.
type agent struct {
	s       *Server
	mu      sync.Mutex // guards all below, the threads and runs included
	build              // what answers now
	threads map[string]*thread
	order   []*thread // oldest first
	ids     int
}

type thread struct {
	id       string
	n        int
	created  time.Time
	metadata object
	runs     []*run          // oldest first; what was rolled back is not among them
	gone     map[string]bool // ids of runs that were rolled back: nothing but the id is left of them
}

func newAgent(s *Server, b build) *agent {
	return &agent{s: s, build: b, threads: map[string]*thread{}}
}

// deploy lets requests and runs that start from now on meet another build.
func (a *agent) deploy(b build) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.build = b
}

// nextID needs a.mu. The ids of threads and runs are just strings (interface, section 2), and here they do not look like uuids.
func (a *agent) nextID(kind string) (string, int) {
	a.ids++
	return kind + "~" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s-%06d", kind, a.ids)), a.ids
}

// agentServers finds the agent server by the first segment of the path, then its route.
func (s *Server) agentServers(w http.ResponseWriter, r *http.Request) {
	path := segments(r.URL)
	s.mu.Lock()
	a := s.agents[path[0]]
	s.mu.Unlock()
	if a == nil {
		fault(http.StatusNotFound, "no-agent", "no agent server lives here").write(w, r)
		return
	}
	user, ok := a.userOf(r)
	if !ok {
		s.refuse(w, r)
		return
	}
	a.route(w, r, user, path[1:])
}

// refuse is what the handler answers to bad credentials (interface, section 5, 2).
func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	if s.opts.RefusalAsJSON {
		reply(w, r, s.RefusedStatus, object{"detail": s.RefusedDetail, "kind": "refused"})
		return
	}
	send(w, r, s.RefusedStatus, "text/plain; charset=utf-8", []byte(s.RefusedDetail))
}

func (a *agent) route(w http.ResponseWriter, r *http.Request, user User, path []string) {
	var routes []route
	at := func(i int, word string) bool { return len(path) > i && path[i] == word }
	switch {
	case !at(0, "threads"):
	case len(path) == 1:
		routes = []route{{http.MethodPost, func() response { return a.createThread(r, user) }}, {http.MethodGet, func() response { return a.listThreads(user) }}}
	case len(path) == 2 && path[1] == "search":
		routes = []route{{http.MethodPost, func() response { return a.searchThreads(r, user) }}}
	case len(path) == 2 && a.s.opts.Extras:
		routes = []route{{http.MethodGet, func() response { return a.getThread(user, path[1]) }}}
	case len(path) == 3 && at(2, "state"):
		routes = []route{{http.MethodGet, func() response { return a.state(user, path[1]) }}}
	case len(path) == 3 && at(2, "runs"):
		routes = []route{{http.MethodPost, func() response { return a.createRun(r, user, path[1]) }}}
	case len(path) == 4 && at(2, "runs"):
		routes = []route{{http.MethodGet, func() response { return a.getRun(user, path[1], path[3]) }}}
	case len(path) == 5 && at(2, "runs") && at(4, "join"):
		routes = []route{{http.MethodGet, func() response { return a.join(r, user, path[1], path[3]) }}}
	}
	if routes == nil {
		fault(http.StatusNotFound, "no-route", "nothing is served at this path").write(w, r)
		return
	}
	dispatch(w, r, routes, " ")
}

// filter is the resource authorization handler (interface, section 5, 6 and 7).
func filter(user User) object {
	if user.Studio {
		return object{}
	}
	return object{"owner": user.Identity}
}

func matches(metadata, filter object) bool {
	for k, v := range filter {
		if !reflect.DeepEqual(metadata[k], v) {
			return false
		}
	}
	return true
}

// readBody reads an object; an empty body is an empty object where the interface says that it may be (section 4).
func readBody(c *checker, r *http.Request, mayBeEmpty bool) fields {
	if mayBeEmpty && r.ContentLength == 0 {
		return fields{c: c}
	}
	return c.readObject(r)
}

func (a *agent) createThread(r *http.Request, user User) response {
	c := &checker{}
	metadata := object{"origin": "thread/api"}
	maps.Copy(metadata, readBody(c, r, true).object("metadata").m)
	maps.Copy(metadata, filter(user)) // last, so that nobody can claim to be another owner
	if !c.ok() {
		return c.faults()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := &thread{created: time.Now(), metadata: metadata, gone: map[string]bool{}}
	t.id, t.n = a.nextID("thread")
	a.threads[t.id] = t
	a.order = append(a.order, t)
	return response{http.StatusCreated, t.body()}
}

func (t *thread) body() object {
	return object{"thread_id": t.id, "metadata": maps.Clone(t.metadata), "mood": "calm", "runs_so_far": len(t.runs),
		"born": createdAt(t.created, t.n), "error": nil}
}

func (a *agent) listThreads(user User) response {
	found := []object{}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.order {
		if matches(t.metadata, filter(user)) {
			found = append(found, t.body())
		}
	}
	return response{http.StatusOK, found}
}

// searchThreads narrows the listing; what the caller asks for never widens it (interface, section 5, 6).
func (a *agent) searchThreads(r *http.Request, user User) response {
	c := &checker{}
	f := readBody(c, r, true)
	asked := f.object("metadata").m
	limit, offset := f.whole("limit", 10, 1, 1000), f.whole("offset", 0, 0, 0)
	if !c.ok() {
		return c.faults()
	}
	found := []object{}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range slices.Backward(a.order) {
		if matches(t.metadata, filter(user)) && matches(t.metadata, asked) {
			found = append(found, t.body())
		}
	}
	return response{http.StatusOK, cut(found, limit, offset)}
}

// withThread calls f with the lock held when the thread is the caller's.
func (a *agent) withThread(user User, id string, f func(*thread) response) response {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.threads[id]
	switch {
	case t == nil:
		return fault(http.StatusNotFound, "no-thread", "there is no such thread")
	case !matches(t.metadata, filter(user)):
		return fault(http.StatusForbidden, "not-yours", "this thread is somebody else's")
	}
	return f(t)
}

func (a *agent) getThread(user User, id string) response {
	return a.withThread(user, id, func(t *thread) response { return response{http.StatusOK, t.body()} })
}

// state is the interface's thread state (section 2).
func (a *agent) state(user User, id string) response {
	return a.withThread(user, id, func(t *thread) response {
		messages := []object{}
		for _, run := range t.runs {
			for _, m := range run.messages {
				messages = append(messages, maps.Clone(m))
			}
		}
		return response{http.StatusOK, object{"values": object{"messages": messages, "turns": len(t.runs), "topic": nil}, "of": t.id, "error": nil}}
	})
}

// fault has a shape of this server's own: the interface shows none for the agent server.
func fault(status int, kind string, why ...string) response {
	return response{status, object{"fault": object{"kind": kind, "why": why}}}
}

func (c *checker) faults() response {
	why := []string{}
	for _, p := range c.problems {
		why = append(why, fmt.Sprintf("%v: %s", p.loc, p.msg))
	}
	return fault(http.StatusBadRequest, "bad-request", why...)
}
