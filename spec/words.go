package spec

import (
	"maps"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// enums finds the fields with listed values. A named list is reported for the first field that has it.
func (c *compiler) enums() map[string][]string {
	found, seen := map[string][]string{}, map[*openapi3.Schema]bool{}
	names := slices.SortedFunc(maps.Keys(c.model.Components.Schemas), func(a, b string) int {
		return c.place("    "+a+":") - c.place("    "+b+":")
	})
	for _, name := range names {
		properties := c.model.Components.Schemas[name].Value.Properties
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			property := properties[field].Value
			known, _ := property.Extensions[extKnownValues].([]any)
			if values := texts(append(slices.Clone(property.Enum), known...)); len(values) > 0 && !seen[property] {
				seen[property] = true
				found[name+"."+field] = values
			}
		}
	}
	return found
}

// RevisionStatuses lists the thirteen values of a revision's status (interface, section 3), in the order of the
// interface.
func RevisionStatuses() []string { return texts(schemas()["RevisionStatus"].Value.Enum) }

// FailedStatuses lists those that clients in the field take for a final failure.
func FailedStatuses() []string {
	failed, _ := schemas()["RevisionStatus"].Value.Extensions["x-failed"].([]any)
	return texts(failed)
}

// Sources lists the values of a revision's source (interface, section 2).
func Sources() []string { return texts(schemas()["Source"].Value.Enum) }

// schemas are those of the control plane, without the cost of an oracle.
var schemas = sync.OnceValue(func() openapi3.Schemas {
	model, err := openapi3.NewLoader().LoadFromData(controlPlaneDocument)
	if err != nil {
		panic("the embedded document cannot be read: " + err.Error()) // only a broken build can have it
	}
	return model.Components.Schemas
})
