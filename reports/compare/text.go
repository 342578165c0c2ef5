package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// TextOptions say how [Table.Text] writes.
type TextOptions struct {
	Color bool // regressions in red, what is fixed in green
	All   bool // also the requirements that do not differ
}

// Text writes the comparison for a terminal: what differs in one sentence, the columns, the table, and a legend.
func (t *Table) Text(w io.Writer, o TextOptions) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", safe.Line(safe.Ellipsis(t.headline(), 300)))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "  %s  %s: %s, %s (suite %s)\n", column(i), text(c.Label, 60), text(c.Shown, 200), c.Passed, text(c.Suite, 30))
	}
	rows := t.Rows
	if !o.All {
		rows = t.different()
	}
	if len(rows) > 0 {
		b.WriteString("\n" + header(rows, len(t.Columns)))
	}
	width := idWidth(rows)
	for _, r := range rows {
		b.WriteString(t.line(r, width, o.Color))
	}
	t.legend(&b, len(rows))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("printing the comparison: %w", err)
	}
	return nil
}

// column names a column by a letter: labels are too wide for a table.
func column(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}

func text(s string, limit int) string { return safe.Line(safe.Ellipsis(s, limit)) }

// different are the rows that differ.
func (t *Table) different() []Row {
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return !r.differs() })
}

func idWidth(rows []Row) int {
	width := len("Requirement")
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(text(r.ID, 40)))
	}
	return width
}

func header(rows []Row, columns int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %-6s", idWidth(rows), "Requirement", "Level")
	for i := range columns {
		fmt.Fprintf(&b, "  %s", column(i))
	}
	b.WriteString("  Change\n")
	return b.String()
}

func (t *Table) line(r Row, width int, color bool) string {
	var b strings.Builder
	id := text(r.ID, 40)
	fmt.Fprintf(&b, "%s%s  %-6s", id, strings.Repeat(" ", width-utf8.RuneCountInString(id)), r.Level)
	var changes []string
	for i, c := range r.Cells {
		mark := sign(c.Verdict)
		if color {
			mark = paint(c.Change, mark)
		}
		fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", 2+len(column(i))-1), mark)
		if i > 0 && (c.Change != Same || c.Note != "") {
			changes = append(changes, t.change(i, c, color))
		}
	}
	if changes != nil {
		b.WriteString("  " + strings.Join(changes, "; "))
	}
	return b.String() + "\n"
}

// change describes the change of one cell; with three columns or more it names the column.
func (t *Table) change(i int, c Cell, color bool) string {
	var words []string
	if c.Change != Same {
		word := t.word(c.Change)
		if color {
			word = paint(c.Change, word)
		}
		words = append(words, word)
	}
	if c.Note != "" {
		words = append(words, text(c.Note, 80))
	}
	described := strings.Join(words, ", ")
	if len(t.Columns) > 2 {
		described = column(i) + " " + described
	}
	if c.Reason != "" && c.Change != Fixed && c.Change != Same {
		described += ": " + text(c.Reason, 120)
	}
	return described
}

func paint(c Change, s string) string {
	switch c {
	case Regression:
		return "\x1b[31m" + s + "\x1b[0m"
	case Fixed:
		return "\x1b[32m" + s + "\x1b[0m"
	case Stricter, Found, Unjudged:
		return "\x1b[33m" + s + "\x1b[0m"
	}
	return s
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
			fmt.Fprintf(b, "%4d %s: %s\n", n, t.word(c), t.explain(c))
		}
	}
	if n := len(t.Rows) - listed; n > 0 {
		fmt.Fprintf(b, "%4d without a known difference, not listed: --all lists them\n", n)
	}
	if t.NotJudged > 0 {
		fmt.Fprintf(b, "%4d judged by no result, not listed\n", t.NotJudged)
	}
}

var signs = map[reports.Verdict]string{
	reports.Passed: "✓", reports.Failed: "✗", reports.Blocked: "⊘", reports.Inconclusive: "?", reports.Skipped: "–",
}

// sign shows a verdict in a narrow column.
func sign(v reports.Verdict) string { return cmp.Or(signs[v], " ") }

// word names a change. Between different implementations there is no before and after: what only the other one passes
// is no regression.
func (t *Table) word(c Change) string {
	words := map[Change]string{Stricter: "fails a new check", Found: "fails, not judged before", Unjudged: "no longer judged"}
	if !t.Versions {
		words = map[Change]string{
			Regression: "fails here only", Stricter: "fails here only", Fixed: "passes here only", Found: "fails",
			New: "here only", Removed: "not here", Unjudged: "not judged",
		}
	}
	return cmp.Or(words[c], string(c))
}

// explain says what a change means.
func (t *Table) explain(c Change) string {
	if !t.Versions {
		return map[Change]string{
			Regression: "A passes, this one fails", Stricter: "A passes an older check, this one fails a newer check",
			Fixed: "this one passes, A does not", Found: "this one fails, A was not judged",
			Unjudged: "A was judged, this one was not", New: "not in the suite that judged A",
			Removed: "not in the suite that judged this one", NotRun: "left out of one of the runs",
		}[c]
	}
	return map[Change]string{
		Regression: "passed before, the same check fails now", Stricter: "the check is not in the older suite: no regression",
		Fixed: "passes now, did not pass before", Found: "fails now, was not judged before",
		Unjudged: "judged before, not judged now", New: "not in the older suite: no regression",
		Removed: "not in the newer suite", NotRun: "left out of one of the runs",
	}[c]
}

// order lists the changes as reports count them, the most serious first.
var order = [...]Change{Regression, Stricter, Found, Unjudged, Fixed, New, Removed, NotRun}

// headline says in one line what differs: "B fails 9 that A passes, passes 2 that A fails".
func (t *Table) headline() string {
	last := t.Columns[len(t.Columns)-1]
	if t.Versions {
		return fmt.Sprintf("%s: %s, %d fixed since %s", last.Label, reports.Count(last.Changes[Regression], "regression"), last.Changes[Fixed], t.Columns[0].Label)
	}
	var parts []string
	for i := 1; i < len(t.Columns); i++ {
		parts = append(parts, fmt.Sprintf("%s fails %d that A passes, passes %d that A fails", column(i),
			t.opposed(i, reports.Passed, reports.Failed), t.opposed(i, reports.Failed, reports.Passed)))
	}
	return strings.Join(parts, "; ")
}

// opposed counts the rows with this verdict in the first column and that one in column i.
func (t *Table) opposed(i int, first, other reports.Verdict) int {
	n := 0
	for _, r := range t.Rows {
		if r.Cells[0].Verdict == first && r.Cells[i].Verdict == other {
			n++
		}
	}
	return n
}
