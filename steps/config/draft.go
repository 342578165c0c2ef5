package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Draft is a configuration file that is being written for a new target: keys with values, and keys that are left as comments,
// each with how its value was learned or what to put there. It never holds a secret: keys of credentials are only ever suggested.
type Draft struct {
	lines map[string]*draftLine
}

type draftLine struct {
	value any // the keys below where it is nil
	set   bool
	why   []string
}

// NewDraft returns a draft without keys.
func NewDraft() *Draft { return &Draft{lines: map[string]*draftLine{}} }

// Set gives a key a value, with how it was learned: one line for each, of text that is safe to show.
func (d *Draft) Set(key string, value any, how ...string) {
	d.lines[key] = &draftLine{value, true, how}
}

// Suggest leaves a key as a comment with an example, and says what to put there.
func (d *Draft) Suggest(key string, example any, what ...string) {
	d.lines[key] = &draftLine{example, false, what}
}

// Count returns how many keys have values, and how many are left as comments.
func (d *Draft) Count() (set, open int) {
	for _, line := range d.lines {
		if line.set {
			set++
		} else {
			open++
		}
	}
	return set, open
}

// Value is the value of a key that has one, else nil.
func (d *Draft) Value(key string) any {
	if line := d.lines[key]; line != nil && line.set {
		return line.value
	}
	return nil
}

const draftHead = `# yaml-language-server: $schema=` + SchemaURL + `
# Configuration of agentconform, written by agentconform init. It holds no secrets.
# Lines that begin with "# " and a key are examples: remove the "# " and put your value there.
# agentconform help config describes all keys.
`

// Text is the file. Load reads it.
func (d *Draft) Text() []byte {
	keysText := bytes.NewBufferString(draftHead)
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); d.under(key, false) {
			keysText.WriteByte('\n')
			d.write(keysText, key, "", false)
		}
	}
	return keysText.Bytes()
}

// under tells whether the draft has the key, or one below it; with a value, where only these count.
func (d *Draft) under(key string, set bool) bool {
	for known, line := range d.lines {
		if (line.set || !set) && (known == key || strings.HasPrefix(known, key+".")) {
			return true
		}
	}
	return false
}

// write writes a key with its comments, and the keys below it in the order of the struct. The indent of a group that is a comment
// begins with "# ".
func (d *Draft) write(out *bytes.Buffer, key, indent string, isComment bool) {
	comment(out, indent, keys[key])
	line := d.lines[key]
	if line != nil {
		for _, why := range line.why {
			comment(out, indent, why)
		}
	}
	name := key[strings.LastIndexByte(key, '.')+1:]
	if line != nil && line.value != nil {
		prefix := indent
		if !line.set && !isComment {
			prefix += "# "
		}
		for text := range strings.Lines(asYAML(name, line.value)) {
			out.WriteString(prefix + text)
		}
		return
	}
	if !d.under(key, true) && !isComment {
		indent, isComment = indent+"# ", true
	}
	fmt.Fprintf(out, "%s%s:\n", indent, name)
	each(reflect.ValueOf(Default()), "", func(below string, _ reflect.Value) {
		if rest, inside := strings.CutPrefix(below, key+"."); inside && !strings.Contains(rest, ".") && d.under(below, false) {
			d.write(out, below, indent+"  ", isComment)
		}
	})
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

func asYAML(name string, value any) string {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{name: value}); err != nil {
		panic(err) // strings, numbers, lists and maps of them
	}
	return out.String()
}
