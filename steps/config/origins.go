package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// origins says where each key was given: "agentconform.yaml:12", "environment AGENTCONFORM_TARGET". The empty key stands
// for the whole.
type origins map[string]string

// note says where a key has its value from, and with it all that stands below.
func (o origins) note(key, at string) {
	for known := range o {
		if strings.HasPrefix(known, key+".") {
			delete(o, known)
		}
	}
	o[key] = at
}

// read notes every key of a file. What an alias stands for is where the alias is.
func (o origins) read(n *yaml.Node, source, key string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			below := join(key, n.Content[i].Value)
			o[below] = fmt.Sprintf("%s:%d", source, n.Content[i].Line)
			o.read(n.Content[i+1], source, below)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			below := join(key, strconv.Itoa(i))
			o[below] = fmt.Sprintf("%s:%d", source, item.Line)
			o.read(item, source, below)
		}
	}
}

// of is the place of a key, or of the group in which it is missing.
func (o origins) of(key string) string {
	for {
		if at, known := o[key]; known {
			return at
		}
		cut := strings.LastIndexByte(key, '.')
		if key == "" {
			return "configuration"
		}
		key = key[:max(cut, 0)]
	}
}
