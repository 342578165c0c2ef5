package compare

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Text writes the comparison for a terminal: what differs in one sentence, the columns, the table, and a legend.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", text(t.headline(), 300))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "  %s  %s: %s, %s (suite %s)\n", column(i), text(c.Label, 60), text(c.Verdict, 200), c.Passed, text(c.Suite, 30))
	}
	rows := t.different()
	width := len("Requirement")
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(text(r.ID, 40)))
	}
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n%-*s  %-6s", width, "Requirement", "Level")
		for i := range t.Columns {
			b.WriteString("  " + column(i))
		}
		b.WriteString("  Change\n")
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-6s", width, text(r.ID, 40), r.Level)
		for i, c := range r.Cells {
			b.WriteString(strings.Repeat(" ", 1+len(column(i))) + sign(c.Verdict))
		}
		b.WriteString(strings.TrimRight("  "+t.changes(r), " ") + "\n")
	}
	t.legend(&b, len(rows))
	_, err := io.WriteString(w, b.String())
	return err
}

// column names a column by a letter: labels are too wide for a table.
func column(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}

func text(s string, limit int) string { return safe.Line(safe.Ellipsis(s, limit)) }

// changes describes what changes in a row; with three columns or more it names the column.
func (t *Table) changes(r Row) string {
	var all []string
	for i, c := range r.Cells {
		if i == 0 || c.Change == Same && c.Note == "" {
			continue
		}
		var words []string
		if c.Change != Same {
			words = append(words, t.words(c.Change)[0])
		}
		if c.Note != "" {
			words = append(words, c.Note)
		}
		described := strings.Join(words, ", ")
		if len(t.Columns) > 2 {
			described = column(i) + " " + described
		}
		if c.Reason != "" && c.Change != Fixed && c.Change != Same {
			described += ": " + text(c.Reason, 120)
		}
		all = append(all, described)
	}
	return strings.Join(all, "; ")
}

// legend explains the signs and the changes that occur, and counts what is not listed.
func (t *Table) legend(b *strings.Builder, listed int) {
	b.WriteString("\n✓ passed  ✗ failed  ⊘ blocked  ? inconclusive  – skipped\n")
	for _, c := range order {
		n := 0
		for _, col := range t.Columns[1:] {
			n += col.Changes[c]
		}
		if n > 0 {
			fmt.Fprintf(b, "%4d %s: %s\n", n, t.words(c)[0], t.words(c)[1])
		}
	}
	if n := len(t.Rows) - listed; n > 0 {
		fmt.Fprintf(b, "%4d without a known difference, not listed: compare.md lists them (--out)\n", n)
	}
	if t.NotJudged > 0 {
		fmt.Fprintf(b, "%4d judged by no result, not listed\n", t.NotJudged)
	}
}

// sign shows a verdict in a narrow column.
func sign(v reports.Verdict) string {
	return cmp.Or(map[reports.Verdict]string{
		reports.Passed: "✓", reports.Failed: "✗", reports.Blocked: "⊘", reports.Inconclusive: "?", reports.Skipped: "–",
	}[v], " ")
}

// order lists the changes as reports count them, the most serious first.
var order = [...]Change{Regression, Stricter, Found, Unjudged, Fixed, New, Removed, NotRun}

// words name a change and say what it means. Between different implementations there is no before and after: what only
// the other one passes is no regression.
func (t *Table) words(c Change) [2]string {
	if t.Versions {
		return map[Change][2]string{
			Regression: {"regression", "passed before, the same check fails now"},
			Stricter:   {"fails a new check", "the check is not in the older suite: no regression"},
			Found:      {"fails, not judged before", "fails now, was not judged before"},
			Unjudged:   {"no longer judged", "judged before, not judged now"},
			Fixed:      {"fixed", "passes now, did not pass before"},
			New:        {"new", "not in the older suite: no regression"},
			Removed:    {"removed", "not in the newer suite"},
			NotRun:     {"not run", "left out of one of the runs"},
		}[c]
	}
	return map[Change][2]string{
		Regression: {"fails here only", "A passes, this one fails"},
		Stricter:   {"fails here only", "A passes an older check, this one fails a newer check"},
		Found:      {"fails", "this one fails, A was not judged"},
		Unjudged:   {"not judged", "A was judged, this one was not"},
		Fixed:      {"passes here only", "this one passes, A does not"},
		New:        {"here only", "not in the suite that judged A"},
		Removed:    {"not here", "not in the suite that judged this one"},
		NotRun:     {"not run", "left out of one of the runs"},
	}[c]
}

// headline says in one line what differs: "B fails 9 that A passes, passes 2 that A fails".
func (t *Table) headline() string {
	last := t.Columns[len(t.Columns)-1]
	if t.Versions {
		return fmt.Sprintf("%s: %s, %d fixed since %s", last.Label, reports.Count(last.Changes[Regression], "regression"), last.Changes[Fixed], t.Columns[0].Label)
	}
	var parts []string
	for i := 1; i < len(t.Columns); i++ {
		fails, passes := 0, 0
		for _, r := range t.Rows {
			switch first, other := r.Cells[0].Verdict, r.Cells[i].Verdict; {
			case first == reports.Passed && other == reports.Failed:
				fails++
			case first == reports.Failed && other == reports.Passed:
				passes++
			}
		}
		parts = append(parts, fmt.Sprintf("%s fails %d that A passes, passes %d that A fails", column(i), fails, passes))
	}
	return strings.Join(parts, "; ")
}

// Markdown writes the comparison as tables: the columns, what differs, and all judged requirements in a closed section.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| | Result | Verdict | Passed | Remaining | Suite |\n|---|---|---|---|---|---|\n", safe.Prose(t.headline(), 300))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", column(i), safe.Prose(c.Label, 100), safe.Prose(c.Verdict, 200), c.Passed,
			safe.Prose(c.Remaining, 200), safe.Prose(c.Suite, 50))
	}
	if different := t.different(); len(different) > 0 {
		fmt.Fprintf(&b, "\n### Differences (%d)\n\n", len(different))
		t.markdownRows(&b, different)
	}
	b.WriteString("\n<details><summary>All judged requirements</summary>\n\n")
	t.markdownRows(&b, t.Rows)
	b.WriteString("\n</details>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) markdownRows(b *strings.Builder, rows []Row) {
	b.WriteString("| Requirement | Level |")
	for i := range t.Columns {
		fmt.Fprintf(b, " %s |", column(i))
	}
	b.WriteString(" Change |\n|---|---|" + strings.Repeat(":-:|", len(t.Columns)) + "---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s |", safe.MarkdownCode(safe.Ellipsis(r.ID, 60)), r.Level)
		for _, c := range r.Cells {
			fmt.Fprintf(b, " %s |", sign(c.Verdict))
		}
		fmt.Fprintf(b, " %s |\n", safe.Prose(t.changes(r), 600))
	}
}
