package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Neutral returns the names of the interface that stand in for a brand, so that each vendor has its own (`x-neutral` in
// the documents): three sources, a field, and two names of graph and handler that never occur in requests or responses.
func Neutral() []string {
	return append(Sources(), NeutralField, "graph_auth_user", "graph_config_file")
}

// NeutralField is the neutral word that is the name of a field.
const NeutralField = "graph_config_path"

// AnySource is the name for all sources if a value is not one of them.
const AnySource = "source"

// Unmapped is the prefix of a neutral word that a target sent although the vocabulary maps the word to another name.
const Unmapped = "unmapped "

// Words maps neutral words of the interface to a target's names for them. Nil translates nothing.
type Words map[string]string

// Misuse is an entry of a vocabulary that cannot be used.
type Misuse struct{ Name, Problem string }

// Misuses returns the entries that cannot be used, sorted by name.
func (w Words) Misuses() (all []Misuse) {
	taken := map[string]string{}
	for _, name := range Neutral() {
		as := w.OnWire(name)
		if other, twice := taken[as]; twice {
			if w[name] == "" {
				name, other = other, name
			}
			all = append(all, Misuse{name, fmt.Sprintf("is %q, and so is %q", as, other)})
		}
		taken[as] = name
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		switch {
		case !slices.Contains(Neutral(), name):
			all = append(all, Misuse{name, "is not a neutral word of the interface"})
		case w[name] == "":
			all = append(all, Misuse{name, "is empty"})
		}
	}
	return all
}

// OnWire returns the target's name for a name of the interface.
func (w Words) OnWire(name string) string {
	if as := w[name]; as != "" {
		return as
	}
	return name
}

// Renamed returns the words that occur in requests and responses and that have another name at the target.
func (w Words) Renamed() (names []string) {
	for _, name := range append(Sources(), NeutralField) {
		if w.OnWire(name) != name {
			names = append(names, name)
		}
	}
	return names
}

// ToTarget returns a JSON text of the control plane with the target's names. Only neutral words at their places are
// replaced, and all other bytes are kept. A text that is not JSON is returned unchanged.
func (w Words) ToTarget(side Side, body []byte) []byte {
	return w.respelled(side, body, w.OnWire)
}

// FromTarget returns a JSON text that has the target's names with those of the interface.
func (w Words) FromTarget(side Side, body []byte) []byte {
	names := map[string]string{}
	for _, name := range w.Renamed() {
		names[name] = Unmapped + name
	}
	for _, name := range w.Renamed() {
		names[w[name]] = name
	}
	return w.respelled(side, body, func(word string) string {
		if name := names[word]; name != "" {
			return name
		}
		return word
	})
}

func (w Words) respelled(side Side, body []byte, spell func(word string) string) []byte {
	if side != ControlPlane || len(w.Renamed()) == 0 || !gjson.ValidBytes(body) {
		return body
	}
	text, last := strings.Builder{}, 0
	eachNeutral(gjson.ParseBytes(body), true, func(at gjson.Result) {
		if as := spell(at.Str); as != at.Str {
			text.Write(body[last:at.Index])
			text.Write(gjson.AppendJSONString(nil, as))
			last = at.Index + len(at.Raw)
		}
	})
	text.Write(body[last:])
	return []byte(text.String())
}

// NeutralIn returns the texts at the places of neutral words in a body of the control plane: sources and names of
// fields.
func NeutralIn(body gjson.Result) (words []string) {
	eachNeutral(body, true, func(at gjson.Result) { words = append(words, at.Str) })
	return words
}

// eachNeutral visits the places of neutral words in an object of the control plane, in order: the source of a
// deployment or a revision, and the names of the fields of its configuration. If isList is true, it also visits the
// items of resources.
func eachNeutral(object gjson.Result, isList bool, visit func(at gjson.Result)) {
	object.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "source" && value.Type == gjson.String:
			visit(value)
		case key.Str == "source_revision_config" && value.IsObject():
			value.ForEach(func(name, _ gjson.Result) bool {
				visit(name)
				return true
			})
		case isList && key.Str == "resources" && value.IsArray():
			value.ForEach(func(_, item gjson.Result) bool {
				eachNeutral(item, false, visit)
				return true
			})
		}
		return true
	})
}
