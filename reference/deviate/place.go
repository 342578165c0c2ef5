package deviate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// place is a root and the names of the members below it.
type place []string

// The roots of places; see the package documentation.
var (
	textRoots   = []string{"query", "header", "path", "answer-header"} // contain texts by name
	lookedUp    = []string{"deployment", "latest", "revisions", "threads", "thread", "state", "run", "before"}
	memoryRoots = []string{"kept", "common"}
	otherRoots  = []string{"sent", "url", "link", "question", "clock", "end", "fresh-id", "home", "owner", "was", "its"}

	answerRoots  = []string{"status", "answer", "each", "answer-header", "body"}
	writtenRoots = slices.Concat([]string{"method", "query", "header", "path", "request"}, answerRoots)
	roots        = slices.Concat(writtenRoots, lookedUp, memoryRoots, otherRoots)
)

// segments matches the elements of a place.
var segments = regexp.MustCompile(`\[[^\]]*\]|[^.]+`)

// parsePlace reads a place and checks its root.
func parsePlace(text string) (place, error) {
	p := place(segments.FindAllString(text, -1))
	if len(p) == 0 || !slices.Contains(roots, p[0]) {
		return nil, fmt.Errorf("invalid place %q: it must start with one of %s", text, strings.Join(roots, ", "))
	}
	return p, nil
}

func (p place) hasRoot(roots ...string) bool { return slices.Contains(roots, p[0]) }

func (p place) inResponse() bool { return p.hasRoot(answerRoots...) }

// String returns the place as a row spells it.
func (p place) String() string { return strings.Join(p, ".") }

// slot is a member of an object, or an item of a list, that a place selects.
type slot struct {
	value any
	has   bool // false if the object has no such member
	set   func(to any)
	its   map[string]any // the object; nil for an item of a list
	name  string         // the name of the member
	owner string         // the IDs of the objects that contain the slot
}

// slots returns the slots at a place in a value. The last name may be that of a missing member.
func slots(value any, at []string, owner string) (all []slot) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			switch {
			case !selects(at[0], i, len(value), item):
			case len(at) == 1:
				all = append(all, slot{value: item, has: true, set: func(to any) { value[i] = to }, owner: owner})
			default:
				all = append(all, slots(item, at[1:], owner)...)
			}
		}
	case map[string]any:
		for _, name := range []string{"id", "thread_id", "run_id"} {
			if id, ok := value[name].(string); ok {
				owner += " " + id
			}
		}
		inner, has := value[at[0]]
		switch {
		case strings.HasPrefix(at[0], "[") && (len(at) == 1 || !selects(at[0], 0, 1, value)):
		case strings.HasPrefix(at[0], "["):
			return slots(value, at[1:], owner)
		case len(at) == 1:
			return []slot{{inner, has, func(to any) { value[at[0]] = to }, value, at[0], owner}}
		default:
			return slots(inner, at[1:], owner)
		}
	}
	return all
}

// selects reports whether a name selects the item with the index i in a list of count items.
func selects(name string, i, count int, item any) bool {
	if inner, ok := strings.CutPrefix(name, "["); ok {
		member, want, _ := strings.Cut(strings.TrimSuffix(inner, "]"), "=")
		if member == "" {
			return textOf(item) == want
		}
		object, _ := item.(map[string]any)
		return object != nil && textOf(object[member]) == want
	}
	if from, open := strings.CutSuffix(name, "-"); open {
		n, err := strconv.Atoi(from)
		return err == nil && i >= n
	}
	n, err := strconv.Atoi(name)
	return name == "*" || err == nil && (n == i || n+count == i && n < 0)
}

// value is a value that a row writes. The texts in the constant may contain places.
type value struct {
	constant any
	places   []place
}

// placeIn matches a place in a text, with its default.
var placeIn = regexp.MustCompile(`<([a-z][^<>\s|]*)(?:\|([^<>]*))?>`)

// isYAML matches values that are YAML. Other values are texts.
var isYAML = regexp.MustCompile(`^([\[{]|"([^"\\]|\\.)*"$|'[^']*'$|-?\d+(\.\d+)?$|(true|false|null)$)`)

// value reads a value and the places in it.
func (l *loader) value(text string) (v value, err error) {
	if found := manyOf.FindStringSubmatch(text); found != nil {
		return l.many(found[1], found[2])
	}
	v = l.text(text)
	if isYAML.MatchString(text) {
		if err := yaml.Unmarshal([]byte(text), &v.constant); err != nil {
			return v, fmt.Errorf("invalid value %q: %w", text, err)
		}
		v.constant = copied(v.constant)
	}
	for _, found := range placeIn.FindAllStringSubmatch(text, -1) {
		_, err := l.place(found[1])
		if err != nil && strings.Contains(found[1], ".") { // without a dot it may be a text such as <h1>
			return v, err
		}
	}
	return v, nil
}

// text returns a value that is a text, even if it looks like YAML.
func (l *loader) text(text string) (v value) {
	v.constant = text
	for _, found := range placeIn.FindAllStringSubmatch(text, -1) {
		if p, err := parsePlace(found[1]); err == nil {
			v.places = append(v.places, p)
		}
	}
	return v
}

// manyOf matches "20 of VALUE".
var manyOf = regexp.MustCompile(`^(\d+) of (.+)$`)

// many reads a list that repeats a value.
func (l *loader) many(number, item string) (v value, err error) {
	n, err := strconv.Atoi(number)
	if err != nil || n > 1000 {
		return v, errors.New("a list of " + number + " values is too long: the maximum is 1000")
	}
	v, err = l.value(item)
	v.constant = slices.Repeat([]any{v.constant}, n)
	return v, err
}

// in returns the value with its places replaced. "was" and "its" are relative to the slot that is changed.
func (v value) in(x *exchange, changed slot) any {
	if len(v.places) == 0 {
		return copied(v.constant)
	}
	return filled(copied(v.constant), func(found []string) (any, bool) {
		p, err := parsePlace(found[1])
		if err != nil {
			return nil, false
		}
		value, has := x.at(p, changed)
		if !has && found[2] != "" {
			return found[2], true
		}
		return copied(value), true
	})
}

// filled replaces the places in the texts of a value. A text that is only a place becomes the value at the place, of any
// type.
func filled(value any, with func(found []string) (any, bool)) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			value[name] = filled(inner, with)
		}
	case []any:
		for i, inner := range value {
			value[i] = filled(inner, with)
		}
	case string:
		if found := placeIn.FindStringSubmatch(value); found != nil && found[0] == value {
			if whole, ok := with(found); ok {
				return whole
			}
		}
		return placeIn.ReplaceAllStringFunc(value, func(text string) string {
			if part, ok := with(placeIn.FindStringSubmatch(text)); ok {
				return textOf(part)
			}
			return text
		})
	}
	return value
}

// copied returns a deep copy of a value. Its numbers are of type json.Number.
func copied(value any) any {
	if _, ok := value.(string); ok { // a string may be long, and needs no copy
		return value
	}
	out, _ := decoded(encoded(value))
	return out
}
