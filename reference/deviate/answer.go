package deviate

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// Answer is what a server answers, before it is sent.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Capture returns an answer without sending it.
func Capture(next http.Handler, r *http.Request) *Answer {
	w := httptest.NewRecorder()
	next.ServeHTTP(w, r)
	return &Answer{w.Code, w.Header(), w.Body.Bytes()}
}

// Send sends the answer to a client.
func (a *Answer) Send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.Header().Del("Content-Length")
	if a.Status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client may be gone
}

// OperationOf is the operation of the interface that a request is for. One that the documents do not have is that of
// requests for unknown paths; it has no template.
func OperationOf(r *http.Request) spec.Operation {
	side, path := half(r)
	if op, known := Documents().oracle.Find(side, r.Method, path); known {
		return op
	}
	return spec.Operation{ID: unknownPath(side), Side: side}
}

// half tells which half a request is for, and its path there. Agent servers are below /agents/<name>.
func half(r *http.Request) (spec.Side, string) {
	if rest, is := strings.CutPrefix(r.URL.Path, "/agents/"); is {
		_, path, _ := strings.Cut(rest, "/")
		return spec.AgentServer, "/" + path
	}
	return spec.ControlPlane, r.URL.Path
}
