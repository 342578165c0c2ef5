package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// Version is the version of the file's format.
const Version = 1

// maxFile bounds a file; a baseline that large is a mistake. YAML takes a hundred times as much memory as its text.
const maxFile = 1 << 20

// Baseline is the content of a baseline file.
type Baseline struct {
	File  string
	Known []Entry
	Flaky []Entry
}

// Entry is one known failure.
type Entry struct {
	Requirement string
	Finding     string // id of a finding; empty means the whole requirement
	Reason      string
	Owner       string
	Expires     time.Time // the last day on which the entry counts, in UTC; zero means never
	Line        int       // in the file
}

// Incomplete tells whether a person has yet to fill in the reason or the owner.
func (e Entry) Incomplete() bool {
	return strings.HasPrefix(e.Reason, toDo) || strings.HasPrefix(e.Owner, toDo)
}

// Incomplete returns the IDs of the requirements whose entries a person has yet to complete, each once.
func (b *Baseline) Incomplete() []string {
	var ids []string
	seen := map[string]bool{}
	for _, e := range slices.Concat(b.Known, b.Flaky) {
		if e.Incomplete() && !seen[e.Requirement] {
			ids, seen[e.Requirement] = append(ids, e.Requirement), true
		}
	}
	return ids
}

// Names tells whether an entry is about the requirement.
func (b *Baseline) Names(requirement string) bool {
	return slices.ContainsFunc(slices.Concat(b.Known, b.Flaky), func(e Entry) bool { return e.Requirement == requirement })
}

// Load reads a baseline file. It is strict: an error names the file, the line, the key and what to do.
func Load(path string) (*Baseline, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w; write one with --write-baseline %s", err, path)
	}
	defer file.Close() //nolint:errcheck // only read
	doc, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	if len(doc) > maxFile {
		return nil, fmt.Errorf("%s: a baseline of more than %d bytes is not read; is it the right file?", path, maxFile)
	}
	return Parse(path, doc)
}

// Parse reads a baseline; path is for messages.
func Parse(path string, doc []byte) (*Baseline, error) {
	p := parser{path: path}
	dec := yaml.NewDecoder(bytes.NewReader(doc))
	var root yaml.Node
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: the file is empty; a baseline without entries is \"version: 1\"", path)
		}
		return nil, fmt.Errorf("%s: %s; the file must be YAML", path, safe.Line(yamlProblem(err)))
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is a second document; keep one", path)
	}
	b := p.baseline(root.Content[0])
	if p.err != nil {
		return nil, p.err
	}
	b.File = path
	return b, p.twice(b)
}

// yamlProblem says where a text stops being YAML, and why.
func yamlProblem(err error) string {
	at, ok := errors.AsType[*yaml.LoadError](err)
	switch {
	case !ok:
		return err.Error()
	case at.Mark.Line == 0:
		return at.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", at.Mark.Line, at.Mark.Column, at.Message)
}

// parser reads nodes one by one, because the decoder of the library does not tell the line of a wrong value. The
// first error stays.
type parser struct {
	path string
	err  error
}

func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d: %s", p.path, line, fmt.Sprintf(format, args...))
	}
}

// members calls f for each member of a mapping, and refuses keys that are not allowed or occur twice.
func (p *parser) members(n *yaml.Node, what string, allowed []string, f func(key string, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s must be a mapping with the keys %s", what, strings.Join(allowed, ", "))
		return
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		switch {
		case !slices.Contains(allowed, key):
			p.fail(n.Content[i].Line, "unknown key %q in %s; the keys are %s", safe.Cut(key, 100), what, strings.Join(allowed, ", "))
		case slices.Contains(seen, key):
			p.fail(n.Content[i].Line, "%s has the key %q twice; keep one", what, key)
		default:
			seen = append(seen, key)
			f(key, n.Content[i+1])
		}
	}
}

func (p *parser) baseline(n *yaml.Node) *Baseline {
	b, version := &Baseline{}, ""
	p.members(n, "the baseline", []string{"version", "known", "flaky"}, func(key string, value *yaml.Node) {
		switch key {
		case "version":
			version = value.Value
			if version != fmt.Sprint(Version) {
				p.fail(value.Line, "version %q is unknown; this program reads version %d", safe.Cut(version, 20), Version)
			}
		case "known":
			b.Known = p.entries(value, key)
		case "flaky":
			b.Flaky = p.entries(value, key)
		}
	})
	if version == "" {
		p.fail(n.Line, "version is missing: add \"version: %d\"", Version)
	}
	return b
}

func (p *parser) entries(n *yaml.Node, key string) []Entry {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.fail(n.Line, "%s must be a list of entries, each starting with \"- requirement:\"", key)
		return nil
	}
	var all []Entry
	for _, item := range n.Content {
		all = append(all, p.entry(item, key))
	}
	return all
}

func (p *parser) entry(n *yaml.Node, list string) Entry {
	e, keys := Entry{Line: n.Line}, []string{"requirement", "finding", "reason", "owner", "expires"}
	p.members(n, "an entry of "+list, keys, func(key string, value *yaml.Node) {
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" && key != "expires" && key != "finding" {
			p.fail(value.Line, "%s must be a string", key)
			return
		}
		text := strings.TrimSpace(value.Value)
		switch key {
		case "requirement":
			e.Requirement = text
		case "finding":
			e.Finding = text
		case "reason":
			e.Reason = text
		case "owner":
			e.Owner = text
		case "expires":
			e.Expires = p.day(value)
		}
	})
	for _, needed := range [][2]string{{"requirement", e.Requirement}, {"reason", e.Reason}, {"owner", e.Owner}} {
		if needed[1] == "" {
			p.fail(n.Line, "the entry has no %s; every entry needs a requirement, a reason and an owner", needed[0])
		}
	}
	return e
}

func (p *parser) day(n *yaml.Node) time.Time {
	if n.Tag == "!!null" {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(n.Value))
	if err != nil {
		p.fail(n.Line, "expires %q is not a date; write it as 2026-12-31", safe.Cut(n.Value, 50))
	}
	return day
}

// twice refuses two entries for the same thing: one of them would be ignored.
func (p *parser) twice(b *Baseline) error {
	seen := map[string]int{}
	for _, e := range slices.Concat(b.Known, b.Flaky) {
		key := e.Requirement + " " + e.Finding
		if line, ok := seen[key]; ok {
			return fmt.Errorf("%s:%d: %s has an entry already in line %d; keep one", p.path, e.Line, strings.TrimSpace(safe.Line(key)), line)
		}
		seen[key] = e.Line
	}
	return nil
}

// Check finds out before a run whether [Write] can write the file: what is there may be replaced, and can be read.
func Check(path string) error {
	err := outfile.Ready(path)
	if _, missing := os.Stat(path); err == nil && missing == nil {
		_, err = Load(path)
	}
	if err != nil {
		return fmt.Errorf("writing the baseline: %w; name another file with --write-baseline", err)
	}
	return nil
}

// Write writes a baseline with an entry for everything that keeps r from being conformant, for a person to complete:
// reason and owner are left as questions. An existing file keeps its entries that still apply. The file appears whole
// or not at all. Write returns what the file now holds.
func Write(path string, r *reports.Result) (*Baseline, error) {
	old := &Baseline{}
	if _, err := os.Stat(path); err == nil {
		if old, err = Load(path); err != nil {
			return nil, fmt.Errorf("writing the baseline: the existing file cannot be read: %w; repair or remove it", err)
		}
	}
	b := renewed(path, r, old)
	err := outfile.Write(path, outfile.Public, func(w io.Writer) error {
		_, err := w.Write(render(r, b))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("writing the baseline: %w", err)
	}
	return b, nil
}
