package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/safe"
)

const head = `# Servers and clients that others wrote

Written by ` + "`make interop`" + `, which fails if anything here changes. The servers run on the loopback interface with the conformance
graph in ` + "`interop/`" + `; every verdict other than "passed" has its reason below.

`

// servers writes the table of verdicts, and the reason of each that is not "passed".
func servers(b *strings.Builder, columns []*column) error {
	b.WriteString(head + "## Servers\n\n")
	for _, c := range columns {
		fmt.Fprintf(b, "- %s: %s. Verdict: %s.\n", c.title, c.of, c.result.Verdict)
	}
	b.WriteString("\nThe Python and the JavaScript server are agent servers: they have no control plane, so only the requirements of agent servers are tested there.\n\n| Requirement | Level |")
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.title)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
	var notes []string
	for _, q := range columns[0].result.Requirements {
		row := fmt.Sprintf("| %s | %s |", q.ID, q.Level)
		for _, c := range columns {
			verdict, reason, err := c.cell(q.ID)
			if err != nil {
				return err
			}
			if reason != "" {
				notes = append(notes, fmt.Sprintf("- %s, %s: %s: %s", q.ID, c.title, verdict, safe.Markdown(reason)))
				verdict = "**" + verdict + "**"
			}
			row += " " + verdict + " |"
		}
		b.WriteString(row + "\n")
	}
	b.WriteString("\n### What is not passed, and why\n\n" + strings.Join(notes, "\n") + "\n")
	return nil
}

// cell returns the verdict on a requirement, and the reason where that is not that it passed or is not about the server.
func (c *column) cell(id string) (verdict, reason string, err error) {
	at := slices.IndexFunc(c.result.Requirements, func(q reports.Requirement) bool { return q.ID == id })
	if at < 0 {
		return "—", "", nil
	}
	q := c.result.Requirements[at]
	for _, e := range c.known.Flaky {
		if e.Requirement == id && (q.Verdict == reports.Passed || q.Verdict == reports.Failed) {
			return "fails now and then", e.Reason, nil
		}
	}
	switch {
	case q.Verdict == reports.Passed:
		return "passed", "", nil
	case q.Verdict == reports.Skipped && q.Skip != nil && q.Profile != features.AgentServer && c.result.Target.ControlPlane == "":
		return "—", "", nil
	case q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotApplicable:
		return "not applicable", constant(strings.TrimPrefix(q.Reason, reports.DoesNotApply)), nil
	case q.Verdict == reports.Skipped && q.Skip != nil:
		return "not judged", constant(cmp.Or(q.Reason, string(q.Skip.Kind))), nil
	case q.Verdict == reports.Failed:
		if known := slices.IndexFunc(c.known.Known, func(e baseline.Entry) bool { return e.Requirement == id }); known >= 0 {
			return "failed", c.known.Known[known].Reason, nil
		}
	}
	return "", "", fmt.Errorf("%s: %s is %s, and nobody has reviewed that: %s", c.title, id, q.Verdict, q.Reason)
}

// mutants writes what the mutants of the mended server fail, which interop/mutants.sh has compared with what they must.
func mutants(b *strings.Builder, folder string, mended *column) error {
	files, err := filepath.Glob(filepath.Join(folder, "*", "result.json"))
	if err != nil {
		return err
	}
	b.WriteString("\n### Mutants of the mended JavaScript server\n\nEach is made at start by `interop/javascript/mutants.mjs`, and fails these requirements beside those of the mended server.\n\n| Mutant | Failed |\n| --- | --- |\n")
	known := failed(mended.result)
	for _, file := range files {
		r, err := reports.ReadFile(file)
		if err != nil {
			return err
		}
		name := filepath.Base(filepath.Dir(file))
		if name == filepath.Base(mended.folder) {
			continue
		}
		fmt.Fprintf(b, "| %s | %s |\n", name, strings.Join(slices.DeleteFunc(failed(r), func(id string) bool { return slices.Contains(known, id) }), ", "))
	}
	return nil
}

func failed(r *reports.Result) (ids []string) {
	for _, q := range r.Requirements {
		if q.Verdict == reports.Failed {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// changing is what differs from run to run: ids.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func constant(text string) string { return changing.ReplaceAllString(text, "{id}") }
