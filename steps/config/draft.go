package config

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Draft is a configuration file for a new target, by key. Some keys have values, and others are comments with an example.
// Each has a comment that describes the origin of the value, or what to write there. A draft never contains a secret, so
// the keys of credentials are comments.
type Draft map[string]draftLine

type draftLine struct {
	value any // nil for a group, whose keys follow
	set   bool
	why   []string
}

// NewDraft returns a draft that suggests each key that has an example in the table of keys.
func NewDraft() Draft {
	d := Draft{}
	for key, known := range keys {
		if known.Example != nil {
			d.Suggest(key, known.Example)
		}
	}
	return d
}

// Set sets a key to a value. Each text in how becomes a comment, and must not contain secrets.
func (d Draft) Set(key string, value any, how ...string) { d[key] = draftLine{value, true, how} }

// Suggest makes a key a comment with an example, and with texts that describe what to write there. If the example is nil,
// it is that of the table of keys.
func (d Draft) Suggest(key string, example any, what ...string) {
	if example == nil {
		example = keys[key].Example
	}
	d[key] = draftLine{example, false, what}
}

// Remove removes keys and groups with all their keys.
func (d Draft) Remove(groups ...string) {
	maps.DeleteFunc(d, func(key string, _ draftLine) bool {
		return slices.ContainsFunc(groups, func(group string) bool { return inside(key, group) })
	})
}

// Count returns how many keys have values, and how many are comments.
func (d Draft) Count() (set, open int) {
	for _, line := range d {
		if line.set {
			set++
		}
	}
	return set, len(d) - set
}

// YAML returns the configuration as a file that Load reads, with comments. It contains the credentials.
func (c *Config) YAML() []byte {
	d := Draft{}
	each(reflect.ValueOf(*c), "", func(key string, v reflect.Value) {
		if (v.Kind() != reflect.Struct || isPerCase(v.Type())) && !strings.HasPrefix(key, "users.") {
			d.Set(key, v.Interface())
		}
	})
	return d.write("# Configuration of agentconform for this target. It contains credentials: keep it secret.\n")
}

const draftHead = `# yaml-language-server: $schema=` + SchemaURL + `
# Configuration of agentconform, written by agentconform init. It holds no secrets.
# Lines that begin with "# " and a key are examples: remove the "# " and put your value there.
# agentconform help config describes all keys.
`

// Text returns the draft as a file that Load reads.
func (d Draft) Text() []byte { return d.write(draftHead) }

func (d Draft) write(head string) []byte {
	out := bytes.NewBufferString(head)
	each(reflect.ValueOf(Default()), "", func(key string, _ reflect.Value) {
		if !d.has(key, false) || strings.HasPrefix(key, "users.") {
			return
		}
		top, _, nested := strings.Cut(key, ".")
		indent := ""
		if nested {
			indent = "  "
		} else {
			out.WriteByte('\n')
		}
		if nested && !d.has(top, true) { // a group without values is a comment
			indent = "#   "
		}
		d.writeKey(out, key, indent)
	})
	return out.Bytes()
}

func (d Draft) Has(key string) bool { return d.has(key, false) }

// has reports whether the draft has the key or a key below it. With onlySet, only keys with a value count.
func (d Draft) has(key string, onlySet bool) bool {
	for known, line := range d {
		if (line.set || !onlySet) && inside(known, key) {
			return true
		}
	}
	return false
}

// writeKey writes a key with its comments. The indent of a key begins with "#" if its whole group is a comment.
func (d Draft) writeKey(out *bytes.Buffer, key, indent string) {
	line := d[key]
	for _, text := range append([]string{keys[key].About}, line.why...) {
		comment(out, indent, text)
	}
	if !d.has(key, true) && !strings.HasPrefix(indent, "#") {
		indent += "# "
	}
	name := key[strings.LastIndexByte(key, '.')+1:]
	if line.value == nil {
		fmt.Fprintf(out, "%s%s:\n", indent, name)
		return
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{name: line.value}); err != nil {
		panic(err) // impossible: the value consists of strings, numbers, lists and maps
	}
	for each := range strings.Lines(text.String()) {
		out.WriteString(indent + each)
	}
}

// comment writes a text as comment lines of limited length.
func comment(out *bytes.Buffer, indent, text string) {
	const width = 120
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != indent+"#" {
			out.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
}
