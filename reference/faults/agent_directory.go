package faults

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reference/deviate"
)

// directory records the threads and runs that a layer has seen.
type directory struct {
	mu      sync.Mutex
	first   string                    // the Authorization that created the first thread
	owners  map[string]string         // Authorization by thread
	threads map[string]string         // by run
	last    map[string]map[string]any // body of the last create run, by thread
	chains  map[string][]rollingBack  // the runs with rollback, by thread
}

// rollingBack is a run with rollback, and its last input message.
type rollingBack struct{ id, said string }

// directed returns a layer with a directory.
func directed(middleware func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return fresh(func() Layer {
		d := &directory{owners: map[string]string{}, threads: map[string]string{}, last: map[string]map[string]any{}, chains: map[string][]rollingBack{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) { middleware(d, w, r, d.watching(next)) })
	})
}

func (d *directory) watching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !createThread.is(r) && !createRun.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := bodyOf(r)
		a := deviate.Capture(next, r)
		if a.Status < 300 {
			d.learn(r, sent, a.Object())
		}
		a.Send(w)
	})
}

func (d *directory) learn(r *http.Request, sent, made map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	who := r.Header.Get("Authorization")
	if createThread.is(r) {
		d.owners[text(made, "thread_id")] = who
		if d.first == "" {
			d.first = who
		}
		return
	}
	id := text(made, "run_id")
	d.threads[id], d.last[threadOf(r)] = threadOf(r), sent
	if sent["multitask_strategy"] == "rollback" {
		said := ""
		for _, m := range items(object(sent["input"])["messages"]) {
			said = text(m, "content")
		}
		d.chains[threadOf(r)] = append(d.chains[threadOf(r)], rollingBack{id, said})
	}
}

// owner returns the Authorization of the owner of the request's thread, or of the first thread if the request names none;
// "" if unknown.
func (d *directory) owner(r *http.Request) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if thread := threadOf(r); thread != "" && thread != "search" {
		return d.owners[thread]
	}
	return d.first
}

// ownerOf returns the Authorization of the owner of a thread, "" if unknown.
func (d *directory) ownerOf(thread string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owners[thread]
}

// isFirst reports whether the request is one of the user who created the first thread.
func (d *directory) isFirst(r *http.Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first != "" && r.Header.Get("Authorization") == d.first
}

// threadOfRun returns the thread of a run, "" if the run was never created.
func (d *directory) threadOfRun(run string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.threads[run]
}

// latest returns the body of the last create run on a thread, nil if there is none.
func (d *directory) latest(thread string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last[thread]
}

// rollbacks returns the runs with rollback of a thread, in order of creation.
func (d *directory) rollbacks(thread string) []rollingBack {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.chains[thread])
}

// known reports whether a thread was created.
func (d *directory) known(thread string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owners[thread] != ""
}

// servedAsOwner serves requests that the reference refuses with the status as if they came from the owner.
func servedAsOwner(status int, who func(*http.Request) bool, ops ...operation) Layer {
	return ownerActs(status, who, ops, func(_, asOwner *deviate.Answer) *deviate.Answer { return asOwner })
}

func ownerActs(status int, who func(*http.Request) bool, ops []operation, choose func(refusal, asOwner *deviate.Answer) *deviate.Answer) Layer {
	return ownerActsFor(status, func(_ *directory, r *http.Request) bool { return who(r) }, ops, choose)
}

func ownerActsFor(status int, who func(*directory, *http.Request) bool, ops []operation, choose func(refusal, asOwner *deviate.Answer) *deviate.Answer) Layer {
	return directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !oneOf(ops, r) || !who(d, r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := readBody(r)
		a := deviate.Capture(next, r)
		if owner := d.owner(r); a.Status == status && owner != "" {
			a = choose(a, deviate.Capture(next, resent(r, owner, sent)))
		}
		a.Send(w)
	})
}

// resent returns the request with another Authorization.
func resent(r *http.Request, authorization string, body []byte) *http.Request {
	other := r.Clone(r.Context())
	other.Header.Set("Authorization", authorization)
	other.Body, other.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return other
}

// do sends an additional request to the reference on behalf of the caller.
func do(next http.Handler, r *http.Request, method, path string) *deviate.Answer {
	other := withPath(r, path)
	other.Method, other.URL.RawQuery, other.Body, other.ContentLength = method, "", http.NoBody, 0
	return deviate.Capture(next, other)
}
