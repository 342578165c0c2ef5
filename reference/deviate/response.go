package deviate

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// Response is an HTTP response that has not been sent yet.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Capture serves a request and returns the response instead of sending it.
func Capture(next http.Handler, r *http.Request) *Response {
	w := httptest.NewRecorder()
	next.ServeHTTP(w, r)
	return &Response{w.Code, w.Header(), w.Body.Bytes()}
}

// Send sends the response to the client.
func (r *Response) Send(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.Header)
	w.Header().Del("Content-Length")
	if r.Status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(r.Body)))
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // the client may have closed the connection
}

// OperationOf returns the operation of a request. If the documents do not contain it, the operation has no path template
// and the ID for unknown paths.
func OperationOf(r *http.Request) spec.Operation {
	side, path := half(r)
	if op, known := Documents().oracle.Find(side, r.Method, path); known {
		return *op
	}
	return spec.Operation{ID: unknownPath(side), Side: side}
}

// half returns the half of the interface that a request is for, and its path there. Agent servers are below /agents/<name>.
func half(r *http.Request) (spec.Side, string) {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/agents/"); ok {
		_, path, _ := strings.Cut(rest, "/")
		return spec.AgentServer, "/" + path
	}
	return spec.ControlPlane, r.URL.Path
}
