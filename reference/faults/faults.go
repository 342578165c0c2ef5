// Package faults contains the deviations of the reference that the self-test of the suite uses (mutation testing).
//
// Start reading in the folder rows: its YAML files contain the faults and most equivalent mutants, in the language of
// package deviate. [All] returns the faults, [EquivalentMutants] the equivalent mutants.
//
// A fault breaks a requirement. The reference with one fault is a mutant, and the requirement must fail ("kill the
// mutant"). A row declares further requirements that inevitably fail, with the reason. Any other failure shows that the
// suite checks too much. An [EquivalentMutant] differs from the reference but conforms, so a failure is a false positive.
// A [NullImplementation] implements nothing, and must never be reported as conformant.
//
// Each fault is a mistake that engineers make: a value is clamped instead of refused, an index is off by one, only the
// first value is used, a check is missing on one route. What differs below HTTP or inside the reference is a small
// function (see [reference.Options]). The reference does not import this package.
package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/spec/spelling"
)

// selfHosted is the edition of the reference that deploys images.
const selfHosted = "self-hosted"

// EquivalentMutant is a deliberate difference that breaks no MUST.
type EquivalentMutant struct {
	Name    string // such as "pretty-printed"
	Differs string // what a client observes, in a sentence
	Edition string
	// Also contains the SHOULDs that inevitably fail, each with the reason.
	Also map[string]string
	// Unjudged contains the requirements that are blocked, inconclusive or skipped, each with the reason.
	Unjudged map[string]string
	// Place names the part of HTTP exchanges that changes. The gate combines mutants with different places around one
	// server, in the order of the catalogue. A mutant without a place is tried separately, because it changes more than
	// HTTP exchanges.
	Place   string
	Config  map[string]any // configuration keys of the test run
	Longest bool           // the test run takes the longest time, more on a busy machine: the self-test starts with it
	Apply   Layer
}

// Layer adds a deviation to the options of the reference.
type Layer func(*reference.Options)

// All returns all faults, sorted by requirement and name.
func All() []*deviate.Row { return faultsOf(catalogue()) }

// Near returns the faults of the files that mention a requirement, sorted like those of [All]. It reads their
// descriptions but not their changes, which takes a tenth of the time.
func Near(id string) ([]*deviate.Row, error) {
	some, err := read(id, deviate.Describe)
	return faultsOf(some), err
}

func faultsOf(rows []*deviate.Row) (all []*deviate.Row) {
	for _, row := range rows {
		if row.Equivalent == "" {
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b *deviate.Row) int { return strings.Compare(a.Fails+" "+a.Name, b.Fails+" "+b.Name) })
	return all
}

// EquivalentMutants returns all equivalent mutants, ordered so that several can be combined around one server: first
// those that change the content of responses, then those that change the encoding, then those that change the transport.
func EquivalentMutants() (all []EquivalentMutant) {
	for _, row := range catalogue() {
		if row.Equivalent != "" {
			all = append(all, EquivalentMutant{
				Name: row.Equivalent, Differs: row.Differs, Place: row.Place, Edition: row.Edition, Also: row.Also,
				Unjudged: row.Unjudged, Config: row.Config,
				Apply: Around(row, &deviate.Count{}),
			})
		}
	}
	return slices.Concat(all, otherServers(), transports())
}

// Configuration returns the configuration keys of the named rows.
func Configuration(names ...string) map[string]any {
	keys := map[string]any{}
	for _, row := range catalogue() {
		if slices.Contains(names, row.Name+row.Equivalent) {
			maps.Copy(keys, row.Config)
		}
	}
	return keys
}

// Find returns the layers of the named faults, equivalent mutants and broken graphs. The edition is that of the last row
// that needs one, or "".
func Find(names ...string) (layers []Layer, edition string, err error) {
	known := map[string]EquivalentMutant{}
	for _, f := range All() {
		known[f.Name] = EquivalentMutant{Edition: f.Edition, Apply: Around(f, &deviate.Count{})}
	}
	for _, v := range EquivalentMutants() {
		known[v.Name] = v
	}
	for _, g := range BrokenGraphs() {
		known[g.Name] = EquivalentMutant{Apply: g.Apply}
	}
	for _, name := range names {
		v, found := known[name]
		if !found {
			near := spelling.Nearest(name, slices.Sorted(maps.Keys(known)))
			return nil, "", fmt.Errorf("unknown fault or equivalent mutant %q; %sagentconform prove --list shows all names", name,
				spelling.DidYouMean(near))
		}
		layers, edition = append(layers, v.Apply), cmp.Or(v.Edition, edition)
	}
	return layers, edition, nil
}
