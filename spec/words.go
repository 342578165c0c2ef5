package spec

import (
	"slices"
	"sync"

	"github.com/pb33f/libopenapi/datamodel/high/base"
	"go.yaml.in/yaml/v4"
)

// enum is a field that takes one of several values.
type enum struct {
	name   string // "Revision.status"
	values []string
}

// enums finds the fields with listed values. A list with a name of its own is reported for the first field that has it.
func (c *compiler) enums() []enum {
	var result []enum
	seen := map[string]bool{}
	for name, proxy := range c.model.Components.Schemas.FromOldest() {
		properties := proxy.Schema().Properties
		if properties == nil {
			continue
		}
		for field, property := range properties.FromOldest() {
			schema := property.Schema()
			values := valuesOf(schema)
			reference := property.GetReference()
			if len(values) == 0 || reference != "" && seen[reference] {
				continue
			}
			seen[reference] = true
			result = append(result, enum{name: name + "." + field, values: values})
		}
	}
	return result
}

func valuesOf(schema *base.Schema) []string {
	if len(schema.Enum) > 0 {
		return texts(schema.Enum)
	}
	return listed(schema, extKnownValues)
}

func listed(schema *base.Schema, extension string) []string {
	if node := schema.Extensions.GetOrZero(extension); node != nil {
		return texts(node.Content)
	}
	return nil
}

// Enums lists the values of each field that has a list of them, by names such as "Revision.status". For "Message.type" and
// "CreateRun.multitask_strategy" these are the values that the interface names; others are allowed.
func (o *Oracle) Enums() map[string][]string {
	result := make(map[string][]string, len(o.enums))
	for name, values := range o.enums {
		result[name] = slices.Clone(values)
	}
	return result
}

// RevisionStatuses lists the thirteen values of a revision's status (interface, section 3), in the order of the interface.
func RevisionStatuses() []string { return slices.Clone(named().RevisionStatus.Enum) }

// FailedStatuses lists those that clients in the field take for a final failure.
func FailedStatuses() []string { return slices.Clone(named().RevisionStatus.Failed) }

// Sources lists the values of a revision's source (interface, section 2).
func Sources() []string { return slices.Clone(named().Source.Enum) }

type namedSchemas struct {
	RevisionStatus struct {
		Enum   []string `yaml:"enum"`
		Failed []string `yaml:"x-failed"`
	} `yaml:"RevisionStatus"`
	Source struct {
		Enum []string `yaml:"enum"`
	} `yaml:"Source"`
}

// named reads the lists without the cost of an oracle.
var named = sync.OnceValue(func() namedSchemas {
	var document struct {
		Components struct {
			Schemas namedSchemas `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(controlPlaneDocument, &document); err != nil {
		panic("the embedded document cannot be read: " + err.Error()) // only a broken build can have it
	}
	return document.Components.Schemas
})
