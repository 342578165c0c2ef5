package deviate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agentconform/agentconform/spec"
)

// Document is what the OpenAPI documents say of operations, and of what stands in their requests and answers.
type Document struct {
	oracle     *spec.Oracle // finds the operation of a request
	operations map[string]Operation
	words      map[string]bool // the names of members
}

// Operation is an operation of the interface.
type Operation struct {
	spec.Operation
	declared *openapi3.Operation
}

// Documents are both documents, read once.
var Documents = sync.OnceValue(func() *Document {
	d, err := read()
	if err != nil {
		panic(err) // they are embedded, and tests compile them
	}
	return d
})

func read() (*Document, error) {
	oracle, err := spec.New()
	if err != nil {
		return nil, err
	}
	d := &Document{oracle, map[string]Operation{}, map[string]bool{"detail": true}}
	for _, side := range spec.Sides() {
		document, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("the document of the %s: %w", side, err)
		}
		for _, declared := range oracle.Operations(side) {
			op := Operation{declared, document.Paths.Value(declared.Path).GetOperation(declared.Method)}
			d.operations[op.ID] = op
			for _, at := range slices.Concat(op.AnswerPlaces(true), op.AnswerPlaces(false), op.RequestPlaces()) {
				for name := range strings.SplitSeq(at, ".") {
					d.words[name] = true
				}
			}
		}
	}
	return d, nil
}

// Operations are those of the interface, without vendor extensions, in the order of the documents.
func (d *Document) Operations() (all []Operation) {
	for _, side := range spec.Sides() {
		for _, op := range d.oracle.Operations(side) {
			if !op.Field {
				all = append(all, d.operations[op.ID])
			}
		}
	}
	return all
}

// unknownPath stands for the operations of a half that its document does not have.
func unknownPath(side spec.Side) string { return "unknown-path-of-" + string(side) }

// named are the operations with an ID, the interface's own of a half ("control-plane"), every one of a half with vendor
// extensions and unknown paths ("every control-plane"), or all.
func (d *Document) named(name string) (ids []string, err error) {
	half, every := strings.CutPrefix(name, "every ")
	for _, side := range spec.Sides() {
		for _, op := range d.oracle.Operations(side) {
			if op.ID == name || name == "all" || half == string(side) && (every || !op.Field) {
				ids = append(ids, op.ID)
			}
		}
		if id := unknownPath(side); id == name || name == "all" || half == string(side) && every {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		err = fmt.Errorf("no document has an operation %q", name)
	}
	return ids, err
}

// places lists the places that a schema names ("resources.*.id"), outer ones first, without the value itself.
func places(schema *openapi3.Schema) (all []string) {
	if schema == nil {
		return nil
	}
	if schema.Items != nil && schema.Items.Value != nil {
		for _, inner := range places(schema.Items.Value) {
			all = append(all, "*."+inner)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		all = append(all, name)
		for _, inner := range places(schema.Properties[name].Value) {
			all = append(all, name+"."+inner)
		}
	}
	return all
}

// AnswerPlaces lists the places that the answers may have: of success or of refusal.
func (op Operation) AnswerPlaces(success bool) []string {
	found := map[string]bool{}
	for status, response := range op.declared.Responses.Map() {
		media := response.Value.Content["application/json"]
		if media == nil || strings.HasPrefix(status, "2") != success {
			continue
		}
		for _, p := range places(media.Schema.Value) {
			found[p] = true
		}
	}
	if !success && len(found) == 0 {
		found["detail"] = true // the body is open; this is the member that the interface shows of refusals
	}
	return slices.Sorted(maps.Keys(found))
}

// RequestPlaces lists the places of a request.
func (op Operation) RequestPlaces() []string {
	if op.declared.RequestBody == nil {
		return nil
	}
	return places(op.declared.RequestBody.Value.Content["application/json"].Schema.Value)
}

// check wants a place to have a name that the documents have: a parameter of one of the operations, or a member of any
// request or answer. What is read-only in an answer may be sent, too, and the documents are open.
func (d *Document) check(p place, operations []string) error {
	names := p[1:]
	for len(names) > 0 && isItem.MatchString(names[0]) {
		names = names[1:]
	}
	if len(names) == 0 || !p.is(append(lookedUp, "query", "path", "request", "answer", "each")...) {
		return nil
	}
	for _, id := range operations {
		op := d.operations[id]
		if p.is("query", "path") {
			if slices.ContainsFunc(op.Parameters, func(q spec.Parameter) bool { return q.Name == names[0] && q.In == p[0] }) {
				return nil
			}
		} else if d.words[names[0]] {
			return nil
		}
	}
	return fmt.Errorf("%s is no place of %s", p, strings.Join(operations, " or "))
}

var isItem = regexp.MustCompile(`^(\*|-?\d+-?|\[.*\])$`)
