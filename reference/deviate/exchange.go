package deviate

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/spec"
)

// exchange is a request, and its answer once there is one.
type exchange struct {
	r      *http.Request
	op     spec.Operation
	next   http.Handler
	seen   *memory
	sent   []byte
	answer *Answer
	parts  map[string]any // by root, as far as they were asked for
	later  []func()       // what is kept when the exchange is over

	changed bool // the server or the client got something else than without the row
	counted bool
	count   *Count
}

// tally counts the exchange if it was changed: before the client may know, who reads the count when it has its answers.
func (x *exchange) tally() {
	if x.changed && !x.counted {
		x.counted = true
		x.count.Add(1)
	}
}

func newExchange(r *http.Request, op spec.Operation, next http.Handler, seen *memory) *exchange {
	x := &exchange{r: r.Clone(r.Context()), op: op, next: next, seen: seen, parts: map[string]any{}}
	x.sent, _ = io.ReadAll(r.Body)
	return x
}

// all tells whether the exchange meets all conditions. Those that count are asked only when it meets the ones before.
func (x *exchange) all(conditions []condition) bool {
	return !slices.ContainsFunc(conditions, func(holds condition) bool { return !holds(x) })
}

// at returns the first value at a place, and whether it is there.
func (x *exchange) at(p place, beside slot) (value any, has bool) {
	parts := x.parts
	switch {
	case p.is("fresh-id"):
		return uuid.NewString(), true
	case p.is("was", "its"):
		parts = map[string]any{"was": beside.value, "its": beside.its}
	default:
		x.load(p[0])
	}
	all := slots(parts, p, "")
	if len(all) == 0 {
		return nil, false
	}
	return all[0].value, all[0].has
}

// load makes the part of a root, where it is not there yet. What belongs to the answer comes with it.
func (x *exchange) load(root string) {
	if _, has := x.parts[root]; has || slices.Contains(answerRoots, root) {
		return
	}
	part, known := readers[root]
	if !known {
		part = func(x *exchange) any { return x.lookUp(root) }
	}
	if part := part(x); part != nil || root == "request" && strings.TrimSpace(string(x.sent)) == "null" {
		x.parts[root] = part
	}
}

// readers find what stands at a root, but for objects that are looked up.
var readers = map[string]func(x *exchange) any{
	"method": func(x *exchange) any { return x.r.Method },
	"query":  func(x *exchange) any { return firsts(x.r.URL.Query()) },
	"header": func(x *exchange) any { return firsts(x.r.Header) },
	"path":   (*exchange).path,
	"request": func(x *exchange) any {
		if body, ok := decoded(x.sent); ok {
			return body
		}
		return nil
	},
	"sent":     func(x *exchange) any { return string(x.sent) },
	"url":      func(x *exchange) any { return x.r.URL.EscapedPath() },
	"question": func(x *exchange) any { return strings.TrimPrefix(x.r.URL.RequestURI(), x.r.URL.EscapedPath()) },
	"clock":    func(*exchange) any { return time.Now().UTC().Format(time.RFC3339Nano) },
	"end":      (*exchange).end,
	"owner":    func(x *exchange) any { return firsts(x.seen.owner(x)) },
	"home": func(x *exchange) any {
		if home := of(x.seen, x.seen.homes, x.ids()["run_id"]+x.ids()["revision_id"]); home != "" {
			return home
		}
		return nil
	},
	"kept":   func(x *exchange) any { return x.seen.keptFor(x.object()) },
	"common": func(x *exchange) any { return x.seen.keptFor("") },
}

// path is the path of an unknown operation, else its parameters.
func (x *exchange) path() any {
	if x.op.Path == "" {
		_, path := half(x.r)
		return path
	}
	all := map[string]any{}
	for name, id := range x.ids() {
		all[name] = id
	}
	return all
}

// lookUp reads an object that the request is about, with its credentials.
func (x *exchange) lookUp(root string) any {
	id := x.ids()
	path := map[string]string{
		"deployment": "/v2/deployments/" + id["deployment_id"], "before": "/v2/deployments/" + id["deployment_id"],
		"revisions": "/v2/deployments/" + id["deployment_id"] + "/revisions?limit=100",
		"threads":   "/threads?limit=1000", "thread": "/threads/" + id["thread_id"], "state": "/threads/" + id["thread_id"] + "/state",
		"run": "/threads/" + id["thread_id"] + "/runs/" + id["run_id"],
	}[root]
	if root == "latest" {
		latest, _ := x.at(place{"deployment", "latest_revision_id"}, slot{})
		path = "/v2/deployments/" + id["deployment_id"] + "/revisions/" + textOf(latest)
	}
	r := x.r.Clone(x.r.Context())
	r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0
	path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	r.URL.Path, r.URL.RawPath = x.prefix()+path, ""
	if a := Capture(x.next, r); a.Status < 300 {
		body, _ := decoded(a.Body)
		return body
	}
	return nil
}

var waits = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

// end is when a run ends that is created now, by the words of the conformance graph.
func (x *exchange) end() any {
	at := time.Now().UTC()
	for _, found := range waits.FindAllSubmatch(x.sent, -1) {
		at = at.Add(time.Duration(intOf(string(found[1]))) * time.Millisecond)
	}
	return at.Format(time.RFC3339Nano)
}

// ids are the parameters in the path.
func (x *exchange) ids() map[string]string {
	all := map[string]string{}
	_, path := half(x.r)
	parts := strings.Split(path, "/")
	for i, name := range strings.Split(x.op.Path, "/") {
		if inner, is := strings.CutPrefix(name, "{"); is {
			all[strings.TrimSuffix(inner, "}")] = parts[i]
		}
	}
	return all
}

// requestOf names requests of the operation by the caller and the path up to a parameter.
func (x *exchange) requestOf(parameter string) string {
	path, _, _ := strings.Cut(x.r.URL.Path, "/"+x.ids()[parameter])
	return x.op.ID + " " + parameter + " " + path + " " + string(encoded(credentialsOf(x.r)))
}

// prefix is the path of the server that is asked.
func (x *exchange) prefix() string {
	_, path := half(x.r)
	return strings.TrimSuffix(x.r.URL.Path, path)
}

// object is what the exchange is about: a deployment or a thread, also one that was created.
func (x *exchange) object() string {
	id := x.ids()
	if x.answer != nil && len(id) == 0 {
		body, _ := decoded(x.answer.Body)
		made, _ := body.(map[string]any)
		return x.prefix() + textOf(made["id"]) + textOf(made["thread_id"])
	}
	return x.prefix() + id["deployment_id"] + id["thread_id"]
}

// target is the object of the request as it was changed.
func (x *exchange) target() string {
	if path, is := x.parts["path"].(map[string]any); is {
		return x.prefix() + textOf(path["deployment_id"]) + textOf(path["thread_id"])
	}
	return x.object()
}

// answered enters an answer.
func (x *exchange) answered(a *Answer) {
	x.answer = a
	x.parts["status"] = json.Number(strconv.Itoa(a.Status))
	x.parts["answer-header"], x.parts["body"] = firsts(a.Header), string(a.Body)
	delete(x.parts, "answer")
	delete(x.parts, "each")
	if body, ok := decoded(a.Body); ok {
		x.parts["answer"], x.parts["each"] = body, objectsIn(body)
	}
	delete(x.parts, "kept")
}

// objectsIn are the objects of a list or of a page, else the object itself.
func objectsIn(body any) []any {
	if page, is := body.(map[string]any); is {
		if rows, is := page["resources"].([]any); is {
			return rows
		}
		return []any{page}
	}
	rows, _ := body.([]any)
	return rows
}

// request is the request with what was changed in its parts.
func (x *exchange) request() *http.Request {
	r := x.r.Clone(x.r.Context())
	if q, is := x.parts["query"].(map[string]any); is {
		all := r.URL.Query()
		if write(all, q) {
			r.URL.RawQuery, x.changed = all.Encode(), true
		}
	}
	if h, is := x.parts["header"].(map[string]any); is {
		x.changed = write(r.Header, h) || x.changed
	}
	if method := textOf(x.parts["method"]); method != "" && method != r.Method {
		r.Method, x.changed = method, true
	}
	switch p := x.parts["path"].(type) {
	case string:
		x.goTo(r, p)
	case map[string]any:
		path := x.op.Path
		for name, id := range p {
			path = strings.Replace(path, "{"+name+"}", textOf(id), 1)
		}
		x.goTo(r, path)
	}
	body := x.sent
	if request, has := x.parts["request"]; has {
		if before, _ := decoded(x.sent); !bytes.Equal(encoded(before), encoded(request)) {
			body, x.changed = encoded(request), true
		}
	}
	return withBody(r, body)
}

// goTo gives a request another path.
func (x *exchange) goTo(r *http.Request, path string) {
	if path = x.prefix() + path; path != r.URL.Path {
		r.URL.Path, r.URL.RawPath, x.changed = path, "", true
	}
}

// original is the request as it came.
func (x *exchange) original() *http.Request { return withBody(x.r.Clone(x.r.Context()), x.sent) }

func withBody(r *http.Request, body []byte) *http.Request {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// send sends the answer with what was changed in its parts.
func (x *exchange) send(w http.ResponseWriter) {
	a := x.answer
	if status, err := strconv.Atoi(textOf(x.parts["status"])); err == nil && status != a.Status {
		a.Status, x.changed = status, true
	}
	if h, is := x.parts["answer-header"].(map[string]any); is {
		x.changed = write(a.Header, h) || x.changed
	}
	body, has := x.parts["answer"]
	before, was := decoded(a.Body)
	if raw := textOf(x.parts["body"]); raw != string(a.Body) {
		a.Body, x.changed = []byte(raw), true
	} else if has && (!was || !bytes.Equal(encoded(before), encoded(body))) {
		a.Body, x.changed = encoded(body), true
	}
	x.tally()
	a.Send(w)
}

// firsts are the first values by name.
func firsts[V ~map[string][]string](all V) map[string]any {
	out := map[string]any{}
	for name, values := range all {
		out[name] = values[0]
	}
	return out
}

// write takes over the values that differ, and tells whether any does.
func write[V ~map[string][]string](all V, now map[string]any) (changed bool) {
	for name := range all {
		if _, has := now[name]; !has {
			delete(all, name)
			changed = true
		}
	}
	for name, value := range now {
		if text := textOf(value); len(all[name]) == 0 || all[name][0] != text {
			all[name] = []string{text}
			changed = true
		}
	}
	return changed
}

// decoded reads a JSON value with numbers as written.
func decoded(text []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	_, err := decoder.Token()
	return value, err == io.EOF
}

func encoded(value any) []byte {
	text, _ := json.Marshal(value) // maps, lists and scalars only
	return text
}

// textOf is a value as a text: of a string what it says, of others their JSON, of nothing "".
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number:
		return value.String()
	case int:
		return strconv.Itoa(value)
	}
	return string(encoded(value))
}

// numberOf is a number, or a time in milliseconds.
func numberOf(value any) (float64, bool) {
	if at, err := time.Parse(time.RFC3339Nano, textOf(value)); err == nil {
		return float64(at.UnixMilli()), true
	}
	n, err := strconv.ParseFloat(textOf(value), 64)
	return n, err == nil
}
