package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// Text writes the comparison for a terminal: a headline, the results, the requirements that differ, and a legend.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", safe.Line(safe.Ellipsis(t.headline(), 300)))
	differences := t.differences()
	writeAligned(&b, t.results())
	if len(differences) > 0 {
		writeAligned(&b, t.requirements(differences))
	}
	t.legend(&b, len(differences))
	_, err := io.WriteString(w, b.String())
	return err
}

func writeAligned(b *strings.Builder, table [][]string) {
	columns := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range table {
		for i, cell := range row {
			row[i] = safe.Line(safe.Ellipsis(cell, 200))
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush() // writing to a strings.Builder does not fail
	b.WriteString("\n")
}

// Markdown writes the comparison as tables: the results, the capabilities, the differences, and all judged requirements in a
// closed section.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", safe.Prose(t.headline(), 300))
	writeMarkdown(&b, t.results())
	if capabilities := t.capabilities(); len(capabilities) > 1 {
		b.WriteString("\n### Capabilities\n\n")
		writeMarkdown(&b, capabilities)
	}
	if differences := t.differences(); len(differences) > 0 {
		fmt.Fprintf(&b, "\n### Differences (%d)\n\n", len(differences))
		writeMarkdown(&b, t.requirements(differences))
	}
	b.WriteString("\n<details><summary>All judged requirements</summary>\n\n")
	writeMarkdown(&b, t.requirements(t.Rows))
	b.WriteString("\n</details>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMarkdown(b *strings.Builder, table [][]string) {
	for i, row := range table {
		for _, cell := range row {
			fmt.Fprintf(b, "| %s ", safe.Prose(cell, 600))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
}

func (t *Table) results() [][]string {
	table := [][]string{{"", "Result", "Verdict", "Summary", "Suite"}}
	for i, c := range t.Columns {
		o := overview.Of(c.Result)
		table = append(table, []string{letter(i), c.Label, o.Display().String(), o.Headline(), c.Result.Suite.Version})
	}
	return table
}

// capabilities returns a table with a row for each capability: its result, and how many of its applicable requirements
// passed.
func (t *Table) capabilities() [][]string {
	head := []string{"Capability"}
	for i := range t.Columns {
		head = append(head, letter(i))
	}
	table, support := [][]string{head}, t.support()
	groups, _ := t.groups()
	for _, group := range groups {
		line := []string{group.Name}
		for i := range t.Columns {
			cell := ""
			if s, has := support[i][group.Name]; has && s.All > 0 {
				cell = string(s.Class) + " " + s.Share()
			}
			line = append(line, cell)
		}
		table = append(table, line)
	}
	return table
}

// requirements returns a table with a row for each requirement: its verdict in each result, and the changes.
func (t *Table) requirements(rows []Row) [][]string {
	head := []string{"Requirement", "Level"}
	for i := range t.Columns {
		head = append(head, letter(i))
	}
	table := [][]string{append(head, "Change")}
	for _, r := range rows {
		line := []string{r.ID, string(r.Level)}
		for _, c := range r.Cells {
			line = append(line, signs[c.Verdict])
		}
		table = append(table, append(line, t.changes(r)))
	}
	return table
}

// letter names a column in tables, for which labels are too wide.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}

var signs = map[reports.Verdict]string{
	reports.Passed: "✓", reports.Failed: "✗", reports.Blocked: "⊘", reports.Inconclusive: "?", reports.Skipped: "–", "": " ",
}

// changes describes the changes of a requirement. If there are more than two results it names the column of each.
func (t *Table) changes(r Row) string {
	var all []string
	for i, c := range r.Cells {
		if c.Change == Same && c.Note == "" {
			continue
		}
		text := reports.Joined(", ", t.describe(c.Change), c.Note)
		if len(t.Columns) > 2 {
			text = letter(i) + " " + text
		}
		if c.Reason != "" && c.Verdict != reports.Passed && c.Change != Same {
			text += ": " + safe.Ellipsis(c.Reason, 120)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// legend explains the signs and counts the requirements with each change, and those that are not listed.
func (t *Table) legend(b *strings.Builder, listed int) {
	b.WriteString("✓ passed  ✗ failed  ⊘ blocked  ? inconclusive  – skipped\n")
	for _, d := range descriptions {
		n := 0
		for _, row := range t.Rows {
			if slices.ContainsFunc(row.Cells, func(c Cell) bool { return c.Change == d.change }) {
				n++
			}
		}
		if n > 0 {
			fmt.Fprintf(b, "%4d %s\n", n, t.describe(d.change))
		}
	}
	if n := len(t.Rows) - listed; n > 0 {
		fmt.Fprintf(b, "%4d without a known difference, not listed: compare.md lists them (--out)\n", n)
	}
	if t.NotJudged > 0 {
		fmt.Fprintf(b, "%4d not judged in any result, not listed\n", t.NotJudged)
	}
}

// descriptions are the texts for changes, the most serious first: between versions of one implementation, and between
// different implementations, for which there is no before and after.
var descriptions = []struct {
	change              Change
	versions, different string
}{
	{Regression, "passed before, fails now", "fails here only"},
	{Stricter, "fails a check that the older suite does not have", "fails a check that the other suite does not have"},
	{Found, "fails, not judged before", "fails, not judged in A"},
	{Unjudged, "no longer judged", "not judged here"},
	{Fixed, "fixed", "passes here only"},
	{Judged, "passes, not judged before", "passes, not judged in A"},
	{New, "not in the older suite", "not in the suite that judged A"},
	{Removed, "not in the newer suite", "not in the suite that judged this one"},
	{NotRun, "excluded from one of the test runs", "excluded from one of the test runs"},
}

// describe returns the text for a change, or "" for Same.
func (t *Table) describe(c Change) string {
	for _, d := range descriptions {
		if d.change == c && t.Versions {
			return d.versions
		}
		if d.change == c {
			return d.different
		}
	}
	return ""
}

// headline summarizes the differences: "Compared with A: B fails 9 more and passes 2 more; C fails and passes the same".
// For versions of one server it has the numbers of regressions and of fixes in the last one.
func (t *Table) headline() string {
	if t.Versions {
		last := t.Columns[len(t.Columns)-1]
		return fmt.Sprintf("%s: %s, %d fixed since %s", last.Label, reports.Count(last.Changes[Regression], "regression"),
			last.Changes[Fixed], t.Columns[0].Label)
	}
	var parts []string
	for _, c := range t.Columns[1:] {
		var differences []string
		if n := c.Changes[Regression] + c.Changes[Stricter]; n > 0 {
			differences = append(differences, fmt.Sprintf("fails %d more", n))
		}
		if n := c.Changes[Fixed]; n > 0 {
			differences = append(differences, fmt.Sprintf("passes %d more", n))
		}
		if len(differences) == 0 {
			differences = append(differences, "fails and passes the same")
		}
		parts = append(parts, safe.Ellipsis(c.Label, 40)+" "+strings.Join(differences, " and "))
	}
	return fmt.Sprintf("Compared with %s: %s", safe.Ellipsis(t.Columns[0].Label, 40), strings.Join(parts, "; "))
}
