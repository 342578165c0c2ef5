package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/steps/config/spelling"
)

// environmentsKey holds the named environments of a file: each has keys of the configuration that are laid over the others.
const environmentsKey = "environments"

// environment is one of the named sets of keys of a file.
type environment struct {
	name string
	keys *yaml.Node
}

// takeEnvironments removes the environments from the mapping of a file, and checks each of them.
func (l *loader) takeEnvironments(root *yaml.Node, source string) (all []environment) {
	mistake := func(line int, key, problem, remedy string) {
		l.mistaken(&Error{Source: fmt.Sprintf("%s:%d", source, line), Key: key, Problem: problem, Remedy: remedy})
	}
	taken := 0
	for at := indexOf(root, environmentsKey); at >= 0; at = indexOf(root, environmentsKey) {
		name, group := root.Content[at], resolved(root.Content[at+1])
		root.Content = slices.Delete(root.Content, at, at+2)
		taken++
		switch {
		case taken > 1:
			mistake(name.Line, environmentsKey, "is set twice", "remove one of the two")
		case group.Tag == "!!null":
		case group.Kind != yaml.MappingNode:
			mistake(group.Line, environmentsKey, "is "+describe(group), "use the names of environments, each with keys of the configuration")
		default:
			for i := 0; i+1 < len(group.Content); i += 2 {
				e := environment{group.Content[i].Value, resolved(group.Content[i+1])}
				if slices.ContainsFunc(all, func(had environment) bool { return had.name == e.name }) {
					mistake(group.Content[i].Line, join(environmentsKey, e.name), "is set twice", "remove one of the two")
				}
				all = append(all, e)
				l.takeFiles(e.keys, source, e.place())
				l.mistaken(e.check(source)...)
			}
		}
	}
	return all
}

// place follows the line in the place of a key.
func (e environment) place() string { return fmt.Sprintf(" (environment %s)", e.name) }

// check checks the keys of an environment: all keys of a configuration but environments.
func (e environment) check(source string) []*Error {
	if e.keys.Tag == "!!null" {
		return nil
	}
	key := join(environmentsKey, e.name)
	problems := check(e.keys, reflect.TypeFor[Config](), source, "")
	if at := indexOf(e.keys, environmentsKey); at >= 0 {
		problems = append(problems, &Error{Source: fmt.Sprintf("%s:%d", source, e.keys.Content[at].Line), Key: join(key, environmentsKey),
			Problem: "an environment within an environment", Remedy: "move it beside " + key})
	}
	for _, p := range problems {
		if p.Key == "" {
			p.Key = key
		}
		p.Source += e.place()
	}
	return problems
}

// overlay lays the chosen environment over the mapping of a file: mappings key by key, everything else as a whole.
func (l *loader) overlay(root *yaml.Node, source string, all []environment, chosen string) error {
	if chosen == "" {
		return nil
	}
	at := slices.IndexFunc(all, func(e environment) bool { return e.name == chosen })
	if at < 0 {
		return unknownEnvironment(source, chosen, all)
	}
	if e := all[at]; e.keys.Kind == yaml.MappingNode {
		*root = *laidOver(root, e.keys, new(int))
		l.from.read(e.keys, source, "", e.place())
	}
	return nil
}

func unknownEnvironment(source, name string, all []environment) error {
	e := &Error{Source: "flag --env", Problem: fmt.Sprintf("%s has no environment %q", source, name)}
	if len(all) == 0 {
		e.Remedy = fmt.Sprintf("it has none: add it below the key %s, or remove the flag", environmentsKey)
		return e
	}
	var names []string
	for _, known := range all {
		names = append(names, known.name)
	}
	e.Remedy = "known environments: " + strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		e.Remedy = fmt.Sprintf("did you mean %q? %s", near, e.Remedy)
	}
	return e
}

// laidOver returns the mapping below with the keys of the one above it; neither is changed, since both may be anchors. Mappings are
// merged up to a number that no configuration has: an anchor may contain itself.
func laidOver(below, above *yaml.Node, merges *int) *yaml.Node {
	const most = 1000
	*merges++
	merged := *below
	merged.Content = slices.Clone(below.Content)
	for i := 0; i+1 < len(above.Content); i += 2 {
		name, value := above.Content[i], above.Content[i+1]
		at := indexOf(&merged, name.Value)
		switch {
		case at < 0:
			merged.Content = append(merged.Content, name, value)
		case *merges < most && resolved(merged.Content[at+1]).Kind == yaml.MappingNode && resolved(value).Kind == yaml.MappingNode:
			merged.Content[at+1] = laidOver(resolved(merged.Content[at+1]), resolved(value), merges)
		default:
			merged.Content[at+1] = value
		}
	}
	return &merged
}

// indexOf is where a mapping has the key; -1 where it has none, or is no mapping.
func indexOf(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// read records the line of every key of a mapping or list, with what follows the line. The content of an alias has the line of the
// alias. What was recorded of a key that is replaced, and of all below it, is forgotten.
func (o origins) read(n *yaml.Node, source, key, after string) {
	at := func(line int) string { return fmt.Sprintf("%s:%d%s", source, line, after) }
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			below, value := join(key, n.Content[i].Value), n.Content[i+1]
			if resolved(value).Kind == yaml.MappingNode {
				o[below] = at(n.Content[i].Line)
			} else {
				o.note(below, at(n.Content[i].Line))
			}
			o.read(value, source, below, after)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			below := join(key, strconv.Itoa(i))
			o[below] = at(item.Line)
			o.read(item, source, below, after)
		}
	}
}
