// Package baseline keeps the failures of a target that are known, so that a run fails only when something changes.
//
// A baseline is a YAML file that people write and review:
//
//	version: 1
//	known:
//	  - requirement: CP-LIST-3
//	    finding: f-3c1d9a        # optional: only this finding; without it, all that is wrong with the requirement
//	    reason: the limit is not checked before release 5
//	    owner: list-team
//	    expires: 2026-12-31      # the last day on which the entry counts
//	flaky:
//	  - requirement: AS-ROLLBACK-5
//	    reason: the race is not always won on the slow machines
//	    owner: runtime-team
//	    expires: 2026-09-30
//
// It ratchets: an entry for something that passes is stale and makes the run fail, as does one that matches nothing
// or has expired. A flaky entry covers a requirement that passes in one run and fails in the next; it is never
// stale. An entry for a requirement that was skipped, or was left out of the run by a filter, is idle: nothing was
// learned about it. So is one for a finding of a requirement that could not be judged.
//
// The package judges results; it does not run anything, and it leaves their verdicts alone.
package baseline

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// version is that of the file's format.
const version = 1

// maxFile bounds a file; a baseline that large is a mistake. YAML takes a hundred times as much memory as its text.
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
	Finding     string `yaml:"finding,omitempty"` // id of a finding; empty means the whole requirement
	Reason      string `yaml:"reason"`
	Owner       string `yaml:"owner"`
	Expires     Day    `yaml:"expires,omitempty"` // the last day on which the entry counts, in UTC; empty means never
	Line        int    `yaml:"-"`                 // in the file
	about       string
}

// Day is a date, "2026-12-31".
type Day string

// UnmarshalYAML reads what YAML takes for a time.
func (d *Day) UnmarshalYAML(n *yaml.Node) error {
	if _, err := time.Parse(time.DateOnly, n.Value); err != nil {
		return fmt.Errorf("expires %q is not a date; write it as 2026-12-31", safe.Cut(n.Value, 50))
	}
	*d = Day(n.Value)
	return nil
}

// UnmarshalYAML reads an entry, and refuses one that is not complete.
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

// Incomplete returns the IDs of the requirements whose entries a person has yet to complete, each once.
func (b *Baseline) Incomplete() []string {
	var ids []string
	for _, e := range b.entries() {
		if (strings.HasPrefix(e.Reason, toDo) || strings.HasPrefix(e.Owner, toDo)) && !slices.Contains(ids, e.Requirement) {
			ids = append(ids, e.Requirement)
		}
	}
	return ids
}

func (b *Baseline) entries() []Entry { return slices.Concat(b.Known, b.Flaky) }

// Names tells whether an entry is about the requirement.
func (b *Baseline) Names(requirement string) bool {
	return slices.ContainsFunc(b.entries(), func(e Entry) bool { return e.Requirement == requirement })
}

// Load reads a baseline file. It is strict: an error names the file, the line and what to do.
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
	return Parse(path, doc)
}

// ofType names a type of this program at the end of an error.
var ofType = regexp.MustCompile(` (in type|into) \S+$`)

// Parse reads a baseline; path is for messages.
func Parse(path string, doc []byte) (*Baseline, error) {
	b := &Baseline{File: path}
	if len(doc) > maxFile {
		return nil, fmt.Errorf("%s: a baseline of more than %d bytes is not read; is it the right file?", path, maxFile)
	}
	if err := yaml.Load(doc, b, yaml.WithKnownFields(), yaml.WithUniqueKeys()); err != nil {
		const keys = "; a baseline has the keys version, known and flaky, an entry requirement, finding, reason, owner " +
			"and expires"
		what, where := err.Error(), path
		if at, is := errors.AsType[*yaml.LoadError](err); is {
			what = ofType.ReplaceAllString(at.Message, keys)
			if at.Mark.Line > 0 {
				where += fmt.Sprint(":", at.Mark.Line)
			}
		}
		return nil, fmt.Errorf("%s: %s", where, safe.Line(what))
	}
	if b.Version != version {
		return nil, fmt.Errorf("%s: version %d is unknown; this program reads \"version: %d\"", path, b.Version, version)
	}
	lines := map[string]int{}
	for _, e := range b.entries() {
		name := e.name()
		if line := lines[name]; line > 0 { // one of them would be ignored
			return nil, fmt.Errorf("%s:%d: %s has an entry already in line %d; keep one", path, e.Line, safe.Line(name), line)
		}
		lines[name] = e.Line
	}
	return b, nil
}

// name is the requirement, and the finding where there is one.
func (e Entry) name() string { return strings.TrimSpace(e.Requirement + " " + e.Finding) }

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
	text, err := yaml.Dump(b, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false))
	if err == nil {
		err = outfile.Text(path, outfile.Public, append([]byte(head), text...))
	}
	if err != nil {
		return nil, fmt.Errorf("writing the baseline: %w", err)
	}
	return b, nil
}

const head = "# Known failures of the target. An entry that passes, matches nothing or has expired makes the run " +
	"fail.\n"

// toDo begins an answer that a person has yet to give.
const toDo = "TODO"

// lifetime is how long a new entry counts: long enough to repair a fault, short enough to be looked at again.
const lifetime = 90 * 24 * time.Hour

// renewed returns the entries of old that still apply, and one for each failure that none of them covers.
func renewed(path string, r *reports.Result, old *Baseline) *Baseline {
	b := &Baseline{File: path, Version: version, Flaky: old.Flaky}
	findings := overview.Of(r).Findings
	for _, e := range old.Known {
		if applies(r, e, findings[e.Requirement]) {
			b.Known = append(b.Known, e)
		}
	}
	expires := Day(r.Run.StartedAt.UTC().Add(lifetime).Format(time.DateOnly))
	for q := range reports.Each(r.Requirements) {
		if !q.Verdict.Problem() || !q.Decides() || coverable(q) && !b.Names(q.ID) {
			continue
		}
		found := findings[q.ID]
		if q.Verdict != reports.Failed || len(found) == 0 {
			found = []*reports.Finding{{}} // the whole requirement
		}
		for _, f := range found {
			covered := func(e Entry) bool { return e.Requirement == q.ID && (e.Finding == "" || e.Finding == f.ID) }
			if !slices.ContainsFunc(b.entries(), covered) {
				b.Known = append(b.Known, Entry{Requirement: q.ID, Finding: f.ID, Expires: expires,
					Reason: toDo + ": why does it fail, and what will be done about it?", Owner: toDo + ": who is responsible?"})
			}
		}
	}
	for _, entries := range [][]Entry{b.Known, b.Flaky} {
		slices.SortStableFunc(entries, func(x, y Entry) int { return cmp.Compare(x.Requirement, y.Requirement) })
		for i, e := range entries {
			entries[i] = safe.Copy(e, safe.Line)
			entries[i].about = safe.Line(safe.Cut(about(r, e, findings[e.Requirement]), 200))
		}
	}
	return b
}

// applies tells whether an entry is worth keeping: it covers something, or nothing was learned about it.
func applies(r *reports.Result, e Entry, findings []*reports.Finding) bool {
	q := r.Requirement(e.Requirement)
	switch {
	case q == nil:
		return r.Filtered()
	case !q.Verdict.Problem():
		return q.Verdict == reports.Skipped
	}
	return e.Finding == "" || slices.ContainsFunc(findings, func(f *reports.Finding) bool { return f.ID == e.Finding })
}

// about says what an entry is about, as a comment.
func about(r *reports.Result, e Entry, findings []*reports.Finding) string {
	for _, f := range findings {
		if e.Finding == "" || e.Finding == f.ID {
			return f.Summary
		}
	}
	if q := r.Requirement(e.Requirement); q != nil {
		return fmt.Sprintf("%s: %s", q.Verdict, cmp.Or(q.Reason, q.Title))
	}
	return ""
}

// MarshalYAML writes an entry below a comment that says what it is about.
func (e Entry) MarshalYAML() (any, error) {
	type plain Entry
	n := &yaml.Node{}
	err := n.Encode(plain(e))
	n.HeadComment = e.about
	return n, err
}

// Apply compares a result with a baseline on the day of now. It marks what is known in r (Requirement.Known,
// Finding.Known) and sums up in r.Baseline, a sentence for each entry or failure that makes the run fail, so that every
// report shows it; verdicts and counts stay what they are: a known failure is a failure.
func Apply(r *reports.Result, b *Baseline, now time.Time) {
	r.Baseline = &reports.Baseline{File: b.File}
	findings := overview.Of(r).Findings
	today := Day(now.UTC().Format(time.DateOnly))
	for i, e := range b.entries() {
		apply(r, e, findings[e.Requirement], i >= len(b.Known), today)
	}
	fresh := func(f *reports.Finding) bool { return f.Known == nil }
	for q := range reports.Each(r.Requirements) {
		found := findings[q.ID]
		if q.Verdict.Problem() && q.Known == nil && len(found) > 0 && !slices.ContainsFunc(found, fresh) {
			q.Known = found[0].Known // each of its findings is known
		}
	}
	for q := range reports.Each(r.Requirements) {
		if !q.Verdict.Problem() {
			continue
		}
		if q.Known == nil && coverable(q) && !b.Names(q.ID) { // no entry says more about it than those of its causes
			causes := reports.Causes(r, q)
			if !slices.ContainsFunc(causes, func(cause *reports.Requirement) bool { return cause.Known == nil }) {
				q.Known = causes[0].Known
			}
		}
		switch {
		case q.Known != nil && q.Known.Flaky:
			r.Baseline.Flaky++
		case q.Known != nil:
			r.Baseline.Known++
		case q.Decides():
			what, why := "new failure", q.Reason
			if q.Verdict != reports.Failed {
				what = "newly " + string(q.Verdict)
			}
			if at := slices.IndexFunc(findings[q.ID], fresh); at >= 0 {
				why = findings[q.ID][at].Summary + " (" + findings[q.ID][at].ID + ")"
			}
			r.Baseline.New = append(r.Baseline.New, fmt.Sprintf("%s, not in the baseline: %s: %s", what, q.ID, why))
		}
	}
}

// coverable tells whether the entries of its causes may cover a failure: not what is at risk for users.
func coverable(q *reports.Requirement) bool {
	return len(q.ExplainedBy) > 0 && q.Subject != "security" && q.Subject != "isolation"
}

// apply finds out what one entry is worth, and marks what it covers. Where the run has learned nothing about the
// requirement, the entry stays as it is.
func apply(r *reports.Result, e Entry, findings []*reports.Finding, flaky bool, today Day) {
	a, q := r.Baseline, r.Requirement(e.Requirement)
	where := fmt.Sprintf("%s:%d: %s", a.File, e.Line, e.name())
	switch {
	case q == nil && r.Filtered():
	case q == nil:
		a.Unmatched = append(a.Unmatched, where+": no such requirement; remove the entry, or correct its ID")
	case e.Expires != "" && today > e.Expires:
		a.Expired = append(a.Expired, where+": the entry expired on "+string(e.Expires)+
			"; fix the failure, or set a new date")
	case q.Verdict == reports.Passed && !flaky:
		a.Stale = append(a.Stale, where+" passes; remove the entry")
	case q.Verdict.Problem():
		known := &reports.Known{Reason: e.Reason, Owner: e.Owner, Expires: string(e.Expires), Flaky: flaky}
		covered := false
		for _, f := range findings {
			if f.ID == e.Finding {
				f.Known, covered = known, true
			}
		}
		if e.Finding == "" {
			q.Known = known
		} else if !covered && !flaky && q.Verdict == reports.Failed { // in another way: what the entry knew is repaired
			a.Unmatched = append(a.Unmatched, where+
				": the requirement fails, but not with this finding; remove the entry, or correct its finding")
		}
	}
}
