package compare

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Text writes the comparison for a terminal: what differs in one sentence, the results, the requirements of which they
// differ, and a legend.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", safe.Line(safe.Ellipsis(t.headline(), 300)))
	rows := t.different()
	for _, table := range [][][]string{t.results(), t.requirements(rows)} {
		columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range table {
			for i, cell := range row {
				row[i] = safe.Line(safe.Ellipsis(cell, 200))
			}
			fmt.Fprintln(columns, strings.Join(row, "\t"))
		}
		_ = columns.Flush() // into memory
		b.WriteString("\n")
	}
	t.legend(&b, len(rows))
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the comparison as tables: the results, what differs, and all judged requirements in a closed section.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	write := func(table [][]string) {
		for i, row := range table {
			for _, cell := range row {
				fmt.Fprintf(&b, "| %s ", safe.Prose(cell, 600))
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
			}
		}
	}
	fmt.Fprintf(&b, "## %s\n\n", safe.Prose(t.headline(), 300))
	write(t.results())
	if different := t.different(); len(different) > 0 {
		fmt.Fprintf(&b, "\n### Differences (%d)\n\n", len(different))
		write(t.requirements(different))
	}
	b.WriteString("\n<details><summary>All judged requirements</summary>\n\n")
	write(t.requirements(t.Rows))
	b.WriteString("\n</details>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// results has a line for each result.
func (t *Table) results() [][]string {
	table := [][]string{{"", "Result", "Verdict", "Remaining", "Suite"}}
	for i, c := range t.Columns {
		o := overview.Of(c.Result)
		table = append(table, []string{column(i), c.Label, o.Display().String(), o.Remaining(), c.Result.Suite.Version})
	}
	return table
}

// requirements has a line for each requirement, with its verdict in each result, and what changes.
func (t *Table) requirements(rows []Row) [][]string {
	head := []string{"Requirement", "Level"}
	for i := range t.Columns {
		head = append(head, column(i))
	}
	table := [][]string{append(head, "Change")}
	for _, r := range rows {
		line := []string{r.ID, string(r.Level)}
		for _, c := range r.Cells {
			line = append(line, sign(c.Verdict))
		}
		table = append(table, append(line, t.changes(r)))
	}
	return table
}

// column names a column by a letter: labels are too wide for a table.
func column(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}

// sign shows a verdict in a narrow column.
func sign(v reports.Verdict) string {
	return cmp.Or(map[reports.Verdict]string{
		reports.Passed: "✓", reports.Failed: "✗", reports.Blocked: "⊘", reports.Inconclusive: "?", reports.Skipped: "–",
	}[v], " ")
}

// changes describes what changes in a row; with three columns or more it names the column.
func (t *Table) changes(r Row) string {
	var all []string
	for i, c := range r.Cells {
		if i == 0 || c.Change == Same && c.Note == "" {
			continue
		}
		described := strings.TrimPrefix(strings.TrimSuffix(t.name(c.Change)+", "+c.Note, ", "), ", ")
		if len(t.Columns) > 2 {
			described = column(i) + " " + described
		}
		if c.Reason != "" && c.Change != Fixed && c.Change != Same {
			described += ": " + safe.Ellipsis(c.Reason, 120)
		}
		all = append(all, described)
	}
	return strings.Join(all, "; ")
}

// legend explains the signs, counts the changes, and what is not listed.
func (t *Table) legend(b *strings.Builder, listed int) {
	b.WriteString("✓ passed  ✗ failed  ⊘ blocked  ? inconclusive  – skipped\n")
	for _, c := range order {
		n := 0
		for _, col := range t.Columns[1:] {
			n += col.Changes[c]
		}
		if n > 0 {
			fmt.Fprintf(b, "%4d %s\n", n, t.name(c))
		}
	}
	if n := len(t.Rows) - listed; n > 0 {
		fmt.Fprintf(b, "%4d without a known difference, not listed: compare.md lists them (--out)\n", n)
	}
	if t.NotJudged > 0 {
		fmt.Fprintf(b, "%4d judged by no result, not listed\n", t.NotJudged)
	}
}

// order lists the changes as reports count them, the most serious first.
var order = [...]Change{Regression, Stricter, Found, Unjudged, Fixed, New, Removed, NotRun}

// name says what a change is, for people. Between different implementations there is no before and after: what only the
// other one passes is no regression.
func (t *Table) name(c Change) string {
	names := map[Change][2]string{
		Regression: {"passed before, fails now", "fails here only"},
		Stricter:   {"fails a check that the older suite does not have", "fails a check that the other suite does not have"},
		Found:      {"fails, not judged before", "fails, not judged in A"},
		Unjudged:   {"no longer judged", "not judged here"},
		Fixed:      {"fixed", "passes here only"},
		New:        {"not in the older suite", "not in the suite that judged A"},
		Removed:    {"not in the newer suite", "not in the suite that judged this one"},
		NotRun:     {"left out of one of the runs", "left out of one of the runs"},
	}[c]
	if t.Versions {
		return names[0]
	}
	return names[1]
}

// headline says in one line what differs: "B fails 9 that A passes, passes 2 that A does not".
func (t *Table) headline() string {
	last := t.Columns[len(t.Columns)-1]
	if t.Versions {
		return fmt.Sprintf("%s: %s, %d fixed since %s", last.Label, reports.Count(last.Changes[Regression], "regression"),
			last.Changes[Fixed], t.Columns[0].Label)
	}
	var parts []string
	for i, c := range t.Columns[1:] {
		parts = append(parts, fmt.Sprintf("%s fails %d that A passes, passes %d that A does not", column(i+1),
			c.Changes[Regression]+c.Changes[Stricter], c.Changes[Fixed]))
	}
	return strings.Join(parts, "; ")
}
