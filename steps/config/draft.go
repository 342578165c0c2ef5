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

// Draft is a configuration file that is being written for a new target: keys with values, and keys that are left as
// comments, each with how its value was learned or what to put there. It never holds a secret: keys of credentials are
// only ever suggested.
type Draft map[string]draftLine

type draftLine struct {
	value any // the keys below where it is nil
	set   bool
	why   []string
}

// NewDraft returns a draft that suggests each key for which the table of keys has an example.
func NewDraft() Draft {
	d := Draft{}
	for key, known := range keys {
		if known.Example != nil {
			d.Suggest(key, known.Example)
		}
	}
	return d
}

// Set gives a key a value, with how it was learned: one line for each, of text that is safe to show.
func (d Draft) Set(key string, value any, how ...string) { d[key] = draftLine{value, true, how} }

// Suggest leaves a key as a comment with an example, and says what to put there. Where it is nil, the example is that
// of the table of keys.
func (d Draft) Suggest(key string, example any, what ...string) {
	if example == nil {
		example = keys[key].Example
	}
	d[key] = draftLine{example, false, what}
}

// Remove leaves out keys, and those below them.
func (d Draft) Remove(groups ...string) {
	maps.DeleteFunc(d, func(key string, _ draftLine) bool {
		return slices.ContainsFunc(groups, func(group string) bool { return inside(key, group) })
	})
}

// Count returns how many keys have values, and how many are left as comments.
func (d Draft) Count() (set, open int) {
	for _, line := range d {
		if line.set {
			set++
		}
	}
	return set, len(d) - set
}

// YAML writes the configuration as a file that Load reads, with what each key is for. It holds the credentials.
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

// Text is the file. Load reads it.
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

// has tells whether the draft has the key, or one below it; with a value, where only these count.
func (d Draft) has(key string, set bool) bool {
	for known, line := range d {
		if (line.set || !set) && inside(known, key) {
			return true
		}
	}
	return false
}

// writeKey writes a key with its comments. The indent of a group that is a comment begins with "#".
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
		panic(err) // strings, numbers, lists and maps of them
	}
	for each := range strings.Lines(text.String()) {
		out.WriteString(indent + each)
	}
}

// comment writes a text in lines of readable length.
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
