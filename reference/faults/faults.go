package faults

import (
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
	Apply   Layer
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

// Find returns the layers of the faults and variations with the names, and the edition on which they show.
func Find(names ...string) (layers []Layer, edition string, err error) {
	for _, name := range names {
		found := false
		for _, f := range All() {
			if f.Name == name {
				layers, edition, found = append(layers, f.Apply), f.Edition, true
			}
		}
		for _, v := range Variations() {
			if v.Name == name {
				layers, edition, found = append(layers, v.Apply), v.Edition, true
			}
		}
		if !found {
			return nil, "", fmt.Errorf("no fault and no variation is named %q; agentconform prove --list shows all", name)
		}
	}
	return layers, edition, nil
}
