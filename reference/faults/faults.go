package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// selfHosted is the edition of the reference that takes images.
const selfHosted = "self-hosted"

// Fault is a deliberate deviation that breaks a requirement. The reference with one fault is a mutant.
type Fault struct {
	Name   string // "limit-101-is-served"
	Breaks string // what a client observes, in a sentence
	Fails  string // ID of the requirement that must kill the mutant
	// Also lists further requirements that inevitably fail and that no failure explains, each with the reason.
	Also map[string]string
	// Edition of the reference that has the fault; cloud if empty.
	Edition string
	// Hangs marks a fault that makes the suite wait until a timeout. The self-test starts these first.
	Hangs bool
	// Once marks a fault that occurs once per server. To see it again, start another server.
	Once bool
	// Elsewhere marks a fault that only scenarios of other requirements meet, or many requests together. The gate runs all of the half,
	// and findings are not replayed: a few scenarios alone may not meet it.
	Elsewhere bool
	// Explored marks a fault that no scenario sees, and exploration does.
	Explored bool
	Row      *deviate.Row // nil where the fault is written in Go
	Apply    Layer
}

// EquivalentMutant is a deliberate difference that breaks no MUST.
type EquivalentMutant struct {
	Name    string // "pretty-printed"
	Differs string // what a client observes, in a sentence
	Edition string
	// Also lists the SHOULDs that it inevitably fails, each with the reason. One that fails any has no Place.
	Also map[string]string
	// Place is what it changes of the exchanges over HTTP, in a few words. Those with different places can be tried at once, in the
	// order of the catalogue; one without a place changes more than that, and is tried alone.
	Place string
	// Queues says that runs wait for each other. The self-test tries it last: on a busy machine the waits add up.
	Queues bool
	Apply  Layer
}

// Layer wraps the reference that the options describe.
type Layer func(*reference.Options)

// All returns all faults, sorted by requirement and name.
func All() []Fault {
	all, _ := written()
	all = slices.Concat(all, filters(), agentServer())
	slices.SortFunc(all, func(a, b Fault) int { return strings.Compare(a.Fails+" "+a.Name, b.Fails+" "+b.Name) })
	return all
}

// EquivalentMutants returns all equivalent mutants, in the order in which several may stand around one server: what is said,
// then how it is written, then how it is sent.
func EquivalentMutants() []EquivalentMutant {
	_, all := written()
	return slices.Concat(all, otherServers(), disguisesIgnored(), transports())
}

// Find returns the layers of the named faults, equivalent mutants and broken graphs, and the edition they need: that of the last one that
// needs one, or "" if none does.
func Find(names ...string) (layers []Layer, edition string, err error) {
	known := map[string]EquivalentMutant{}
	for _, f := range All() {
		known[f.Name] = EquivalentMutant{Edition: f.Edition, Apply: f.Apply}
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

func agentServer() []Fault {
	return slices.Concat(disguised(), agentRollbacks(), agentUsers(), agentListings(), agentRevisions())
}
