package reports

import (
	"slices"
	"strings"
)

// Renamed is a name of the interface that the target spells otherwise, by the key `vocabulary` of the configuration. Names
// that stand in for a brand are not among them: those are free to each target.
type Renamed struct {
	Kind RenamedKind `json:"kind"`
	Name string      `json:"name"` // of the interface
	As   string      `json:"as"`   // of the target
}

// RenamedKind says what a renamed name is the name of.
type RenamedKind string

// The kinds of renamed names, in the order in which they are counted.
const (
	RenamedField     RenamedKind = "field"
	RenamedParameter RenamedKind = "parameter" // of the query
	RenamedValue     RenamedKind = "value"     // of an enumeration
)

// RenamedKinds lists the kinds of renamed names.
var RenamedKinds = []RenamedKind{RenamedField, RenamedParameter, RenamedValue}

// UnusedWord is an entry of the key `vocabulary` that the target was never seen to use.
type UnusedWord struct {
	Name      string `json:"name"`                // of the interface
	As        string `json:"as"`                  // what `vocabulary` maps it to
	Unchanged bool   `json:"unchanged,omitempty"` // the target uses the interface's name
}

// RenamedCount says how many names are renamed: "2 renamed fields and 1 renamed value"; "" where none is.
func RenamedCount(r *Result) string {
	var parts []string
	for _, kind := range RenamedKinds {
		n := 0
		for _, w := range r.Renamed {
			if w.Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, Count(n, "renamed "+string(kind)))
		}
	}
	return joined(parts)
}

func joined(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// RenamedNames lists the renamed names: "source as quelle, status as state". It names at most limit of them; 0 is no limit.
func RenamedNames(r *Result, limit int) string {
	var names []string
	for i, w := range r.Renamed {
		if limit > 0 && i == limit {
			return strings.Join(names, ", ") + " and " + Count(len(r.Renamed)-i, "more name")
		}
		names = append(names, w.Name+" as "+w.As)
	}
	return strings.Join(names, ", ")
}

// MergeWords fills what runs of one target learned of its words: a name that one of them saw renamed is renamed, and an entry
// that none saw used is unused.
func MergeWords(into *Result, runs []*Result) {
	into.Renamed, into.UnusedWords = nil, nil
	for _, r := range runs {
		for _, w := range r.Renamed {
			if !slices.Contains(into.Renamed, w) {
				into.Renamed = append(into.Renamed, w)
			}
		}
	}
	slices.SortFunc(into.Renamed, func(a, b Renamed) int { return strings.Compare(a.Name, b.Name) })
	for _, w := range runs[0].UnusedWords {
		unused := !slices.ContainsFunc(runs[1:], func(r *Result) bool {
			return !slices.ContainsFunc(r.UnusedWords, func(u UnusedWord) bool { return u.Name == w.Name && u.As == w.As })
		})
		for _, r := range runs {
			w.Unchanged = w.Unchanged || slices.Contains(r.UnusedWords, UnusedWord{w.Name, w.As, true})
		}
		if unused {
			into.UnusedWords = append(into.UnusedWords, w)
		}
	}
}
