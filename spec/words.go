package spec

import (
	"maps"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// enums returns the fields with listed values. A shared list is returned for its first field only.
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

// RevisionStatuses returns the 13 values of a revision's status (interface, section 3), in the order of the interface.
func RevisionStatuses() []string { return texts(schemas()["RevisionStatus"].Value.Enum) }

// FailedStatuses returns the statuses that clients in the field take for a final failure.
func FailedStatuses() []string {
	failed, _ := schemas()["RevisionStatus"].Value.Extensions["x-failed"].([]any)
	return texts(failed)
}

// Sources returns the values of a revision's source (interface, section 2).
func Sources() []string { return texts(schemas()["Source"].Value.Enum) }

// schemas returns the schemas of the control plane, without the cost of an oracle.
var schemas = sync.OnceValue(func() openapi3.Schemas {
	model, err := openapi3.NewLoader().LoadFromData(controlPlaneDocument)
	if err != nil {
		panic("the embedded document cannot be read: " + err.Error()) // only with a broken build
	}
	return model.Components.Schemas
})
