package negate

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agentconform/agentconform/spec"
)

// Mutant is a recorded answer with one keyword broken.
type Mutant struct {
	spec.Exchange
	Pointer string // the place in the body as a JSON pointer, "" for the whole; that of the object where a member was dropped
	Keyword string // of the schema: "type", "required", "enum", "format"; or "json", "body", "content-type", "status"
	Change  string // in words: "status is the number 1"
}

// String is the mutant in a line: "get-revision 200 /status enum: ...".
func (m Mutant) String() string {
	return fmt.Sprintf("%s %s %d %s %s: %s", m.Method, m.Path, m.Status, m.Pointer, m.Keyword, m.Change)
}

// Documents are the OpenAPI documents of both halves as kin-openapi reads them.
type Documents struct {
	oracle *spec.Oracle // finds the operation of a request
	sides  map[spec.Side]*openapi3.T
}

// Read reads the documents. The error is that of a document which kin-openapi does not take.
func Read(oracle *spec.Oracle) (*Documents, error) {
	d := &Documents{oracle, map[spec.Side]*openapi3.T{}}
	for _, side := range spec.Sides() {
		document, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("the document of the %s: %w", side, err)
		}
		d.sides[side] = document
	}
	return d, nil
}

// Mutants are all that the contract implies for an answer that keeps it, in a fixed order; none where the operation is no part of the
// interface, or says nothing of such an answer.
func (d *Documents) Mutants(x spec.Exchange) iter.Seq[Mutant] {
	return func(yield func(Mutant) bool) {
		op, found := d.oracle.Find(x.Side, x.Method, x.Path)
		if !found || op.Field {
			return
		}
		responses := d.sides[x.Side].Paths.Value(op.Path).GetOperation(x.Method).Responses
		response, exact := declared(responses, x.Status)
		if response == nil {
			return
		}
		m := &maker{x, yield, false}
		if exact { // in a range of statuses, every other one is declared as well
			m.status(responses)
		}
		media := response.Value.Content["application/json"]
		if media == nil || len(x.Body) == 0 {
			return
		}
		m.frame(response.Value)
		var body any
		if json.Unmarshal(x.Body, &body) == nil {
			m.value(media.Schema.Value, body, nil)
		}
	}
}

// declared is what the contract says of the status, and whether it names it.
func declared(responses *openapi3.Responses, status int) (response *openapi3.ResponseRef, exact bool) {
	if r := responses.Value(strconv.Itoa(status)); r != nil {
		return r, true
	}
	return responses.Value(strconv.Itoa(status/100) + "XX"), false
}

// maker yields the mutants of one answer.
type maker struct {
	spec.Exchange
	yield func(Mutant) bool
	ended bool
}

func (m *maker) emit(x spec.Exchange, path []any, keyword, change string) {
	if !m.ended {
		m.ended = !m.yield(Mutant{x, pointer(path), keyword, change})
	}
}

// status answers with statuses of which the operation says nothing.
func (m *maker) status(responses *openapi3.Responses) {
	for _, status := range []int{http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusResetContent, http.StatusMultiStatus, http.StatusMultipleChoices, http.StatusSeeOther} {
		if r, _ := declared(responses, status); r == nil {
			x := m.Exchange
			x.Status = status
			m.emit(x, nil, "status", "the status is "+strconv.Itoa(status))
		}
	}
}

// frame breaks the text around the value, and what the header says of it.
func (m *maker) frame(response *openapi3.Response) {
	text := string(m.Body)
	bodies := []struct{ keyword, change, body string }{
		{"json", "the text is cut", strings.TrimRight(text, " \n")[:len(strings.TrimRight(text, " \n"))-1]},
		{"json", "the text is no JSON", "<html></html>"},
		{"trailing", "the text goes on", text + "{}"},
		{"encoding", "the text is not UTF-8", strings.Replace(text, `"`, "\"\xff", 1)},
	}
	if optional, _ := response.Extensions["x-body-optional"].(bool); !optional {
		bodies = append(bodies, struct{ keyword, change, body string }{"body", "there is no body", ""})
	}
	for _, b := range bodies {
		if b.body != text {
			x := m.Exchange
			x.Body = []byte(b.body)
			m.emit(x, nil, b.keyword, b.change)
		}
	}
	for _, media := range []string{"text/html", "application/octet-stream", ""} {
		if response.Content[media] == nil {
			x := m.Exchange
			x.Header = m.Header.Clone()
			x.Header.Set("Content-Type", media)
			m.emit(x, nil, "content-type", strconv.Quote(media))
		}
	}
}

// value breaks each keyword of the schema at the value, and below it.
func (m *maker) value(schema *openapi3.Schema, value any, path []any) {
	if m.ended {
		return
	}
	m.types(schema, path)
	if text, is := value.(string); is {
		m.text(schema, text, path)
	}
	m.bounds(schema, value, path)
	switch value := value.(type) {
	case map[string]any:
		for _, name := range schema.Required {
			if _, has := value[name]; has {
				m.drop(append(slices.Clone(path), name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if member, has := value[name]; has {
				m.value(schema.Properties[name].Value, member, append(slices.Clone(path), name))
			}
		}
	case []any:
		for i, item := range value {
			if schema.Items != nil && i < maxItems {
				m.value(schema.Items.Value, item, append(slices.Clone(path), i))
			}
		}
	}
}

// maxItems is how many items of a list are broken in turn, from its beginning.
const maxItems = 3

// samples is a value of each type of JSON.
var samples = []struct {
	kind  string
	value any
}{{"null", nil}, {"boolean", true}, {"integer", 1}, {"number", 1.5}, {"string", "x"}, {"array", []any{}}, {"object", map[string]any{}}}

// types puts a value of each type that the schema does not allow.
func (m *maker) types(schema *openapi3.Schema, path []any) {
	if schema.Type == nil || len(*schema.Type) == 0 {
		return
	}
	for _, s := range samples {
		if allowed := schema.Type.Includes(s.kind) || s.kind == "integer" && schema.Type.Includes("number"); !allowed {
			m.put(path, s.value, "type", "a value of type "+s.kind)
		}
	}
}

// text breaks the keywords of a text.
func (m *maker) text(schema *openapi3.Schema, text string, path []any) {
	if len(schema.Enum) > 0 {
		for _, other := range []string{"", text + "x", strings.ToLower(text) + "_", " " + text} {
			if !slices.Contains(schema.Enum, any(other)) {
				m.put(path, other, "enum", strconv.Quote(other))
			}
		}
	}
	for how, other := range unformatted(schema.Format, text) {
		m.put(path, other, "format", how)
	}
	if schema.MinLength > 0 {
		m.put(path, "", "minLength", "an empty text")
	}
}

// unformatted are texts that do not have the format, with what was done to the text.
func unformatted(format, text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		var all [][2]string
		switch format {
		case "uuid":
			all = [][2]string{{"one digit less", text[:len(text)-1]}, {"one digit more", text + "0"}, {"a letter", "g" + text[1:]}, {"other dashes", strings.ReplaceAll(text, "-", "_")}, {"in braces", "{" + text + "}"}}
		case "date-time":
			all = [][2]string{{"a word", "yesterday"}, {"a date", text[:len("2006-01-02")]}, {"X, not T", strings.Replace(text, "T", "X", 1)}, {"month 13", "2026-13-01T00:00:00Z"}, {"February 30", "2026-02-30T00:00:00Z"}, {"hour 25", "2026-01-01T25:00:00Z"}, {"more behind it", text + "x"}}
		default:
			return
		}
		for _, c := range append(all, [2]string{"an empty text", ""}) {
			if !yield(c[0], c[1]) {
				return
			}
		}
	}
}

// bounds breaks minimum and maximum.
func (m *maker) bounds(schema *openapi3.Schema, value any, path []any) {
	if _, is := value.(float64); !is {
		return
	}
	if schema.Min != nil {
		m.put(path, *schema.Min-1, "minimum", "one below the minimum")
	}
	if schema.Max != nil {
		m.put(path, *schema.Max+1, "maximum", "one above the maximum")
	}
}

func (m *maker) put(path []any, value any, keyword, change string) {
	m.edit(path, keyword, change, value)
}

// dropped has edit leave a member out.
type dropped struct{}

func (m *maker) drop(path []any) {
	m.edit(path, "required", "without "+fmt.Sprint(path[len(path)-1]), dropped{})
}

// edit yields the answer with another value at the path.
func (m *maker) edit(path []any, keyword, change string, value any) {
	var body any
	if json.Unmarshal(m.Body, &body) != nil {
		return
	}
	changed, err := json.Marshal(replaced(body, path, value))
	if err != nil {
		return
	}
	x := m.Exchange
	x.Body = changed
	if _, drops := value.(dropped); drops {
		path = path[:len(path)-1]
	}
	m.emit(x, path, keyword, change)
}

// replaced returns the body with the value at the path.
func replaced(body any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		object := body.(map[string]any)
		if _, drops := value.(dropped); drops && len(path) == 1 {
			delete(object, step)
			return object
		}
		object[step] = replaced(object[step], path[1:], value)
	case int:
		list := body.([]any)
		list[step] = replaced(list[step], path[1:], value)
	}
	return body
}

// pointer is the path as a JSON pointer. No field of the interface has a name that needs escaping.
func pointer(path []any) string {
	var b strings.Builder
	for _, step := range path {
		fmt.Fprintf(&b, "/%v", step)
	}
	return b.String()
}
