package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// RefusalCase is the reason for which the authentication handler refuses a request.
type RefusalCase string

// The cases of a refusal. The keys of a PerCase have the first three names.
const (
	Missing RefusalCase = "missing" // the request has no credentials
	Invalid RefusalCase = "invalid" // the handler does not know the credentials
	Blocked RefusalCase = "blocked" // the handler knows the credentials, and refuses them (agent.blocked_token)
	Either  RefusalCase = "either"  // the handler may see missing or invalid credentials: an empty token, another scheme
)

// OneOrMore lists the values that a server may use. A file contains one value or a list.
type OneOrMore[T int | string] []T

// PerCase lists the values that the authentication handler may use in each case. An empty list means unknown. A file
// contains one value or list for all cases, or a mapping with the keys missing, invalid and blocked.
type PerCase[T int | string] struct {
	Missing OneOrMore[T] `yaml:"missing"`
	Invalid OneOrMore[T] `yaml:"invalid"`
	Blocked OneOrMore[T] `yaml:"blocked"`
}

// Always returns the choice of a handler that uses the same values in all cases.
func Always[T int | string](values ...T) PerCase[T] { return PerCase[T]{values, values, values} }

// IsZero reports whether no case has a value.
func (p PerCase[T]) IsZero() bool {
	return len(p.Missing) == 0 && len(p.Invalid) == 0 && len(p.Blocked) == 0
}

// isOne reports whether all cases have the same values.
func (p PerCase[T]) isOne() bool {
	return slices.Equal(p.Missing, p.Invalid) && slices.Equal(p.Missing, p.Blocked)
}

// For returns the values of a case. For Either, these are the values of missing and invalid credentials. If one of the
// two is unknown, For returns none.
func (p PerCase[T]) For(c RefusalCase) []T {
	switch {
	case c == Missing:
		return p.Missing
	case c == Invalid:
		return p.Invalid
	case c == Blocked:
		return p.Blocked
	case len(p.Missing) == 0 || len(p.Invalid) == 0:
		return nil
	}
	both := slices.Concat(p.Missing, p.Invalid)
	slices.Sort(both)
	return slices.Compact(both)
}

// Words returns the values of a case for a message, such as "401 or 403", or "".
func (p PerCase[T]) Words(c RefusalCase) string {
	var all []string
	for _, value := range p.For(c) {
		all = append(all, fmt.Sprintf("%#v", value))
	}
	return strings.Join(all, " or ")
}

// MarshalYAML returns the shortest form that a file allows.
func (p PerCase[T]) MarshalYAML() (any, error) {
	if p.isOne() {
		return p.Missing.MarshalYAML()
	}
	perCase := map[RefusalCase]any{Missing: p.Missing, Invalid: p.Invalid}
	if len(p.Blocked) > 0 {
		perCase[Blocked] = p.Blocked
	}
	return perCase, nil
}

// MarshalYAML returns the value if there is only one.
func (o OneOrMore[T]) MarshalYAML() (any, error) {
	if len(o) == 1 {
		return o[0], nil
	}
	return []T(o), nil
}

func isOneOrMore(t reflect.Type) bool {
	return t == reflect.TypeFor[OneOrMore[int]]() || t == reflect.TypeFor[OneOrMore[string]]()
}

func isPerCase(t reflect.Type) bool {
	return t == reflect.TypeFor[PerCase[int]]() || t == reflect.TypeFor[PerCase[string]]()
}

// isPlainText reports whether the value of a variable is plain text and not YAML, for a key that takes strings.
func isPlainText(text string, t reflect.Type) bool {
	isText := t == reflect.TypeFor[OneOrMore[string]]() || t == reflect.TypeFor[PerCase[string]]()
	begins := strings.TrimSpace(text)
	return isText && !strings.HasPrefix(begins, "[") && !strings.HasPrefix(begins, "{")
}

// commaList returns the list in a value of a variable that contains words with commas between them ("a,b"), for a key
// that takes a list of strings. It returns nil for other keys, and for YAML or JSON.
func commaList(text string, t reflect.Type) *yaml.Node {
	begins := strings.TrimSpace(text)
	if t != reflect.TypeFor[[]string]() || strings.HasPrefix(begins, "[") || strings.HasPrefix(begins, "- ") {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word != "" {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: word})
		}
	}
	return list
}

func listOf(n *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Column: n.Column, Content: []*yaml.Node{n}}
}

// forEachCase returns a mapping that contains the node once for each case.
func forEachCase(n *yaml.Node) *yaml.Node {
	all := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	for _, c := range []RefusalCase{Missing, Invalid, Blocked} {
		all.Content = append(all.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(c)}, n)
	}
	return all
}
