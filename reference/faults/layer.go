package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"github.com/agentconform/agentconform/reference"
)

// operation matches requests by method and path, without the address of an agent server.
type operation struct {
	method string
	path   *regexp.Regexp
}

// The operations of the interface. Paths of agent servers are below /agents/<deployment id>.
var (
	createDeployment = operation{http.MethodPost, regexp.MustCompile(`^/v2/deployments$`)}
	getDeployment    = operation{http.MethodGet, regexp.MustCompile(`^/v2/deployments/[^/]+$`)}
	updateDeployment = operation{http.MethodPatch, regexp.MustCompile(`^/v2/deployments/[^/]+$`)}
	listRevisions    = operation{http.MethodGet, regexp.MustCompile(`^/v2/deployments/[^/]+/revisions$`)}
	getRevision      = operation{http.MethodGet, regexp.MustCompile(`^/v2/deployments/[^/]+/revisions/[^/]+$`)}

	createThread  = operation{http.MethodPost, regexp.MustCompile(`^/agents/[^/]+/threads$`)}
	listThreads   = operation{http.MethodGet, regexp.MustCompile(`^/agents/[^/]+/threads$`)}
	searchThreads = operation{http.MethodPost, regexp.MustCompile(`^/agents/[^/]+/threads/search$`)}
	createRun     = operation{http.MethodPost, regexp.MustCompile(`^/agents/[^/]+/threads/[^/]+/runs$`)}
	getRun        = operation{http.MethodGet, regexp.MustCompile(`^/agents/[^/]+/threads/[^/]+/runs/[^/]+$`)}
	joinRun       = operation{http.MethodGet, regexp.MustCompile(`^/agents/[^/]+/threads/[^/]+/runs/[^/]+/join$`)}
	getState      = operation{http.MethodGet, regexp.MustCompile(`^/agents/[^/]+/threads/[^/]+/state$`)}
)

func (o operation) is(r *http.Request) bool {
	return r.Method == o.method && o.path.MatchString(r.URL.Path)
}

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
func onAnswer(op operation, change func(r *http.Request, a *answer)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !op.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		change(r, a)
		a.send(w)
	})
}

// onObject changes the JSON object in successful answers of an operation.
func onObject(op operation, change func(object map[string]any)) Layer {
	return onAnswer(op, func(_ *http.Request, a *answer) {
		if a.status < 300 {
			a.edit(change)
		}
	})
}

// onQuery changes the query of an operation's requests.
func onQuery(op operation, change func(q url.Values)) Layer {
	return onRequest(op, func(r *http.Request) { editQuery(r, change) })
}

// onStatus changes the answers of an operation that have the status.
func onStatus(op operation, status int, change func(r *http.Request, a *answer)) Layer {
	return onAnswer(op, func(r *http.Request, a *answer) {
		if a.status == status {
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

// answer is an answer of the reference, before it is sent.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// recorder receives an answer in place of a client.
type recorder struct {
	answer
	wrote bool
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.body = append(r.body, p...)
	return len(p), nil
}

// capture returns the answer of the reference without sending it.
func capture(next http.Handler, r *http.Request) *answer {
	rec := &recorder{answer: answer{status: http.StatusOK, header: http.Header{}}}
	next.ServeHTTP(rec, r)
	return &rec.answer
}

func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone
}

// edit changes the JSON object in the body. Any other body is unchanged.
func (a *answer) edit(change func(object map[string]any)) {
	if object := a.object(); object != nil {
		change(object)
		a.json(object)
	}
}

// object returns the JSON object in the body, nil if there is none.
func (a *answer) object() map[string]any { return decoded(a.body) }

// decoded reads a JSON object with numbers as written; nil if the text is not an object.
func decoded(text []byte) map[string]any {
	object, _ := decodedValue(text).(map[string]any)
	return object
}

func decodedValue(text []byte) any {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// json replaces the body.
func (a *answer) json(value any) {
	a.body, _ = json.Marshal(value) // maps, lists and scalars only
	a.header.Set("Content-Type", "application/json")
}

// refuse replaces the answer with a status and a string detail.
func (a *answer) refuse(status int, detail string) {
	a.status = status
	a.json(map[string]any{"detail": detail})
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
func bodyOf(r *http.Request) map[string]any { return decoded(readBody(r)) }

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
