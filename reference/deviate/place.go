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

// place is where something stands: a root and the members below it.
type place []string

// The roots, by what they hold.
var (
	textRoots   = []string{"query", "header", "path", "answer-header"} // texts by name
	lookedUp    = []string{"deployment", "latest", "revisions", "threads", "thread", "state", "run", "before"}
	memoryRoots = []string{"kept", "common"}
	otherRoots  = []string{"sent", "url", "question", "clock", "end", "fresh-id", "home", "owner", "was", "its"}

	answerRoots  = []string{"status", "answer", "each", "answer-header", "body"}
	writtenRoots = slices.Concat([]string{"method", "query", "header", "path", "request"}, answerRoots)
	roots        = slices.Concat(writtenRoots, lookedUp, memoryRoots, otherRoots)
)

var segments = regexp.MustCompile(`\[[^\]]*\]|[^.]+`)

func parsePlace(text string) (place, error) {
	p := place(segments.FindAllString(text, -1))
	if len(p) == 0 || !slices.Contains(roots, p[0]) {
		return nil, fmt.Errorf("%q is no place: it begins with none of %s", text, strings.Join(roots, ", "))
	}
	return p, nil
}

func (p place) is(roots ...string) bool { return slices.Contains(roots, p[0]) }

// afterwards tells whether the place is known only when the request has been served.
func (p place) afterwards() bool { return p.is(answerRoots...) }

func (p place) String() string { return strings.Join(p, ".") }

// slot is a member of an object or an item of a list that stands at a place.
type slot struct {
	value any
	has   bool
	set   func(to any)
	its   map[string]any // the object that has it, or may have it under the name
	name  string
	owner string // what the value belongs to: the ids on the way to it
}

// slots finds what stands at a place in a value. The last name may be one that the object does not have.
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
			if id, is := value[name].(string); is {
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

// selects tells whether a name selects the item of a list.
func selects(name string, i, count int, item any) bool {
	if inner, is := strings.CutPrefix(name, "["); is {
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

// value is what a row writes: a constant, in whose texts places may stand.
type value struct {
	constant any
	places   []place
}

var placeIn = regexp.MustCompile(`<([a-z][^<>\s|]*)(?:\|([^<>]*))?>`)

// yamlBegins are the beginnings of values that are YAML; others are texts, as they stand.
var yamlBegins = regexp.MustCompile(`^([\[{"']|-?\d+(\.\d+)?$|(true|false|null)$)`)

// value reads a value, with the places in it.
func (l *loader) value(text string) (v value, err error) {
	if found := manyOf.FindStringSubmatch(text); found != nil {
		return l.many(found[1], found[2])
	}
	v = l.text(text)
	if yamlBegins.MatchString(text) {
		if err := yaml.Unmarshal([]byte(text), &v.constant); err != nil {
			return v, fmt.Errorf("%q is no value: %w", text, err)
		}
		v.constant = copied(v.constant)
	}
	for _, found := range placeIn.FindAllStringSubmatch(text, -1) {
		_, err := l.place(found[1])
		if err != nil && strings.Contains(found[1], ".") { // else it is a text such as <h1>
			return v, err
		}
	}
	return v, nil
}

// text is a value that is a text, whatever it begins with.
func (l *loader) text(text string) (v value) {
	v.constant = text
	for _, found := range placeIn.FindAllStringSubmatch(text, -1) {
		if p, err := parsePlace(found[1]); err == nil {
			v.places = append(v.places, p)
		}
	}
	return v
}

var manyOf = regexp.MustCompile(`^(\d+) of (.+)$`)

// many is a list of as many values as the number says.
func (l *loader) many(number, item string) (v value, err error) {
	n, err := strconv.Atoi(number)
	if err != nil || n > 1000 {
		return v, errors.New("a list has 1000 values at most, not " + number)
	}
	v, err = l.value(item)
	v.constant = slices.Repeat([]any{v.constant}, n)
	return v, err
}

// in is the value in an exchange, beside a slot.
func (v value) in(x *exchange, beside slot) any {
	if len(v.places) == 0 {
		return copied(v.constant)
	}
	return filled(copied(v.constant), func(found []string) (any, bool) {
		p, err := parsePlace(found[1])
		if err != nil {
			return nil, false
		}
		value, has := x.at(p, beside)
		if !has && found[2] != "" {
			return found[2], true
		}
		return copied(value), true
	})
}

// filled replaces the places in the texts of a value. A text that is only a place becomes what stands there.
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
			if alone, is := with(found); is {
				return alone
			}
		}
		return placeIn.ReplaceAllStringFunc(value, func(text string) string {
			if part, is := with(placeIn.FindStringSubmatch(text)); is {
				return textOf(part)
			}
			return text
		})
	}
	return value
}

// copied makes a value of its own, with numbers as JSON has them.
func copied(value any) any {
	if _, is := value.(string); is { // it may be long, and is the same
		return value
	}
	out, _ := decoded(encoded(value))
	return out
}
