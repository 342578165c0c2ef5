package faults

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reference/deviate"
)

//go:embed pairs/*.yaml
var pairFiles embed.FS

// Pair is a mutant for one event and one check of package situations: the check passes before the event and fails after it.
type Pair struct {
	Event string // as the features name it: "a thread on which a run has failed"
	Check string // as the features name it
	Row   *deviate.Row
}

// Name returns the name of the mutant.
func (p Pair) Name() string { return p.Event + ": " + p.Check }

// pairFile has the changes of the mutants of a half.
type pairFile struct {
	Events map[string][]deviate.Change `yaml:"events"`
	Since  []deviate.Change            `yaml:"since"` // mark the beginning of the checks
	Checks map[string][]deviate.Change `yaml:"checks"`
}

// Pairs returns a mutant for each event with each check in the files of the folder pairs.
func Pairs() (all []Pair, err error) {
	for half, beginning := range map[string]string{"deployments": "a deployment of which ", "threads": "a thread on which "} {
		name := "pairs/" + half + ".yaml"
		text, err := pairFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var file pairFile
		if err := yaml.Load(text, &file, yaml.WithKnownFields()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for event, happens := range file.Events {
			for check, breaks := range file.Checks {
				p := Pair{Event: beginning + event, Check: check}
				p.Row = &deviate.Row{Name: p.Name(), Changes: slices.Concat(happens, file.Since, breaks)}
				if err := p.Row.Read(); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b Pair) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}
