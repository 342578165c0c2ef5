package faults

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// operation is an operation of the interface by its ID in the OpenAPI documents. Paths of agent servers are below /agents/<deployment id>.
type operation string

// The operations of the interface.
const (
	createThread operation = "create-thread"
	createRun    operation = "create-run"
	getRun       operation = "get-run"
	joinRun      operation = "join-run"
	getState     operation = "get-state"
)

func (o operation) is(r *http.Request) bool { return deviate.OperationOf(r) == string(o) }

// around makes a layer of middleware. Layers that are applied later are further out.
func around(middleware func(w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return func(o *reference.Options) {
		o.WrapHTTP = outside(o.WrapHTTP, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { middleware(w, r, next) })
		})
	}
}

// outside wraps what another wrapper returns, if there is another.
func outside[T any](inner, wrap func(T) T) func(T) T {
	if inner == nil {
		return wrap
	}
	return func(part T) T { return wrap(inner(part)) }
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

// compose applies several layers.
func compose(layers ...Layer) Layer {
	return func(o *reference.Options) {
		for _, l := range layers {
			l(o)
		}
	}
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

// pause waits, but not longer than the client.
func pause(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
