package steps_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/steps/config"
)

// layer stands before the independent server.
type layer = func(http.Handler) http.Handler

// agentConfig starts the independent server, behind the layer where there is one, and configures its agent server.
func agentConfig(t *testing.T, before layer) *config.Config {
	t.Helper()
	s := startIndependent(t, independent.Options{Layer: func(next http.Handler) http.Handler {
		if before == nil {
			return next
		}
		return before(plain(next))
	}})
	c := configure(t, s)
	c.Target, c.Agent.Listing, c.AgentTarget = "", "search", s.AgentURL
	c.Timeouts.Request, c.Timeouts.Run = 2*time.Second, 2*time.Second
	require.NoError(t, c.Complete())
	return c
}

// when makes a layer for some requests.
func when(match func(*http.Request) bool, serve func(http.Handler, http.ResponseWriter, *http.Request)) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match(r) {
				serve(next, w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func at(method, suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, suffix) }
}

// plain keeps answers from being compressed, so that layers can read them.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept-Encoding", "identity")
		next.ServeHTTP(w, r)
	})
}

func readBody(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	withBody(r, body)
	return body
}

func withBody(r *http.Request, body []byte) *http.Request {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

func record(next http.Handler, r *http.Request) *httptest.ResponseRecorder {
	a := httptest.NewRecorder()
	next.ServeHTTP(a, r)
	return a
}

func send(w http.ResponseWriter, a *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), a.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}

// searchesAll serves a search for the threads of an owner as if nobody owned any.
var searchesAll = when(at("POST", "/search"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if gjson.GetBytes(readBody(r), "metadata.owner").Exists() {
		r.Header.Set("Authorization", "Bearer "+independent.Users[2].Token)
	}
	next.ServeHTTP(w, r)
})

// answersRollbackLate answers runs with rollback late, whatever their server did at once.
func answersRollbackLate(delay time.Duration) layer {
	return when(at("POST", "/runs"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		late := gjson.GetBytes(readBody(r), "multitask_strategy").String() == "rollback"
		a := record(next, r)
		if late {
			time.Sleep(delay)
		}
		send(w, a)
	})
}

// replaceInRun changes the payloads of runs.
func replaceInRun(old, with string) layer {
	return when(at("POST", "/runs"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, withBody(r, bytes.ReplaceAll(readBody(r), []byte(old), []byte(with))))
	})
}

// shortPages gives at most three threads at once, however many it is asked for.
var shortPages = when(at("POST", "/search"), func(next http.Handler, w http.ResponseWriter, r *http.Request) {
	next.ServeHTTP(w, withBody(r, bytes.Replace(readBody(r), []byte(`"limit":200`), []byte(`"limit":3`), 1)))
})
