package spec

import "go.yaml.in/yaml/v4"

// NewIn makes an oracle that judges the requests and answers of a target with names of its own, as they are on the wire: the
// documents are compiled with the target's names in the place of the interface's. To judge an exchange so is the same as to
// judge a copy of it that was translated, except that pointers, and what was expected, have the target's names, and that the
// text itself (duplicate keys, trailing bytes, numbers) is judged as it came.
func NewIn(v *Vocabulary) (*Oracle, error) {
	return newOracle(func(root *yaml.Node) {
		if !v.Empty() {
			v.rename(root, map[*yaml.Node]bool{})
		}
	})
}

// rename puts the target's names into the schemas and parameters of a document. Of what several places share there is one
// node.
func (v *Vocabulary) rename(node *yaml.Node, visited map[*yaml.Node]bool) {
	if visited[node] {
		return
	}
	visited[node] = true
	if text(node, "in") == "query" {
		v.respell(child(node, "name"))
	}
	for name, part := range fields(node) {
		switch name {
		case "schemas":
			for _, schema := range fields(part) {
				v.renameSchema(schema, visited)
			}
		case "schema":
			v.renameSchema(part, visited)
		}
	}
	for _, part := range node.Content {
		v.rename(part, visited)
	}
}

func (v *Vocabulary) renameSchema(schema *yaml.Node, visited map[*yaml.Node]bool) {
	if schema == nil || visited[schema] {
		return
	}
	visited[schema] = true
	for _, list := range []string{"required", "enum", extKnownValues} {
		for _, name := range items(child(schema, list)) {
			v.respell(name)
		}
	}
	properties := child(schema, "properties")
	for _, property := range fields(properties) {
		v.renameSchema(property, visited)
	}
	if properties != nil {
		for i := 0; i < len(properties.Content); i += 2 {
			v.respell(properties.Content[i])
		}
	}
	v.renameSchema(child(schema, "items"), visited)
}

func (v *Vocabulary) respell(name *yaml.Node) {
	name.Value = v.OnWire(name.Value)
	name.Tag, name.Style = "!!str", yaml.DoubleQuotedStyle // a target's name may look like a number
}
