package spec

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// parse reads a document as a tree in which what a reference names stands in the place of the reference. No reference of
// ours leads out of its document, and a schema that contains itself is an error.
func parse(document []byte) (*yaml.Node, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(document, &file); err != nil {
		return nil, err
	}
	if len(file.Content) == 0 || file.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not an object")
	}
	root := file.Content[0]
	return root, dereference(root, root, nil)
}

// dereference replaces the references below a node. above are the nodes that it is part of.
func dereference(root, node *yaml.Node, above []*yaml.Node) error {
	if slices.Contains(above, node) {
		return fmt.Errorf("line %d: it contains itself", node.Line)
	}
	above = append(above, node)
	for i, part := range node.Content {
		if reference := child(part, "$ref"); reference != nil {
			named := lookup(root, reference.Value)
			if named == nil || len(part.Content) > 2 {
				return fmt.Errorf("line %d: no schema %q, or the $ref has sibling keys", reference.Line, reference.Value)
			}
			node.Content[i] = named
		}
		if err := dereference(root, node.Content[i], above); err != nil {
			return err
		}
	}
	return nil
}

// lookup finds what a reference such as "#/components/schemas/Run" names.
func lookup(root *yaml.Node, reference string) *yaml.Node {
	path, local := strings.CutPrefix(reference, "#/")
	if !local {
		return nil
	}
	for step := range strings.SplitSeq(path, "/") {
		root = child(root, step)
	}
	return root
}

// child is the value of a key; nil where there is none.
func child(node *yaml.Node, key string) *yaml.Node {
	for name, value := range fields(node) {
		if name == key {
			return value
		}
	}
	return nil
}

// fields lists keys and values in the order of the document; none if the node is not an object.
func fields(node *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i].Value, node.Content[i+1]) {
				return
			}
		}
	}
}

// items lists the items of a list; none if the node is not a list.
func items(node *yaml.Node) []*yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

// text is the scalar under a key; "" where there is none.
func text(node *yaml.Node, key string) string {
	if value := child(node, key); value != nil {
		return value.Value
	}
	return ""
}

// flag tells whether the value of a key is true.
func flag(node *yaml.Node, key string) bool { return text(node, key) == "true" }

// texts is the list of scalars under a key.
func texts(node *yaml.Node, key string) []string {
	var result []string
	for _, item := range items(child(node, key)) {
		result = append(result, item.Value)
	}
	return result
}
