package mutants

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agentconform/agentconform/spec"
)

// contract is what the documents of both halves say, as kin-openapi reads them.
type contract struct {
	oracle     *spec.Oracle // finds the operation of a request
	operations []operation
}

// operation is an operation of the interface.
type operation struct {
	spec.Operation
	declared *openapi3.Operation
}

func read(oracle *spec.Oracle) (*contract, error) {
	c := &contract{oracle: oracle}
	for _, side := range spec.Sides() {
		document, err := openapi3.NewLoader().LoadFromData(spec.Document(side))
		if err != nil {
			return nil, fmt.Errorf("the document of the %s: %w", side, err)
		}
		for _, op := range oracle.Operations(side) {
			if !op.Field {
				c.operations = append(c.operations, operation{op, document.Paths.Value(op.Path).GetOperation(op.Method)})
			}
		}
	}
	return c, nil
}

// is tells whether a request to the reference is one of the operation.
func (c *contract) is(op operation, r *http.Request) bool {
	found, ok := c.find(r)
	return ok && found.ID == op.ID && found.Side == op.Side
}

// find returns the operation of a request to the reference, which serves agent servers below /agents/<deployment id>.
func (c *contract) find(r *http.Request) (spec.Operation, bool) {
	side, path := half(r)
	return c.oracle.Find(side, r.Method, path)
}

func half(r *http.Request) (spec.Side, string) {
	if rest, is := strings.CutPrefix(r.URL.Path, "/agents/"); is {
		_, path, _ := strings.Cut(rest, "/")
		return spec.AgentServer, "/" + path
	}
	return spec.ControlPlane, r.URL.Path
}

// place is a place in a JSON value: names of members, and "*" for each item of a list.
type place []string

func (p place) String() string {
	if len(p) == 0 {
		return "body"
	}
	return strings.Join(p, ".")
}

// places lists the places that a schema names, outer ones first, without the value itself.
func places(schema *openapi3.Schema) (all []place) {
	if schema == nil {
		return nil
	}
	if schema.Items != nil && schema.Items.Value != nil {
		for _, inner := range places(schema.Items.Value) {
			all = append(all, append(place{"*"}, inner...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		all = append(all, place{name})
		for _, inner := range places(schema.Properties[name].Value) {
			all = append(all, append(place{name}, inner...))
		}
	}
	return all
}

// answerPlaces lists the places that the answers of an operation may have: of success and of refusal.
func (op operation) answerPlaces(success bool) []place {
	found := map[string]place{}
	for status, response := range op.declared.Responses.Map() {
		media := response.Value.Content["application/json"]
		if media == nil || strings.HasPrefix(status, "2") != success {
			continue
		}
		for _, p := range places(media.Schema.Value) {
			found[p.String()] = p
		}
	}
	if !success && len(found) == 0 {
		found["detail"] = place{"detail"} // the body is open; this is the member that the interface shows of refusals
	}
	return sorted(found)
}

// bodyPlaces lists the places of a request.
func (op operation) bodyPlaces() []place {
	if op.declared.RequestBody == nil {
		return nil
	}
	return places(op.declared.RequestBody.Value.Content["application/json"].Schema.Value)
}

func sorted(found map[string]place) []place {
	var all []place
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[name])
	}
	return all
}
