package reports

import (
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
