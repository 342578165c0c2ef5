// Package faults defines the deviations of the reference that the self-test of the suite uses (mutation testing).
//
// A fault breaks a requirement. The reference with one fault is a mutant, and the requirement must kill it: it must fail.
// Further requirements that inevitably fail are declared with the reason; any other failure shows that the suite checks too much.
// An [EquivalentMutant] differs from the reference but conforms: a failure there is a false positive. A
// [NullImplementation] implements nothing: it must never be reported as conformant.
//
// Each is a mistake as engineers make it: a value is clamped instead of refused, an index is off by one, only the first value
// is used, a check is missing on one route. Faults are rows (see package deviate); what differs below HTTP, or inside, is a small
// function around the unmodified reference (see [reference.Options]). The reference does not know this package.
package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// selfHosted is the edition of the reference that takes images.
const selfHosted = "self-hosted"

// EquivalentMutant is a deliberate difference that breaks no MUST.
type EquivalentMutant struct {
	Name    string // "pretty-printed"
	Differs string // what a client observes, in a sentence
	Edition string
	// Also lists the SHOULDs that it inevitably fails, each with the reason. One that fails any has no Place, and neither has
	// one that leaves a requirement unjudged.
	Also map[string]string
	// Unjudged lists the requirements that it leaves blocked, inconclusive or skipped, each with the reason.
	Unjudged map[string]string
	// Place is what it changes of the exchanges over HTTP, in a few words. Those with different places can be tried at once, in the
	// order of the catalogue; one without a place changes more than that, and is tried alone.
	Place   string
	Config  map[string]any // configuration keys for this server
	Longest bool           // it takes the longest time, and the longer the busier its start was: the self-test begins with it
	Apply   Layer
}

// Layer wraps the reference that the options describe.
type Layer func(*reference.Options)

// All returns all faults, sorted by requirement and name. Each is a deliberate deviation that breaks a requirement.
func All() []*deviate.Row {
	all := slices.DeleteFunc(written(), func(row *deviate.Row) bool { return row.Equivalent != "" })
	slices.SortFunc(all, func(a, b *deviate.Row) int { return strings.Compare(a.Fails+" "+a.Name, b.Fails+" "+b.Name) })
	return all
}

// EquivalentMutants returns all equivalent mutants, in the order in which several may stand around one server: what is said,
// then how it is written, then how it is sent.
func EquivalentMutants() (all []EquivalentMutant) {
	for _, row := range written() {
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

// Configuration returns the configuration keys that the named rows are tested with.
func Configuration(names ...string) map[string]any {
	keys := map[string]any{}
	for _, row := range written() {
		if slices.Contains(names, row.Name+row.Equivalent) {
			maps.Copy(keys, row.Config)
		}
	}
	return keys
}

// Find returns the layers of the named faults, equivalent mutants and broken graphs, and the edition they need: that of the last one that
// needs one, or "" if none does.
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
			return nil, "", fmt.Errorf("unknown fault or equivalent mutant %q; agentconform prove --list shows all names", name)
		}
		layers, edition = append(layers, v.Apply), cmp.Or(v.Edition, edition)
	}
	return layers, edition, nil
}
