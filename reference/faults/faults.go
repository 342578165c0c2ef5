package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference"
)

// Fault is a deliberate deviation that breaks a requirement.
type Fault struct {
	Name   string // "limit-101-is-served"
	Breaks string // what it does, in a sentence
	Fails  string // ID of the requirement that it must fail
	// Also are further IDs that inevitably fail with it, each with the reason.
	Also map[string]string
	// Edition of the reference on which it shows; cloud when empty.
	Edition string
	// Hangs says that the suite waits out its limits for what the fault keeps from happening: a proof takes longest
	// with it.
	Hangs bool
	// Once says that it shows once in the life of a server: who wants to see it again has to start another.
	Once  bool
	Apply Layer
}

// Variation is a deliberate difference that breaks nothing.
type Variation struct {
	Name    string // "answers-are-pretty-printed"
	Differs string // what it does, in a sentence
	Edition string
	Apply   Layer
}

// Layer puts itself around the reference that the options describe.
type Layer func(*reference.Options)

// All returns every fault, by the requirement that it fails and its name.
func All() []Fault {
	all := slices.Concat(controlPlane(), agentServer())
	slices.SortFunc(all, func(a, b Fault) int { return strings.Compare(a.Fails+" "+a.Name, b.Fails+" "+b.Name) })
	return all
}

// Variations returns every variation by name.
func Variations() []Variation {
	all := variations()
	slices.SortFunc(all, func(a, b Variation) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Find returns the layers of the faults and variations with the names, and the edition on which they show: that of the
// last one that needs one, or "" where all show on either.
func Find(names ...string) (layers []Layer, edition string, err error) {
	known := map[string]Variation{}
	for _, f := range All() {
		known[f.Name] = Variation{Edition: f.Edition, Apply: f.Apply}
	}
	for _, v := range Variations() {
		known[v.Name] = v
	}
	for _, name := range names {
		v, found := known[name]
		if !found {
			return nil, "", fmt.Errorf("no fault and no variation is named %q; agentconform prove --list shows all", name)
		}
		layers, edition = append(layers, v.Apply), cmp.Or(v.Edition, edition)
	}
	return layers, edition, nil
}
