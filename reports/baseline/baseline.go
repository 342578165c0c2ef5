// Package baseline compares a result with the known failures of a target, so that a test run fails only if something
// changes. See docs/vendor.md for the use of a baseline.
//
// A baseline is a YAML file that people write and review:
//
//	version: 1
//	known:
//	  - requirement: CP-LIST-3
//	    finding: f-3c1d9a        # optional; without it, the entry covers the whole requirement
//	    reason: the limit is not checked before release 5
//	    owner: list-team
//	    expires: 2026-12-31      # the last day on which the entry counts
//	flaky:
//	  - requirement: AS-ROLLBACK-5
//	    rate: passed 7 of 10     # optional, for people
//	    kinds: [not-removed]     # optional; without it, the entry covers every failure
//	    reason: the race is not always won on the slow machines
//	    owner: runtime-team
//	    expires: 2026-09-30
//
// A known entry makes the test run fail if it passes (stale), matches nothing or has expired. A flaky entry covers a
// requirement that passes in one test run and fails in the next, so it is never stale. With kinds, it covers only violations
// of these kinds, and the verdicts blocked and inconclusive if kinds contains them. After --repeat, [Write] writes a flaky
// entry for each requirement whose repetitions had different results. Nothing happens to the entry of
// a requirement that was skipped or that a filter excluded, or to that of a finding whose requirement was not judged.
//
// The package does not change verdicts: a known failure is still a failure.
//
// An entry also covers the failures that the known failure explains, except those that put users at risk.
package baseline

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// version is the version of the file format.
const version = 1

// maxFile is the maximum size of a file. Decoding YAML takes a hundred times as much memory as its text.
const maxFile = 256 << 10

// Baseline is the content of a baseline file.
type Baseline struct {
	File    string  `yaml:"-"`
	Version int     `yaml:"version"`
	Known   []Entry `yaml:"known,omitempty"`
	Flaky   []Entry `yaml:"flaky,omitempty"`
}

// Entry is one known failure.
type Entry struct {
	Requirement string `yaml:"requirement"`
	Finding     string `yaml:"finding,omitempty"` // ID of a finding; empty: the whole requirement
	Rate        string `yaml:"rate,omitempty"`    // how often the requirement passed, for the reader
	// Kinds are the kinds of violations that the entry covers, and the verdicts blocked or inconclusive. Empty: all.
	Kinds   []string `yaml:"kinds,omitempty,flow"`
	Reason  string   `yaml:"reason"`
	Owner   string   `yaml:"owner"`
	Expires Day      `yaml:"expires,omitempty"` // the last day on which the entry counts, in UTC; empty: never
	Line    int      `yaml:"-"`                 // in the file
	comment string   // comment above the entry in the file
}

// Day is a date, "2026-12-31".
type Day string

// UnmarshalYAML reads a date, which YAML decodes as a time.
func (d *Day) UnmarshalYAML(n *yaml.Node) error {
	if _, err := time.Parse(time.DateOnly, n.Value); err != nil {
		return fmt.Errorf("expires %q is not a date; write it as 2026-12-31", safe.Cut(n.Value, 50))
	}
	*d = Day(n.Value)
	return nil
}

// UnmarshalYAML reads an entry and refuses an incomplete one.
func (e *Entry) UnmarshalYAML(n *yaml.Node) error {
	type plain Entry
	if err := n.Load((*plain)(e), yaml.WithKnownFields(), yaml.WithUniqueKeys()); err != nil {
		return err
	}
	e.Line = n.Line
	if e.Requirement == "" || e.Reason == "" || e.Owner == "" {
		return errors.New("every entry needs a requirement, a reason and an owner")
	}
	return nil
}

// MarshalYAML writes an entry below its comment.
func (e Entry) MarshalYAML() (any, error) {
	type plain Entry
	n := &yaml.Node{}
	err := n.Encode(plain(e))
	n.HeadComment = e.comment
	return n, err
}

// name returns the requirement, and the finding if the entry has one.
func (e Entry) name() string { return strings.TrimSpace(e.Requirement + " " + e.Finding) }

func (b *Baseline) entries() []Entry { return slices.Concat(b.Known, b.Flaky) }

// Names reports whether an entry names the requirement.
func (b *Baseline) Names(requirement string) bool {
	return slices.ContainsFunc(b.entries(), func(e Entry) bool { return e.Requirement == requirement })
}

// Incomplete returns the IDs of the requirements whose entries still have a placeholder, without duplicates.
func (b *Baseline) Incomplete() []string {
	var ids []string
	for _, e := range b.entries() {
		isIncomplete := isPlaceholder(e.Reason) || isPlaceholder(e.Owner)
		if isIncomplete && !slices.Contains(ids, e.Requirement) {
			ids = append(ids, e.Requirement)
		}
	}
	return ids
}

func isPlaceholder(text string) bool { return strings.HasPrefix(text, toDo) }

// Load reads a baseline file.
func Load(path string) (*Baseline, error) {
	doc, err := outfile.Read(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the baseline: %w; write one with --write-baseline %s", err, path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return Parse(path, doc)
}

// typeName matches a Go type at the end of an error of the YAML decoder.
var typeName = regexp.MustCompile(` (in type|into) \S+$`)

// Parse reads the text of a baseline. Its errors begin with the path and the line.
func Parse(path string, doc []byte) (*Baseline, error) {
	b := &Baseline{File: path}
	if err := yaml.Load(doc, b, yaml.WithKnownFields(), yaml.WithUniqueKeys()); err != nil {
		const keys = "; a baseline has the keys version, known and flaky, an entry requirement, finding, rate, kinds, " +
			"reason, owner and expires"
		message, place := err.Error(), path
		if at, ok := errors.AsType[*yaml.LoadError](err); ok {
			message = typeName.ReplaceAllString(at.Message, keys)
			if at.Mark.Line > 0 {
				place = fmt.Sprintf("%s:%d", path, at.Mark.Line)
			}
		}
		return nil, fmt.Errorf("%s: %s", place, safe.Line(message))
	}
	if b.Version != version {
		return nil, fmt.Errorf("%s: version %d is unknown; this program reads \"version: %d\"", path, b.Version, version)
	}
	lines := map[string]int{}
	for _, e := range b.entries() {
		if line := lines[e.name()]; line > 0 {
			return nil, fmt.Errorf("%s:%d: %s already has an entry in line %d; keep one", path, e.Line, safe.Line(e.name()), line)
		}
		lines[e.name()] = e.Line
	}
	return b, nil
}
