package hostile

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// limit is the number of bytes of a body that the suite reads.
const limit = 8 << 20

// text is a text in parts. It may be endless.
type text []part

// part is a string, or a repeated text.
type part struct {
	once    string
	item    text
	times   int
	fill    bool // repeat the item up to the limit
	forever bool
}

// UnmarshalYAML reads a string, a repeated text, or a list of texts.
func (t *text) UnmarshalYAML(node *yaml.Node) error {
	var p part
	switch node.Kind {
	case yaml.ScalarNode:
		*t = text{p}
		return node.Decode(&(*t)[0].once)
	case yaml.MappingNode:
		count := node.Content[0].Value
		p.fill, p.forever = count == "fill", count == "forever"
		if !p.fill && !p.forever {
			times, err := strconv.Atoi(count)
			if err != nil {
				return fmt.Errorf("invalid count %q: write a number, fill or forever", count)
			}
			p.times = times
		}
		err := node.Content[1].Decode(&p.item)
		*t = text{p}
		return err
	}
	for _, inner := range node.Content {
		var some text
		if err := inner.Decode(&some); err != nil {
			return err
		}
		*t = append(*t, some...)
	}
	return nil
}

func (t text) endless() bool { return slices.ContainsFunc(t, func(p part) bool { return p.forever }) }

// String returns the text, which must not be endless.
func (t text) String() string {
	var b strings.Builder
	_ = t.write(&b) // cannot fail in memory
	return b.String()
}

// write writes the text. It stops at the first error, which means that the client has closed the connection.
func (t text) write(w io.Writer) error {
	room := limit
	for _, p := range t {
		room -= len(p.once)
	}
	for _, p := range t {
		if _, err := io.WriteString(w, p.once); err != nil {
			return err
		}
		if err := p.repeat(w, room); err != nil {
			return err
		}
	}
	return nil
}

// repeat writes the item of a repeated text. room is the number of bytes that remain for "fill".
func (p part) repeat(w io.Writer, room int) error {
	item, times := p.item.String(), p.times
	if p.fill {
		times = room / len(item)
	}
	before, after, numbered := strings.Cut(item, "#")
	for i := 0; i < times || p.forever; i++ {
		if numbered {
			item = before + strconv.Itoa(i) + after
		}
		if i == times-1 {
			item = strings.TrimSuffix(item, ",")
		}
		if _, err := io.WriteString(w, item); err != nil {
			return err
		}
	}
	return nil
}
