package baseline

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Check reports before a test run whether [Write] can write the file and read an existing one.
func Check(path string) error {
	err := outfile.Ready(path)
	if err == nil {
		_, err = loadExisting(path)
	}
	if err != nil {
		return fmt.Errorf("writing the baseline: %w; name another file with --write-baseline", err)
	}
	return nil
}

// loadExisting reads a baseline file. It returns an empty baseline if there is none.
func loadExisting(path string) (*Baseline, error) {
	if _, err := os.Stat(path); err != nil {
		return &Baseline{}, nil
	}
	return Load(path)
}

// Write writes a baseline with an entry for each failure that makes r non-conformant, and returns it. New entries have
// placeholders for reason and owner. Entries of an existing file remain if they still apply.
func Write(path string, r *reports.Result) (*Baseline, error) {
	old, err := loadExisting(path)
	if err != nil {
		return nil, fmt.Errorf("writing the baseline: the existing file cannot be read: %w; repair or remove it", err)
	}
	b := updated(path, r, old)
	text, err := yaml.Dump(b, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false))
	if err == nil {
		err = outfile.Text(path, outfile.Public, append([]byte(head), text...))
	}
	if err != nil {
		return nil, fmt.Errorf("writing the baseline: %w", err)
	}
	return b, nil
}

const head = "# Known failures of the target. An entry that passes, matches nothing or has expired makes the test run fail.\n"

// toDo is the prefix of a placeholder.
const toDo = "TODO"

// lifetime is the time after which a new entry expires: long enough to repair a failure, and short enough for a regular
// review.
const lifetime = 90 * 24 * time.Hour

// updated returns the entries of old that still apply, and a new one for each failure that no entry covers.
func updated(path string, r *reports.Result, old *Baseline) *Baseline {
	b := &Baseline{File: path, Version: version, Flaky: slices.Clone(old.Flaky)}
	findings := overview.Of(r).Findings
	for _, e := range old.Known {
		if q := r.Requirement(e.Requirement); q != nil && q.Repetitions.Differ() {
			continue // it would be stale as soon as the requirement passes
		}
		if at := e.state(r, findings[e.Requirement]); at == idle || at == covering {
			b.Known = append(b.Known, e)
		}
	}
	expires := Day(r.Run.StartedAt.UTC().Add(lifetime).Format(time.DateOnly))
	for q := range reports.Each(r.Requirements) {
		if !q.Verdict.Problem() || !q.Decides() {
			continue
		}
		found := findings[q.ID]
		if q.Repetitions.Differ() {
			b.addFlaky(q, found, old.entryOf(q.ID, expires))
			continue
		}
		isCoveredByCause := inheritsCause(q) && !b.Names(q.ID)
		if isCoveredByCause {
			continue
		}
		if q.Verdict != reports.Failed || len(found) == 0 {
			found = []*reports.Finding{{}} // an entry for the whole requirement
		}
		for _, f := range found {
			b.addMissing(q.ID, f, r.Run.Repeat > 1, expires)
		}
	}
	for _, entries := range [][]Entry{b.Known, b.Flaky} {
		slices.SortStableFunc(entries, func(x, y Entry) int { return cmp.Compare(x.Requirement, y.Requirement) })
		for i, e := range entries {
			entries[i] = safe.Copy(e, safe.Line)
			entries[i].comment = safe.Line(safe.Cut(describe(r, e, findings[e.Requirement]), 200))
		}
	}
	return b
}

// addMissing adds an entry for a finding of a requirement, unless an entry covers it. The entry is flaky if the test run
// had repetitions in which the requirement failed without this finding.
func (b *Baseline) addMissing(requirement string, f *reports.Finding, isRepeated bool, expires Day) {
	covers := func(e Entry) bool { return e.Requirement == requirement && e.covers(f) }
	if slices.ContainsFunc(b.entries(), covers) {
		return
	}
	e := newEntry(requirement, expires)
	e.Finding = f.ID
	if isRepeated && f.Seen < f.Judged {
		e.Rate = "seen " + f.Attempts()
		b.Flaky = append(b.Flaky, e)
		return
	}
	b.Known = append(b.Known, e)
}

// newEntry returns an entry with placeholders.
func newEntry(requirement string, expires Day) Entry {
	return Entry{Requirement: requirement, Expires: expires,
		Reason: toDo + ": why does it fail, and what will be done about it?", Owner: toDo + ": who is responsible?"}
}

// entryOf returns an entry for a whole requirement with the reason, owner and day of its known entry, if it has one.
func (b *Baseline) entryOf(requirement string, expires Day) Entry {
	entry := newEntry(requirement, expires)
	at := slices.IndexFunc(b.Known, func(e Entry) bool { return e.Requirement == requirement })
	if at >= 0 {
		entry.Reason, entry.Owner, entry.Expires = b.Known[at].Reason, b.Known[at].Owner, b.Known[at].Expires
	}
	return entry
}

// addFlaky adds a flaky entry for a requirement whose repetitions had different results, with the kinds of its findings. If
// there is an entry for the whole requirement, it adds the kinds to that one.
func (b *Baseline) addFlaky(q *reports.Requirement, findings []*reports.Finding, entry Entry) {
	at := slices.IndexFunc(b.Flaky, func(e Entry) bool { return e.Requirement == q.ID && e.Finding == "" })
	if at < 0 {
		at = len(b.Flaky)
		b.Flaky = append(b.Flaky, entry)
	} else if len(b.Flaky[at].Kinds) == 0 {
		return // it covers every failure
	}
	e := &b.Flaky[at]
	e.Rate = q.Repetitions.String()
	e.Kinds = slices.Clone(e.Kinds)
	add := func(kind string) {
		if !slices.Contains(e.Kinds, kind) {
			e.Kinds = append(e.Kinds, kind)
		}
	}
	for _, f := range findings {
		add(f.Kind)
	}
	for _, v := range []reports.Verdict{reports.Blocked, reports.Inconclusive} {
		if q.Repetitions[v] > 0 {
			add(string(v))
		}
	}
	if len(e.Kinds) == 0 {
		add(string(q.Verdict)) // a failure without a finding
	}
}

// describe returns the summary of the finding of an entry, or the reason of the requirement if the entry covers all of
// it.
func describe(r *reports.Result, e Entry, findings []*reports.Finding) string {
	for _, f := range findings {
		if e.Finding == "" || e.Finding == f.ID {
			return f.Summary
		}
	}
	q := r.Requirement(e.Requirement)
	if q == nil {
		return ""
	}
	if e.Finding != "" { // the reason may be about another finding
		return "not seen in the last test run"
	}
	return fmt.Sprintf("%s: %s", q.Verdict, cmp.Or(q.Reason, q.Title))
}
