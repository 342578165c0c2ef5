package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// cells collects the cells of one operation after another.
type cells struct {
	operation string
	all       [][3]string
}

func (c *cells) add(place, classes string) {
	for class := range strings.SplitSeq(classes, ", ") {
		c.all = append(c.all, [3]string{c.operation, place, class})
	}
}

// Cells derives all kinds of requests that a client may send from the documents, always in the same order. Each cell is
// the id of an operation, a place and a class: list-revisions, "query limit", "out of range". Other places are "path
// NAME", "body.FIELD", "credentials", "moment", and "after a refusal", after which the owner checks that nothing has
// changed. Vendor extensions have only cells for credentials.
func Cells() ([][3]string, error) {
	var all [][3]string
	for _, side := range Sides() {
		ofSide, err := cellsOf(side, Document(side))
		if err != nil {
			return nil, err
		}
		all = append(all, ofSide...)
	}
	return all, nil
}

func cellsOf(side Side, document []byte) ([][3]string, error) {
	model, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("reading the %s document: %w", side, err)
	}
	c := &cells{}
	for _, path := range model.Paths.Keys() { // sorted
		item := model.Paths.Value(path)
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			op := item.Operations()[method]
			c.operation = op.OperationID
			c.add("credentials", "absent, another caller's")
			if op.Extensions[extField] != true {
				c.of(side, slices.Concat(item.Parameters, op.Parameters), op)
			}
		}
	}
	return c.all, nil
}

func (c *cells) of(side Side, parameters openapi3.Parameters, op *openapi3.Operation) {
	c.add("credentials", "unknown, empty, near miss, another scheme")
	c.add("query", "an unknown parameter")
	hasID := false
	for _, p := range parameters {
		hasID = hasID || p.Value.In == "path"
		kind := p.Value.Schema.Value.Type.Slice()[0]
		switch {
		case p.Value.Extensions[extCommaSeparated] != nil:
			kind = "list"
		case p.Value.Schema.Value.Enum != nil:
			kind = "enum"
		}
		c.add(p.Value.In+" "+p.Value.Name, classes[p.Value.In+" "+kind])
	}
	if op.RequestBody != nil {
		c.add("body", "not valid JSON")
		c.field("body", op.RequestBody.Value.Content.Get(jsonType).Schema)
	}
	c.add("moment", "right after a write, during a write, twice at the same time, after an update, at the end of the test run")
	if hasID {
		c.add("moment", classes["moment "+string(side)])
	}
	if op.Responses.Value("201") != nil { // operations that only read do not declare it
		c.add("after a refusal", "of its body, of its credentials, of its id, of another caller's")
		c.add("after a refusal during a build or run", "of its body, of its credentials, of another caller's")
	}
}

// classes lists the classes of a value by its place and its type. The type of a comma-separated parameter is "list".
var classes = map[string]string{
	"path string":    "unknown, near miss, of another kind, of another parent, another caller's, not a UUID, upper case",
	"query integer":  "in range, bounds, out of range, not an integer, another spelling, invalid and combined with others" + inQuery,
	"query boolean":  "true or false, not a boolean, another spelling, invalid and combined with others" + inQuery,
	"query string":   "longer, texts" + inQuery,
	"query enum":     "each value, an unknown value, another spelling, invalid and combined with others" + inQuery,
	"query list":     "one item, several items, an item twice, an unknown item, another spelling" + inQuery,
	"body string":    inBody + ", empty, longer, texts",
	"body enum":      inBody + ", an unknown value",
	"body array":     inBody + ", empty",
	"body object":    inBody + ", an unknown field",
	"body integer":   inBody,
	"body boolean":   inBody,
	"body read-only": "a value",

	"moment control-plane": "during a build, after a failed build",
	"moment agent-server":  "after a run, after a failed run, after a rollback",
}

const (
	inQuery = ", empty, repeated, combined with others"
	inBody  = "dropped, of another type, null"
)

// field adds a field and its sub-fields. A required field without a schema may have any value, and counts as a string.
func (c *cells) field(place string, ref *openapi3.SchemaRef) {
	s := cmp.Or(ref, &openapi3.SchemaRef{Value: &openapi3.Schema{Type: &openapi3.Types{"string"}}}).Value
	kind := s.Type.Slice()[0]
	switch {
	case s.Extensions[extField] == true:
		return
	case s.ReadOnly:
		kind = "read-only"
	case len(s.Enum) > 0 || s.Extensions[extKnownValues] != nil:
		kind = "enum"
	case s.Items != nil:
		s = s.Items.Value
	}
	c.add(place, classes["body "+kind])
	names := slices.AppendSeq(slices.Clone(s.Required), maps.Keys(s.Properties))
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 1 {
		c.add(place, "pairs of its fields")
	}
	for _, name := range names {
		c.field(place+"."+name, s.Properties[name])
	}
}
