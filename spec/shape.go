package spec

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// shape says at which places of a JSON value names of the interface are renamed. A nil shape has none.
type shape struct {
	keys     names
	required map[string]bool   // renamed keys without which an object breaks its schema
	inner    map[string]*shape // by the interface's name of the key
	items    *shape
	values   names           // of a string
	closed   bool            // no other value is allowed
	allowed  map[string]bool // values as the target spells them
}

// names maps between the interface's names and the target's at one place.
type names struct{ toWire, fromWire map[string]string }

// Unmapped marks, in what was translated from a target, a name of the interface that the vocabulary has renamed: at such a
// place it is the target's own word, and not what the interface means by it.
const Unmapped = "unmapped "

// renamed makes the names of one place. It returns nothing where no name of the place is renamed.
func (b *shapes) renamed(here []string) names {
	words := b.vocabulary.words
	n := names{map[string]string{}, map[string]string{}}
	spelt := map[string]string{}
	for _, name := range here {
		as := name
		if words[name] != "" {
			as = words[name]
			n.toWire[name], n.fromWire[as] = as, name
		}
		if other, twice := spelt[as]; twice {
			b.clash(name, other, as)
		}
		spelt[as] = name
	}
	for name := range n.toWire {
		if _, used := spelt[name]; !used {
			n.fromWire[name] = Unmapped + name
		}
	}
	return n
}

func (n names) none() bool { return len(n.toWire) == 0 }

// clash notes that two names would be the same.
func (b *shapes) clash(one, other, as string) {
	if b.vocabulary.words[one] == "" {
		one, other = other, one
	}
	b.clashes[one] = fmt.Sprintf("is %q, and so is %q", as, other)
}

// shapes makes the shapes of schemas.
type shapes struct {
	vocabulary *Vocabulary
	root       *yaml.Node // of the document
	known      map[*yaml.Node]*shape
	clashes    map[string]string
}

// of is the shape of a schema; nil where nothing in it is renamed. No schema of the documents contains itself.
func (b *shapes) of(schema *yaml.Node) *shape {
	if schema == nil {
		return nil
	}
	if s, known := b.known[schema]; known {
		return s
	}
	s := &shape{required: map[string]bool{}, inner: map[string]*shape{}}
	var keys []string
	sources := []*yaml.Node{schema}
	for _, name := range texts(schema, extReadOnly) {
		sources = append(sources, lookup(b.root, "#/components/schemas/"+name))
	}
	for _, source := range sources {
		for name, property := range fields(child(source, "properties")) {
			if slices.Contains(keys, name) {
				continue
			}
			keys = append(keys, name)
			b.vocabulary.kinds[name] = FieldWord
			if inner := b.of(property); inner != nil {
				s.inner[name] = inner
			}
		}
	}
	for _, name := range texts(schema, "required") {
		if !slices.Contains(keys, name) { // a field of any type
			keys = append(keys, name)
			b.vocabulary.kinds[name] = FieldWord
		}
	}
	s.keys = b.renamed(keys)
	for _, name := range texts(schema, "required") {
		s.required[name] = s.keys.toWire[name] != ""
	}
	s.items = b.of(child(schema, "items"))
	b.valuesOf(s, schema)
	if s.keys.none() && s.values.none() && len(s.inner) == 0 && s.items == nil {
		s = nil
	}
	b.known[schema] = s
	return s
}

// valuesOf adds the values of a string that the schema lists.
func (b *shapes) valuesOf(s *shape, schema *yaml.Node) {
	values := append(texts(schema, "enum"), texts(schema, extKnownValues)...)
	for _, value := range values {
		if b.vocabulary.kinds[value] == "" {
			b.vocabulary.kinds[value] = ValueWord
		}
	}
	s.values, s.closed, s.allowed = b.renamed(values), child(schema, "enum") != nil, map[string]bool{}
	for _, value := range values {
		s.allowed[b.vocabulary.OnWire(value)] = true
	}
	for name := range s.values.toWire {
		b.vocabulary.rivals[name] = nil
		for rival := range s.values.toWire {
			b.vocabulary.rivals[name] = append(b.vocabulary.rivals[name], rival)
		}
	}
}

// parameter is the shape of a query parameter: its name as a key, and its values, or those of its items.
func (b *shapes) parameter(declared *yaml.Node) *shape {
	name := text(declared, "name")
	if b.vocabulary.kinds[name] != FieldWord {
		b.vocabulary.kinds[name] = ParameterWord
	}
	s := &shape{keys: b.renamed([]string{name})}
	schema := child(declared, "schema")
	if items := text(declared, extCommaSeparated); items != "" {
		schema = lookup(b.root, "#/components/schemas/"+items)
	}
	b.valuesOf(s, schema)
	return s
}

// visit visits the names of a shape and of all in it.
func (s *shape) visit(see func(toWire map[string]string)) {
	if s == nil {
		return
	}
	see(s.keys.toWire)
	see(s.values.toWire)
	s.items.visit(see)
	for _, inner := range s.inner {
		inner.visit(see)
	}
}
