package features

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

//go:embed cases.yaml
var casesFile []byte

// Case is a kind of request that a client may send, with the scenarios of a requirement that judge it, or the reason why
// there are none.
type Case struct {
	Operation   string   `json:"operation"`
	Place       string   `json:"place"`
	Class       string   `json:"class"`
	Requirement string   `json:"requirement,omitempty"`
	Scenarios   []string `json:"scenarios,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

// Cases returns the case of each cell of the contract: operation, place and class. It returns an error unless exactly one
// row of the table is about each cell, each row is about a cell, and the catalogue has the named scenarios.
func Cases(c *Catalogue, cells [][3]string) ([]Case, error) { return casesOf(c, casesFile, cells) }

func casesOf(c *Catalogue, file []byte, cells [][3]string) (cases []Case, err error) {
	var table struct {
		Sentences map[string]string
		Rows      [][]string
	}
	if err := yaml.Unmarshal(file, &table); err != nil {
		return nil, fmt.Errorf("reading the table of cases: %w", err)
	}
	var problems []error
	about := make([][]Case, len(cells))
	for _, row := range table.Rows {
		if len(row) < 4 || len(row) > 5 {
			return nil, fmt.Errorf("row %q: expected three patterns, and either a reason or an ID and a part of names", row)
		}
		pattern, err := regexp.Compile("^(?:" + strings.Join(row[:3], ")\n(?:") + ")$")
		if err != nil {
			return nil, fmt.Errorf("row %q: %w", row, err)
		}
		none := true
		for i, cell := range cells {
			if !pattern.MatchString(strings.Join(cell[:], "\n")) {
				continue
			}
			found := Case{Operation: cell[0], Place: cell[1], Class: cell[2], Reason: row[3]}
			if len(row) == 5 {
				found.Requirement, found.Reason, found.Scenarios = row[3], "", c.named(row, cell, table.Sentences)
			}
			if found.Reason == "" && found.Scenarios == nil {
				problems = append(problems, fmt.Errorf("row %q names no scenario for %q", row, cell))
			}
			none, about[i] = false, append(about[i], found)
		}
		if none {
			problems = append(problems, fmt.Errorf("row %q matches no cell", row))
		}
	}
	for i, found := range about {
		if len(found) != 1 {
			problems = append(problems, fmt.Errorf("cell %q has %d rows, want 1", cells[i], len(found)))
		}
		cases = append(cases, found...)
	}
	return cases, errors.Join(problems...)
}

// named returns the scenarios that a row names for a cell.
func (c *Catalogue) named(row []string, cell [3]string, sentences map[string]string) (names []string) {
	part := row[4]
	if parts := strings.Split(part, "|"); len(parts) > 1 {
		part = parts[max(0, slices.Index(strings.Split(row[2], "|"), cell[2]))]
	}
	part = strings.NewReplacer("{operation}", cmp.Or(sentences[cell[0]], cell[0]), "{class}", cell[2],
		"{field}", cell[1][strings.LastIndexAny(cell[1], " .")+1:]).Replace(part)
	if q := c.Find(row[3]); q != nil {
		for _, s := range q.Scenarios {
			if strings.Contains(s.Name, part) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}
