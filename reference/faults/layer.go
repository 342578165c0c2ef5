package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// operation is an operation of the interface by its ID in the OpenAPI documents. Paths of agent servers are below /agents/<deployment id>.
type operation string

// The operations of the interface.
const (
	createDeployment operation = "create-deployment"
	getDeployment    operation = "get-deployment"
	updateDeployment operation = "update-deployment"
	listRevisions    operation = "list-revisions"
	getRevision      operation = "get-revision"

	createThread  operation = "create-thread"
	listThreads   operation = "list-threads"
	searchThreads operation = "search-threads"
	createRun     operation = "create-run"
	getRun        operation = "get-run"
	joinRun       operation = "join-run"
	getState      operation = "get-state"
)

func (o operation) is(r *http.Request) bool { return deviate.OperationOf(r) == string(o) }

// around makes a layer of middleware. Layers that are applied later are further out.
func around(middleware func(w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return func(o *reference.Options) {
		inner := o.WrapHTTP
		o.WrapHTTP = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { middleware(w, r, next) })
		}
	}
}

// onRequest changes the requests of an operation before the reference receives them.
func onRequest(op operation, change func(r *http.Request)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if op.is(r) {
			change(r)
		}
		next.ServeHTTP(w, r)
	})
}

// onAnswer changes the answers of an operation before the client receives them.
func onAnswer(op operation, change func(r *http.Request, a *deviate.Answer)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !op.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		change(r, a)
		a.Send(w)
	})
}

// onObject changes the JSON object in successful answers of an operation.
func onObject(op operation, change func(object map[string]any)) Layer {
	return onAnswer(op, func(_ *http.Request, a *deviate.Answer) {
		if a.Status < 300 {
			a.Edit(change)
		}
	})
}

// onQuery changes the query of an operation's requests.
func onQuery(op operation, change func(q url.Values)) Layer {
	return onRequest(op, func(r *http.Request) { editQuery(r, change) })
}

// onStatus changes the answers of an operation that have the status.
func onStatus(op operation, status int, change func(r *http.Request, a *deviate.Answer)) Layer {
	return onAnswer(op, func(r *http.Request, a *deviate.Answer) {
		if a.Status == status {
			change(r, a)
		}
	})
}

// compose applies several layers.
func compose(layers ...Layer) Layer {
	return func(o *reference.Options) {
		for _, l := range layers {
			l(o)
		}
	}
}

// items returns the objects of a JSON array.
func items(value any) []map[string]any {
	list, _ := value.([]any)
	var objects []map[string]any
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// object returns the value as a JSON object, an empty one if it is not an object.
func object(value any) map[string]any {
	if inner, ok := value.(map[string]any); ok {
		return inner
	}
	return map[string]any{}
}

// text returns a string field of an object, "" if there is none.
func text(object map[string]any, key string) string {
	s, _ := object[key].(string)
	return s
}

// editBody changes the JSON object that a client sent.
func editBody(r *http.Request, change func(object map[string]any)) {
	body := bodyOf(r)
	if body == nil {
		return
	}
	change(body)
	text, _ := json.Marshal(body) // it was decoded from JSON
	setBody(r, text)
}

// bodyOf returns the JSON object that a client sent, nil if there is none.
func bodyOf(r *http.Request) map[string]any { return deviate.Object(readBody(r)) }

// sourceOf returns source_revision_config of a body, an empty object if there is none.
func sourceOf(body map[string]any) map[string]any { return object(body["source_revision_config"]) }

// readBody reads the request body and leaves it readable.
func readBody(r *http.Request) []byte {
	text, _ := io.ReadAll(r.Body)
	setBody(r, text)
	return text
}

func setBody(r *http.Request, text []byte) {
	r.Body = io.NopCloser(bytes.NewReader(text))
	r.ContentLength = int64(len(text))
}

// editQuery changes the query of a request.
func editQuery(r *http.Request, change func(q url.Values)) {
	q := r.URL.Query()
	change(q)
	r.URL.RawQuery = q.Encode()
}

// pause waits, but not longer than the client.
func pause(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
