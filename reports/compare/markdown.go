package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// Markdown writes the comparison as tables: the columns, what differs, and all judged requirements in a closed section.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| | Result | Verdict | Passed | Remaining | Suite |\n|---|---|---|---|---|---|\n", safe.Prose(t.headline(), 300))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", column(i), safe.Prose(c.Label, 100), safe.Prose(c.Shown, 200), c.Passed, safe.Prose(c.Distance, 200), safe.Prose(c.Suite, 50))
	}
	if different := t.different(); len(different) > 0 {
		fmt.Fprintf(&b, "\n### Differences (%d)\n\n", len(different))
		t.markdownRows(&b, different)
	}
	b.WriteString("\n<details><summary>All judged requirements</summary>\n\n")
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
