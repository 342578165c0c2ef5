//go:build nightly

package steps_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
)

func comesBack(p *proxy, next http.Handler) http.Handler {
	return keepsRolledBack(func(r *seenRun) bool { return time.Since(r.began) > r.hold })(p, next)
}

var losesHuman = when(at("GET", "/state"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	changeMessages(w, record(next, r), func(m []json.RawMessage) []json.RawMessage {
		return slices.DeleteFunc(m, func(one json.RawMessage) bool { return gjson.GetBytes(one, "type").String() == "human" })
	})
})

func replaceInState(old, with string) func(*proxy, http.Handler) http.Handler {
	return when(at("GET", "/state"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		changeMessages(w, record(next, r), func(m []json.RawMessage) []json.RawMessage {
			for i := range m {
				m[i] = bytes.ReplaceAll(m[i], []byte(old), []byte(with))
			}
			return m
		})
	})
}

// waitsOut answers the creation of a run when the run is over.
var waitsOut = when(at("POST", "/runs"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	a := record(next, r)
	if id := gjson.GetBytes(a.Body.Bytes(), "run_id").String(); id != "" {
		join := httptest.NewRequest(http.MethodGet, r.URL.Path+"/"+id+"/join", nil).WithContext(r.Context())
		join.Header.Set("Authorization", r.Header.Get("Authorization"))
		record(next, join)
	}
	send(w, a)
})

var joinsAtOnce = when(at("GET", "/join"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	r.URL.Path = strings.TrimSuffix(r.URL.Path, "/join")
	next.ServeHTTP(w, r)
})

// What makes the proxy take a caller for the first user.
func noToken(_ *proxy, r *http.Request) bool { return r.Header.Get("Authorization") == "" }
func anotherScheme(_ *proxy, r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "Basic ")
}
func secondUser(p *proxy, r *http.Request) bool {
	return r.Header.Get("Authorization") == "Bearer "+independent.Users[1].Token
}

// asFirstUser serves a request below a thread as one of the first user's, unless it is served as it is.
func asFirstUser(who func(*proxy, *http.Request) bool, method, suffix string) func(*proxy, http.Handler) http.Handler {
	return when(at(method, suffix), func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		body := readBody(r)
		a := record(next, r)
		if a.Code >= 400 && strings.HasPrefix(r.URL.Path, "/threads/") && who(p, r) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+independent.Users[0].Token)
			a = record(next, r)
		}
		send(w, a)
	})
}

// cachesUser tells every run that the user whose run came first is the caller.
var cachesUser = when(func(r *http.Request) bool { return at("GET", "/state")(r) || at("POST", "/runs")(r) },
	func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		for _, u := range independent.Users {
			if p.first["identity"] == "" && r.Header.Get("Authorization") == "Bearer "+u.Token {
				p.first["identity"] = u.Identity
			}
		}
		first := p.first["identity"]
		p.mu.Unlock()
		a := record(next, r)
		changeMessages(w, a, func(m []json.RawMessage) []json.RawMessage {
			for i := range m {
				for _, u := range independent.Users {
					m[i] = bytes.ReplaceAll(m[i], []byte(u.Identity), []byte(first))
				}
			}
			return m
		})
	})

var spoofsOwner = when(at("POST", "/threads"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	owner := gjson.GetBytes(readBody(r), "metadata.owner").String()
	a := record(next, r)
	var body map[string]any
	if owner != "" && a.Code < 300 && json.Unmarshal(a.Body.Bytes(), &body) == nil {
		body["metadata"].(map[string]any)["owner"] = owner
		a.Body.Reset()
		_ = json.NewEncoder(a.Body).Encode(body)
	}
	send(w, a)
})

// foundAnywhere takes the thread of a run from the run.
var foundAnywhere = when(aRun, func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	for path := range p.runs {
		if id := r.URL.Path[strings.LastIndex(r.URL.Path, "/"):]; strings.HasSuffix(path, id) {
			r.URL.Path, r.URL.RawPath = path, ""
		}
	}
	p.mu.Unlock()
	next.ServeHTTP(w, r)
})

// forgetsCompleted does not find a run that was over when another one came with rollback.
var forgetsCompleted = when(aRun, func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	run := p.runs[r.URL.Path]
	gone := run != nil && run.replaced
	p.mu.Unlock()
	if gone {
		http.Error(w, "no such run", http.StatusNotFound)
		return
	}
	next.ServeHTTP(w, r)
})

// forgetsBystander loses the runs of other threads that are in progress when a run comes with rollback.
func forgetsBystander(p *proxy, next http.Handler) http.Handler {
	lost := map[string]bool{}
	onStart := when(at("POST", "/runs"), func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if gjson.GetBytes(readBody(r), "multitask_strategy").String() == "rollback" {
			p.mu.Lock()
			for _, run := range p.runs {
				if run.thread != strings.TrimSuffix(r.URL.Path, "/runs") && time.Since(run.began) < run.hold {
					lost[run.path] = true
				}
			}
			p.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
	onLook := when(aRun, func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		gone := lost[r.URL.Path]
		p.mu.Unlock()
		if gone {
			http.Error(w, "no such run", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
	return onStart(p, onLook(p, next))
}

// refusesAndDoes answers with the refusal, and serves the request as the first user's all the same.
func refusesAndDoes(who func(*proxy, *http.Request) bool, suffix string) func(*proxy, http.Handler) http.Handler {
	return when(at("POST", suffix), func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		body := readBody(r)
		a := record(next, r)
		if a.Code >= 400 && who(p, r) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+independent.Users[0].Token)
			record(next, r)
		}
		send(w, a)
	})
}

// hangsForCompleted misses the end of a run that is over when the join comes.
var hangsForCompleted = when(at("GET", "/join"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	a := record(next, r)
	if a.Code < 300 && time.Since(began) < 20*time.Millisecond {
		hang(r)
		return
	}
	send(w, a)
})

// showsLastRun leaves out what earlier runs have said.
var showsLastRun = when(at("GET", "/state"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	changeMessages(w, record(next, r), func(m []json.RawMessage) []json.RawMessage {
		first := len(m)
		for first > 0 && gjson.GetBytes(m[first-1], "type").String() != "human" {
			first--
		}
		for first > 0 && gjson.GetBytes(m[first-1], "type").String() == "human" {
			first--
		}
		return m[first:]
	})
})
