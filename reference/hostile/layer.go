package hostile

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"

	"github.com/agentconform/agentconform/reference/deviate"
)

// answering answers a request in place of the handler that follows, or lets it answer.
type answering func(w http.ResponseWriter, r *http.Request, next http.Handler)

// agentPath is the address of an agent server within the reference.
var agentPath = regexp.MustCompile(`^/agents/[^/]+`)

// on answers the requests of one operation, "list-revisions".
func on(operation string, answer answering) Layer {
	return always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if deviate.OperationOf(r) != operation {
			next.ServeHTTP(w, r)
			return
		}
		answer(w, r, next)
	})
}

// always answers all requests.
func always(answer answering) Layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, next) })
	}
}

// after lets the first requests through.
func after(requests int64, answer answering) answering {
	var seen atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if seen.Add(1) <= requests {
			next.ServeHTTP(w, r)
			return
		}
		answer(w, r, next)
	}
}

// body answers with a JSON body that fits on every request.
func body(status int, text string) answering {
	return typed(status, "application/json", text)
}

func typed(status int, contentType, text string) answering {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the client may be gone
	}
}

// changed changes what the reference answers to an operation.
func changed(operation string, change func(r *http.Request, a *deviate.Answer)) Layer {
	return on(operation, changing(change))
}

func changing(change func(r *http.Request, a *deviate.Answer)) answering {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := deviate.Capture(next, r)
		change(r, a)
		maps.Copy(w.Header(), a.Header)
		w.Header().Del("Content-Length") // what is long is chunked
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body) // the client may be gone
	}
}

// fields changes the JSON object in the successful answers of an operation.
func fields(operation string, change func(object map[string]any)) Layer {
	return changed(operation, func(_ *http.Request, a *deviate.Answer) { edit(a, change) })
}

// edit changes the JSON object of an answer that succeeds.
func edit(a *deviate.Answer, change func(object map[string]any)) {
	if a.Status < http.StatusMultipleChoices {
		a.Edit(change)
	}
}

// field puts a value into the successful answers of an operation.
func field(operation, name string, value any) Layer {
	return fields(operation, func(object map[string]any) { object[name] = value })
}

// rows changes each object of a list of revisions.
func rows(change func(i int, row map[string]any)) Layer {
	return fields("list-revisions", func(list map[string]any) {
		resources, _ := list["resources"].([]any)
		for i, row := range resources {
			if object, is := row.(map[string]any); is {
				change(i, object)
			}
		}
	})
}

// wire answers with bytes, and closes the connection.
func wire(text string) answering {
	return connection(func(c net.Conn) { _, _ = io.WriteString(c, text) })
}

// connection takes the connection over, and closes it at the end. An error of it means that the client has gone.
func connection(use func(c net.Conn)) answering {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		use(c)
	}
}

// header adds a header to all answers.
func header(name, value string) Layer {
	return always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Add(name, value)
		next.ServeHTTP(w, r)
	})
}

// silent does not answer, until the client goes.
func silent(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body) // only then the end of the client is seen
	<-r.Context().Done()
}

// half answers all requests to one half of the interface.
func half(agent bool, answer answering) Layer {
	return always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if agentPath.MatchString(r.URL.Path) != agent {
			next.ServeHTTP(w, r)
			return
		}
		answer(w, r, next)
	})
}

// encoded is JSON of what was decoded from JSON.
func encoded(value any) []byte {
	text, _ := json.Marshal(value)
	return text
}
