// Package requirements has the frozen requirement sets: for each release of the suite, the requirements and scenarios that
// it judged. A target that was conformant by a set stays conformant by that set when the suite is updated, because
// requirements and scenarios that are newer do not count (run --requirements VERSION).
//
// The file of a release is written by "make freeze" and does not change after the release.
package requirements

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

//go:embed *.yaml
var files embed.FS

// changesFile lists what has become of frozen scenarios after a release.
const changesFile = "changes.yaml"

// Set is the requirement set of a release.
type Set struct {
	Version      string                 `yaml:"version"` // "0.1"
	Requirements map[string]Requirement `yaml:"requirements"`
	// Equivalents has the harmless servers of the self-test, by name, with the requirements that may fail there.
	Equivalents map[string][]string `yaml:"equivalents"`
}

// Requirement is a requirement as it was at the release.
type Requirement struct {
	Level string `yaml:"level"` // "MUST", "SHOULD" or "MAY"
	// Scenarios has the names of its scenarios at the release, by the digest of their steps.
	Scenarios map[string]string `yaml:"scenarios"`
}

// Changes lists the scenarios of released sets that have changed since, by their digest in the set.
type Changes struct {
	Reworded  map[string]string `yaml:"reworded"`  // the digest of the scenario that judges the same in other words
	Withdrawn map[string]string `yaml:"withdrawn"` // the reason why it is not judged any more
}

// Versions returns the versions of all sets.
func Versions() []string { return versions(files) }

func versions(fsys fs.FS) (all []string) {
	names, _ := fs.Glob(fsys, "*.yaml")
	for _, name := range names {
		if name != changesFile {
			all = append(all, strings.TrimSuffix(name, ".yaml"))
		}
	}
	slices.Sort(all)
	return all
}

// Load returns the set of a version. A scenario that was reworded after the release has the digest of its new words.
func Load(version string) (*Set, error) { return load(files, version) }

func load(fsys fs.FS, version string) (*Set, error) {
	known := versions(fsys)
	if !slices.Contains(known, version) {
		return nil, fmt.Errorf("no requirement set %q; there are: %s", version,
			strings.Join(known, ", "))
	}
	var set Set
	if err := read(fsys, version+".yaml", &set); err != nil {
		return nil, err
	}
	var changes Changes
	if err := read(fsys, changesFile, &changes); err != nil {
		return nil, err
	}
	for id, q := range set.Requirements {
		set.Requirements[id] = Requirement{Level: q.Level, Scenarios: changes.apply(q.Scenarios)}
	}
	return &set, nil
}

// Encode returns the content of the file of the set.
func (s *Set) Encode() ([]byte, error) {
	text, err := yaml.Dump(s, yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("encoding the requirement set %s: %w", s.Version, err)
	}
	const head = "# The requirement set of the release %s, written by cmd/freeze. Each scenario has the digest of its steps. After the\n" +
		"# release this file does not change: changes.yaml lists what was reworded or withdrawn.\n"
	return append(fmt.Appendf(nil, head, s.Version), text...), nil
}

func read(fsys fs.FS, name string, into any) error {
	content, err := fs.ReadFile(fsys, name)
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		return fmt.Errorf("reading spec/requirements/%s: %w", name, err)
	}
	return nil
}

// apply returns the scenarios under their present digests, without those that were withdrawn.
func (c Changes) apply(scenarios map[string]string) map[string]string {
	now := map[string]string{}
	for _, digest := range slices.Sorted(maps.Keys(scenarios)) {
		name := scenarios[digest]
		for range len(c.Reworded) + 1 { // a scenario may be reworded once per release; the bound ends a circle
			next, reworded := c.Reworded[digest]
			if !reworded {
				break
			}
			digest = next
		}
		if _, withdrawn := c.Withdrawn[digest]; !withdrawn {
			now[digest] = name
		}
	}
	return now
}

// Has reports whether the set has a scenario of a requirement. The digest is that of its steps. A nil set has every
// scenario.
func (s *Set) Has(id, digest string) bool {
	if s == nil {
		return true
	}
	_, has := s.Requirements[id].Scenarios[digest]
	return has
}

// Difference describes what changes from one set to another, one sentence each.
func Difference(from, to *Set) (all []string) {
	for _, id := range slices.Sorted(maps.Keys(to.Requirements)) {
		is := to.Requirements[id]
		was, had := from.Requirements[id]
		added := lacking(is.Scenarios, was.Scenarios)
		switch {
		case !had:
			all = append(all, fmt.Sprintf("%s (%s) is new in %s", id, is.Level, to.Version))
		case was.Level != is.Level:
			all = append(all, fmt.Sprintf("%s is a %s in %s and a %s in %s", id, was.Level, from.Version, is.Level, to.Version))
		case added > 0:
			all = append(all, fmt.Sprintf("%s has %d more scenarios in %s", id, added, to.Version))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(from.Requirements)) {
		if _, has := to.Requirements[id]; !has {
			all = append(all, fmt.Sprintf("%s is not in %s", id, to.Version))
		}
	}
	return all
}

// lacking returns the number of keys of all that known lacks.
func lacking(all, known map[string]string) (n int) {
	for key := range all {
		if _, has := known[key]; !has {
			n++
		}
	}
	return n
}
