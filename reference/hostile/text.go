package hostile

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// limit is how much of a body the suite reads.
const limit = 8 << 20

// text is what is sent, in parts.
type text []part

// part is a text that is sent once, or one that is repeated.
type part struct {
	once    string
	item    text
	times   int
	fill    bool // as often as the limit allows
	forever bool
}

// UnmarshalYAML reads a string, a text that is repeated, or a list of texts.
func (t *text) UnmarshalYAML(node *yaml.Node) error {
	var p part
	switch node.Kind {
	case yaml.ScalarNode:
		*t = text{p}
		return node.Decode(&(*t)[0].once)
	case yaml.MappingNode:
		var err error
		how := node.Content[0].Value
		p.fill, p.forever = how == "fill", how == "forever"
		if !p.fill && !p.forever {
			p.times, err = strconv.Atoi(how)
		}
		err = errors.Join(err, node.Content[1].Decode(&p.item))
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

// endless tells whether the text has no end.
func (t text) endless() bool { return slices.ContainsFunc(t, func(p part) bool { return p.forever }) }

func (t text) String() string {
	var b strings.Builder
	_ = t.write(&b) // into memory
	return b.String()
}

// write sends the text until an error, which means that the client has gone.
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
