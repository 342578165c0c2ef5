package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Markdown writes the comparison as tables: the columns first, then what differs, then all requirements folded away.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| | Result | Verdict | Passed | Distance | Suite |\n|---|---|---|---|---|---|\n", safe.Prose(t.headline(), 300))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %s | %s |\n", column(i), safe.Prose(c.Label, 100), c.Verdict, c.Passed, c.Deciding, safe.Prose(c.Distance, 200), safe.Prose(c.Suite, 50))
	}
	var different []Row
	for _, r := range t.Rows {
		if r.changed() {
			different = append(different, r)
		}
	}
	if len(different) > 0 {
		fmt.Fprintf(&b, "\n### Differences (%d)\n\n", len(different))
		t.markdownRows(&b, different)
	}
	b.WriteString("\n<details><summary>All requirements</summary>\n\n")
	t.markdownRows(&b, t.Rows)
	b.WriteString("\n</details>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func (t *Table) markdownRows(b *strings.Builder, rows []Row) {
	b.WriteString("| Requirement | Level |")
	for i := range t.Columns {
		fmt.Fprintf(b, " %s |", column(i))
	}
	b.WriteString(" Change |\n|---|---|" + strings.Repeat(":-:|", len(t.Columns)) + "---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s |", safe.MarkdownCode(safe.Ellipsis(r.ID, 60)), r.Level)
		var changes []string
		for i, c := range r.Cells {
			fmt.Fprintf(b, " %s |", sign(c.Verdict))
			if i > 0 && (c.Change != Same || c.Note != "") {
				changes = append(changes, t.change(i, c, false))
			}
		}
		fmt.Fprintf(b, " %s |\n", safe.Prose(strings.Join(changes, "; "), 600))
	}
}
