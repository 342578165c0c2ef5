package deviate

import (
	"encoding/json"
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

// Object is the JSON object in the body, nil if there is none.
func (a *Answer) Object() map[string]any { return Object(a.Body) }

// Edit changes the JSON object in the body. Any other body is unchanged.
func (a *Answer) Edit(change func(object map[string]any)) {
	if object := a.Object(); object != nil {
		change(object)
		a.JSON(object)
	}
}

// JSON replaces the body.
func (a *Answer) JSON(value any) {
	a.Body, _ = json.Marshal(value) // maps, lists and scalars only
	a.Header.Set("Content-Type", "application/json")
}

// Refuse replaces the answer with a status and a string detail.
func (a *Answer) Refuse(status int, detail string) {
	a.Status = status
	a.JSON(map[string]any{"detail": detail})
}

// Object reads a JSON object with numbers as written; nil if the text is not an object.
func Object(text []byte) map[string]any {
	object, _ := Value(text).(map[string]any)
	return object
}

// Value reads a JSON value with numbers as written; nil if the text is not JSON.
func Value(text []byte) any {
	value, _ := decoded(text)
	return value
}

// OperationOf is the ID of the operation of the interface that a request is for, "" where there is none.
func OperationOf(r *http.Request) string {
	op, _ := operationOf(r)
	return op.ID
}

func operationOf(r *http.Request) (spec.Operation, bool) {
	side, path := half(r)
	return Documents().oracle.Find(side, r.Method, path)
}

// half tells which half a request is for, and its path there. Agent servers are below /agents/<name>.
func half(r *http.Request) (spec.Side, string) {
	if rest, is := strings.CutPrefix(r.URL.Path, "/agents/"); is {
		_, path, _ := strings.Cut(rest, "/")
		return spec.AgentServer, "/" + path
	}
	return spec.ControlPlane, r.URL.Path
}
