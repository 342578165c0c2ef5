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

// exchange is a request and its response.
type exchange struct {
	r        *http.Request
	op       spec.Operation
	next     http.Handler
	memory   *memory
	sent     []byte
	response *Response      // nil until the request has been served
	parts    map[string]any // the values of roots, loaded on demand
	later    []func()       // stores values when there is a response

	changed bool // the row has changed the request that the server received, or the response that the client receives
	counted bool
	count   *Count
}

// tally counts the exchange once if it was changed. It must be called before the client can have the response, because
// the client reads the count after its last response.
func (x *exchange) tally() {
	if x.changed && !x.counted {
		x.counted = true
		x.count.Add(1)
	}
}

// newExchange returns the exchange of a request. It reads the request body.
func newExchange(r *http.Request, op spec.Operation, next http.Handler, m *memory) *exchange {
	x := &exchange{r: r.Clone(r.Context()), op: op, next: next, memory: m, parts: map[string]any{}}
	x.sent, _ = io.ReadAll(r.Body)
	return x
}

// meets reports whether the exchange meets all conditions. It stops at the first that is not met: conditions that count
// must only see exchanges that meet the conditions before them.
func (x *exchange) meets(conditions []condition) bool {
	for _, holds := range conditions {
		if !holds(x) {
			return false
		}
	}
	return true
}

// at returns the first value at a place and whether it exists. "was" and "its" are relative to the slot that is changed.
func (x *exchange) at(p place, changed slot) (value any, has bool) {
	parts := x.parts
	switch {
	case p.hasRoot("fresh-id"):
		return uuid.NewString(), true
	case p.hasRoot("was", "its"):
		parts = map[string]any{"was": changed.value, "its": changed.its}
	default:
		x.load(p[0])
	}
	all := slots(parts, p, "")
	if len(all) == 0 {
		return nil, false
	}
	return all[0].value, all[0].has
}

// load loads the value of a root, unless it is loaded. setResponse loads the roots of the response.
func (x *exchange) load(root string) {
	if _, has := x.parts[root]; has || slices.Contains(answerRoots, root) {
		return
	}
	read, known := readers[root]
	if !known {
		read = func(x *exchange) any { return x.lookUp(root) }
	}
	value := read(x)
	isNull := root == "request" && strings.TrimSpace(string(x.sent)) == "null"
	if value != nil || isNull {
		x.parts[root] = value
	}
}

// readers read the values of roots, except those of objects, which lookUp requests.
var readers = map[string]func(x *exchange) any{
	"method": func(x *exchange) any { return x.r.Method },
	"query":  func(x *exchange) any { return firstValues(x.r.URL.Query()) },
	"header": func(x *exchange) any { return firstValues(x.r.Header) },
	"path":   (*exchange).path,
	"request": func(x *exchange) any {
		if body, ok := decoded(x.sent); ok {
			return body
		}
		return nil
	},
	"sent":     func(x *exchange) any { return string(x.sent) },
	"url":      func(x *exchange) any { return x.r.URL.EscapedPath() },
	"link":     func(x *exchange) any { return x.r.RemoteAddr },
	"question": func(x *exchange) any { return strings.TrimPrefix(x.r.URL.RequestURI(), x.r.URL.EscapedPath()) },
	"clock":    func(*exchange) any { return time.Now().UTC().Format(time.RFC3339Nano) },
	"end":      (*exchange).end,
	"owner":    func(x *exchange) any { return firstValues(x.memory.owner(x)) },
	"home": func(x *exchange) any {
		if home := lookup(x.memory, x.memory.homes, x.ids()["run_id"]+x.ids()["revision_id"]); home != "" {
			return home
		}
		return nil
	},
	"kept":   func(x *exchange) any { return x.memory.keptFor(x.object()) },
	"common": func(x *exchange) any { return x.memory.keptFor("") },
}

// path returns the parameters of the path, or the path itself if the operation is unknown.
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

// lookUp requests the object of a root with the credentials of the request. It returns nil if the server refuses.
func (x *exchange) lookUp(root string) any {
	r := x.r.Clone(x.r.Context())
	r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0
	path, query, _ := strings.Cut(x.pathOf(root), "?")
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = x.basePath()+path, "", query
	response := Capture(x.next, r)
	if response.Status >= 300 {
		return nil
	}
	body, _ := decoded(response.Body)
	return body
}

// pathOf returns the path, with the query, of the object of a root.
func (x *exchange) pathOf(root string) string {
	ids := x.ids()
	deployment, thread := "/v2/deployments/"+ids["deployment_id"], "/threads/"+ids["thread_id"]
	switch root {
	case "deployment", "before":
		return deployment
	case "latest":
		latest, _ := x.at(place{"deployment", "latest_revision_id"}, slot{})
		return deployment + "/revisions/" + textOf(latest)
	case "revisions":
		return deployment + "/revisions?limit=100"
	case "threads":
		return "/threads?limit=1000"
	case "thread":
		return thread
	case "state":
		return thread + "/state"
	case "run":
		return thread + "/runs/" + ids["run_id"]
	}
	return ""
}

// waits matches the words of the conformance graph that make a run wait, with the milliseconds.
var waits = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

// end returns the time at which a run with this input ends if it is created now.
func (x *exchange) end() any {
	at := time.Now().UTC()
	for _, found := range waits.FindAllSubmatch(x.sent, -1) {
		at = at.Add(time.Duration(intOf(string(found[1]))) * time.Millisecond)
	}
	return at.Format(time.RFC3339Nano)
}

// ids returns the parameters of the path.
func (x *exchange) ids() map[string]string {
	all := map[string]string{}
	_, path := half(x.r)
	parts := strings.Split(path, "/")
	for i, name := range strings.Split(x.op.Path, "/") {
		if inner, ok := strings.CutPrefix(name, "{"); ok {
			all[strings.TrimSuffix(inner, "}")] = parts[i]
		}
	}
	return all
}

// requestOf returns a key that requests share if they have the same operation and caller, and the same path up to the
// parameter.
func (x *exchange) requestOf(parameter string) string {
	path, _, _ := strings.Cut(x.r.URL.Path, "/"+x.ids()[parameter])
	return x.op.ID + " " + parameter + " " + path + " " + string(encoded(credentialsOf(x.r)))
}

// basePath returns the path of the half at this server: "" for a control plane, "/agents/<name>" for an agent server.
func (x *exchange) basePath() string {
	_, path := half(x.r)
	return strings.TrimSuffix(x.r.URL.Path, path)
}

// object returns the key of the deployment or thread in the path, or of the object that was created.
func (x *exchange) object() string {
	id := x.ids()
	if x.response != nil && len(id) == 0 {
		body, _ := decoded(x.response.Body)
		made, _ := body.(map[string]any)
		return x.basePath() + textOf(made["id"]) + textOf(made["thread_id"])
	}
	return x.basePath() + id["deployment_id"] + id["thread_id"]
}

// target returns the key of the object of the changed request.
func (x *exchange) target() string {
	if path, ok := x.parts["path"].(map[string]any); ok {
		return x.basePath() + textOf(path["deployment_id"]) + textOf(path["thread_id"])
	}
	return x.object()
}

// setResponse sets the response and the roots that it contains.
func (x *exchange) setResponse(r *Response) {
	x.response = r
	x.parts["status"] = json.Number(strconv.Itoa(r.Status))
	x.parts["answer-header"], x.parts["body"] = firstValues(r.Header), string(r.Body)
	delete(x.parts, "answer")
	delete(x.parts, "each")
	if body, ok := decoded(r.Body); ok {
		x.parts["answer"], x.parts["each"] = body, objectsIn(body)
	}
	delete(x.parts, "kept")
}

// objectsIn returns the objects of a list or of a page, or the object itself in a list.
func objectsIn(body any) []any {
	if page, ok := body.(map[string]any); ok {
		if rows, ok := page["resources"].([]any); ok {
			return rows
		}
		return []any{page}
	}
	rows, _ := body.([]any)
	return rows
}

// request returns the request with the changes of its parts.
func (x *exchange) request() *http.Request {
	r := x.r.Clone(x.r.Context())
	if q, ok := x.parts["query"].(map[string]any); ok {
		all := r.URL.Query()
		if write(all, q) {
			r.URL.RawQuery, x.changed = all.Encode(), true
		}
	}
	if h, ok := x.parts["header"].(map[string]any); ok {
		x.changed = write(r.Header, h) || x.changed
	}
	if method := textOf(x.parts["method"]); method != "" && method != r.Method {
		r.Method, x.changed = method, true
	}
	switch p := x.parts["path"].(type) {
	case string:
		x.setPath(r, p)
	case map[string]any:
		path := x.op.Path
		for name, id := range p {
			path = strings.Replace(path, "{"+name+"}", textOf(id), 1)
		}
		x.setPath(r, path)
	}
	body := x.sent
	if request, has := x.parts["request"]; has {
		if before, _ := decoded(x.sent); !bytes.Equal(encoded(before), encoded(request)) {
			body, x.changed = encoded(request), true
		}
	}
	return withBody(r, body)
}

func (x *exchange) setPath(r *http.Request, path string) {
	path = x.basePath() + path
	if path != r.URL.Path {
		r.URL.Path, r.URL.RawPath, x.changed = path, "", true
	}
}

// original returns the request without changes.
func (x *exchange) original() *http.Request { return withBody(x.r.Clone(x.r.Context()), x.sent) }

// withBody sets the body of a request and returns the request.
func withBody(r *http.Request, body []byte) *http.Request {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// send sends the response with the changes of its parts.
func (x *exchange) send(w http.ResponseWriter) {
	r := x.response
	status, err := strconv.Atoi(textOf(x.parts["status"]))
	if err == nil && status != r.Status {
		r.Status, x.changed = status, true
	}
	if h, ok := x.parts["answer-header"].(map[string]any); ok {
		x.changed = write(r.Header, h) || x.changed
	}
	raw := textOf(x.parts["body"])
	body, hasBody := x.parts["answer"]
	before, wasJSON := decoded(r.Body)
	switch {
	case raw != string(r.Body):
		r.Body, x.changed = []byte(raw), true
	case hasBody && (!wasJSON || !bytes.Equal(encoded(before), encoded(body))):
		r.Body, x.changed = encoded(body), true
	}
	x.tally()
	r.Send(w)
}

// firstValues returns the first value of each name.
func firstValues[V ~map[string][]string](all V) map[string]any {
	out := map[string]any{}
	for name, values := range all {
		out[name] = values[0]
	}
	return out
}

// write sets the names and their first values to those of now. It reports whether anything changed.
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

// decoded decodes a JSON text. Numbers keep their spelling.
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
	text, _ := json.Marshal(value) // cannot fail: maps, lists and scalars only
	return text
}

// textOf returns the text of a value: a string unchanged, "" for nil, and the JSON of other values.
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

// numberOf returns a number, or a time in milliseconds.
func numberOf(value any) (float64, bool) {
	if at, err := time.Parse(time.RFC3339Nano, textOf(value)); err == nil {
		return float64(at.UnixMilli()), true
	}
	n, err := strconv.ParseFloat(textOf(value), 64)
	return n, err == nil
}
