package baseline

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// toDo begins an answer that a person has yet to give.
const toDo = "TODO"

// The answers that a person has to give.
const (
	askReason = toDo + ": why does it fail, and what will be done about it?"
	askOwner  = toDo + ": who is responsible?"
)

// lifetime is how long a new entry counts: long enough to repair a fault, short enough to be looked at again.
const lifetime = 90 * 24 * time.Hour

// entryYAML is an entry as it is in the file.
type entryYAML struct {
	Requirement string    `yaml:"requirement"`
	Finding     string    `yaml:"finding,omitempty"`
	Reason      string    `yaml:"reason"`
	Owner       string    `yaml:"owner"`
	Expires     yaml.Node `yaml:"expires,omitempty"`
}

// renewed returns the entries of old that still apply, and one for each failure that none of them covers.
func renewed(path string, r *reports.Result, old *Baseline) *Baseline {
	known := slices.DeleteFunc(slices.Clone(old.Known), func(e Entry) bool { return !applies(r, e) })
	expires := r.Run.StartedAt.UTC().Truncate(24 * time.Hour).Add(lifetime)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		if !q.Verdict.Problem() || !q.Decides(r.Run.Strict) || covered(slices.Concat(known, old.Flaky), q, "") {
			continue
		}
		findings := findingsOf(r, q.ID)
		if q.Verdict != reports.Failed || len(findings) == 0 {
			known = append(known, Entry{Requirement: q.ID, Reason: askReason, Owner: askOwner, Expires: expires})
			continue
		}
		for _, f := range findings {
			if !covered(known, q, f.ID) {
				known = append(known, Entry{Requirement: q.ID, Finding: f.ID, Reason: askReason, Owner: askOwner, Expires: expires})
			}
		}
	}
	return &Baseline{File: path, Known: known, Flaky: old.Flaky}
}

// render writes the file. The result tells what each entry is about.
func render(r *reports.Result, baseline *Baseline) []byte {
	var b bytes.Buffer
	b.WriteString("# Known failures of the target. An entry that passes, matches nothing or has expired makes the run fail.\n")
	fmt.Fprintf(&b, "version: %d\n", Version)
	list(&b, "known", baseline.Known, r)
	list(&b, "flaky", baseline.Flaky, r)
	return b.Bytes()
}

// applies tells whether an entry is worth keeping: it covers something, or nothing was learned about it.
func applies(r *reports.Result, e Entry) bool {
	q := requirementOf(r, e.Requirement)
	switch {
	case q == nil:
		return r.Filtered()
	case q.Verdict == reports.Skipped:
		return true
	case !q.Verdict.Problem():
		return false
	}
	return e.Finding == "" || slices.ContainsFunc(findingsOf(r, q.ID), func(f *reports.Finding) bool { return f.ID == e.Finding })
}

// covered tells whether an entry covers the whole requirement or, if one is named, the finding.
func covered(entries []Entry, q *reports.Requirement, finding string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		return e.Requirement == q.ID && (e.Finding == "" || finding != "" && e.Finding == finding)
	})
}

func list(b *bytes.Buffer, key string, entries []Entry, r *reports.Result) {
	if len(entries) == 0 {
		return
	}
	slices.SortStableFunc(entries, func(x, y Entry) int { return cmp.Compare(x.Requirement, y.Requirement) })
	fmt.Fprintf(b, "%s:\n", key)
	for _, e := range entries {
		if what := summaryOf(r, e); what != "" {
			fmt.Fprintf(b, "  # %s\n", safe.Line(safe.Cut(what, 200)))
		}
		y := entryYAML{Requirement: e.Requirement, Finding: e.Finding, Reason: safe.Line(e.Reason), Owner: safe.Line(e.Owner)}
		if !e.Expires.IsZero() {
			y.Expires = yaml.Node{Kind: yaml.ScalarNode, Value: e.Expires.Format(time.DateOnly)}
		}
		doc, err := yaml.Marshal([]entryYAML{y})
		if err != nil { // texts and a day cannot fail
			panic(err)
		}
		for _, line := range bytes.SplitAfter(bytes.TrimRight(doc, "\n"), []byte("\n")) {
			b.WriteString("  ")
			b.Write(line)
		}
		b.WriteByte('\n')
	}
}

// summaryOf says what the entry is about, as a comment.
func summaryOf(r *reports.Result, e Entry) string {
	for _, f := range findingsOf(r, e.Requirement) {
		if e.Finding == "" || e.Finding == f.ID {
			return f.Summary
		}
	}
	if q := requirementOf(r, e.Requirement); q != nil {
		return fmt.Sprintf("%s: %s", q.Verdict, cmp.Or(q.Reason, q.Title))
	}
	return ""
}
