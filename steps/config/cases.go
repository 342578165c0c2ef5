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

// The cases of a refusal. The keys of a PerCase have the first two names.
const (
	Missing RefusalCase = "missing" // the request has no credentials
	Invalid RefusalCase = "invalid" // the handler does not accept the credentials
	Either  RefusalCase = "either"  // the handler may take it for one or the other: an empty token, another scheme
)

// OneOrMore lists the values that a server may use. A file contains one value or a list.
type OneOrMore[T int | string] []T

// PerCase lists the values that the authentication handler may use in each case. An empty list means unknown. A file
// contains one value or list for both cases, or a mapping with the keys missing and invalid.
type PerCase[T int | string] struct {
	Missing OneOrMore[T] `yaml:"missing"`
	Invalid OneOrMore[T] `yaml:"invalid"`
}

// Always returns the choice of a handler that uses the same values in both cases.
func Always[T int | string](values ...T) PerCase[T] { return PerCase[T]{values, values} }

// IsZero reports whether nothing is known of either case.
func (p PerCase[T]) IsZero() bool { return len(p.Missing) == 0 && len(p.Invalid) == 0 }

// For returns the values of a case. For Either they are those of both cases, or none if one of these is unknown.
func (p PerCase[T]) For(c RefusalCase) []T {
	switch {
	case c == Missing:
		return p.Missing
	case c == Invalid:
		return p.Invalid
	case len(p.Missing) == 0 || len(p.Invalid) == 0:
		return nil
	}
	both := slices.Concat(p.Missing, p.Invalid)
	slices.Sort(both)
	return slices.Compact(both)
}

// Words returns the values of a case for a message, such as "401 or 403", or "" if there are none.
func (p PerCase[T]) Words(c RefusalCase) string {
	var all []string
	for _, value := range p.For(c) {
		all = append(all, fmt.Sprintf("%#v", value))
	}
	return strings.Join(all, " or ")
}

// MarshalYAML returns the shortest form that a file may have.
func (p PerCase[T]) MarshalYAML() (any, error) {
	if slices.Equal(p.Missing, p.Invalid) {
		return p.Missing.MarshalYAML()
	}
	return map[RefusalCase]any{Missing: p.Missing, Invalid: p.Invalid}, nil
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

// isPlainText reports whether a variable contains plain text, and not YAML, for a key that takes strings.
func isPlainText(text string, t reflect.Type) bool {
	isText := t == reflect.TypeFor[OneOrMore[string]]() || t == reflect.TypeFor[PerCase[string]]()
	begins := strings.TrimSpace(text)
	return isText && !strings.HasPrefix(begins, "[") && !strings.HasPrefix(begins, "{")
}

// listOf returns a list that contains the node.
func listOf(n *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Column: n.Column, Content: []*yaml.Node{n}}
}

// forEachCase returns a mapping that contains the node once per case.
func forEachCase(n *yaml.Node) *yaml.Node {
	both := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	for _, c := range []RefusalCase{Missing, Invalid} {
		both.Content = append(both.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(c)}, n)
	}
	return both
}
