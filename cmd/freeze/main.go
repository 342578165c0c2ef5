// Command freeze writes the requirement set of a release into spec/requirements. VERSION.yaml has the requirements and
// scenarios, and the harmless servers of the self-test. With -judgements it also writes VERSION.txtar, the tables of the
// judgements: rows that pass must pass in all later versions. Run it in the root of the repository.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/spec/requirements"
)

const folder = "spec/requirements"

// tables are the tests of judgements.
const tables = "steps/*/judge/*_test.go"

func main() {
	judgements := flag.Bool("judgements", false, "also write the tables of the judgements: at a release")
	flag.Parse()
	if err := run(flag.Arg(0), *judgements); err != nil {
		fmt.Fprintln(os.Stderr, "freeze:", err)
		os.Exit(1)
	}
}

func run(version string, judgements bool) error {
	if version == "" {
		return fmt.Errorf("name the version: go run ./cmd/freeze 0.1")
	}
	catalogue, err := features.Load()
	if err != nil {
		return err
	}
	text, err := setOf(version, catalogue).Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, version+".yaml"), text, 0o644); err != nil {
		return err
	}
	if !judgements {
		return nil
	}
	archive, err := tablesIn(".")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, version+".txtar"), txtar.Format(archive), 0o644)
}

// setOf returns the set of the current requirements.
func setOf(version string, c *features.Catalogue) *requirements.Set {
	set := c.Set(version)
	set.Equivalents = map[string][]string{}
	for _, e := range faults.EquivalentMutants() {
		set.Equivalents[e.Name] = slices.Sorted(maps.Keys(e.Also))
	}
	return set
}

// tablesIn returns the tests of judgements in a copy of the repository.
func tablesIn(root string) (*txtar.Archive, error) {
	names, err := filepath.Glob(filepath.Join(root, tables))
	if err != nil {
		return nil, err
	}
	archive := &txtar.Archive{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		inside, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		archive.Files = append(archive.Files, txtar.File{Name: filepath.ToSlash(inside), Data: content})
	}
	return archive, nil
}
