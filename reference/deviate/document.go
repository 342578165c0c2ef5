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

// Document contains the operations of the OpenAPI documents and the members of their requests and responses.
type Document struct {
	oracle     *spec.Oracle // finds the operation of a request
	operations map[string]Operation
	members    map[string]bool // the names of all members
}

// Operation is an operation of the interface.
type Operation struct {
	spec.Operation
	declared *openapi3.Operation
}

// Documents returns both documents. They are read once.
var Documents = sync.OnceValue(func() *Document {
	d, err := read()
	if err != nil {
		panic(err) // impossible: the documents are embedded, and tests read them
	}
	return d
})

// read reads both documents.
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
			for _, at := range slices.Concat(op.ResponsePlaces(true), op.ResponsePlaces(false), op.RequestPlaces()) {
				for name := range strings.SplitSeq(at, ".") {
					d.members[name] = true
				}
			}
		}
	}
	return d, nil
}

// Operations returns the operations of the interface without vendor extensions, in the order of the documents.
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

// unknownPath returns the operation ID of requests for paths that the document of a half does not contain.
func unknownPath(side spec.Side) string { return "unknown-path-of-" + string(side) }

// named returns the IDs of the operations that a row names: by an ID, "all", or a half. "control-plane" means the
// operations of the interface; "every control-plane" adds vendor extensions and unknown paths.
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

// places returns the places that a schema contains, such as "resources.*.id". A place comes before the places inside it.
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

// ResponsePlaces returns the places of successful responses, or of refusals.
func (op Operation) ResponsePlaces(success bool) []string {
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
		found["detail"] = true // the schema is open; the interface shows only this member of refusals
	}
	return slices.Sorted(maps.Keys(found))
}

// RequestPlaces returns the places of a request body.
func (op Operation) RequestPlaces() []string {
	if op.declared.RequestBody == nil {
		return nil
	}
	return places(op.declared.RequestBody.Value.Content["application/json"].Schema.Value)
}

// check returns an error if the first name of a place is neither a parameter of one of the operations nor a member of any
// request or response. A member is accepted in every operation: a client may also send what is read-only.
func (d *Document) check(p place, operations []string) error {
	names := p[1:]
	for len(names) > 0 && isItem.MatchString(names[0]) {
		names = names[1:]
	}
	if len(names) == 0 || !p.hasRoot(append(lookedUp, "query", "path", "request", "answer", "each")...) {
		return nil
	}
	for _, id := range operations {
		op := d.operations[id]
		if p.hasRoot("query", "path") {
			if slices.ContainsFunc(op.Parameters, func(q spec.Parameter) bool { return q.Name == names[0] && q.In == p[0] }) {
				return nil
			}
		} else if d.members[names[0]] {
			return nil
		}
	}
	return fmt.Errorf("%s: the documents have no such place in %s", p, strings.Join(operations, " or "))
}

// isItem matches the names that select items of a list.
var isItem = regexp.MustCompile(`^(\*|-?\d+-?|\[.*\])$`)
