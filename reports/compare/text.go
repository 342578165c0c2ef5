package compare

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reports/safe"
)

// Text writes the comparison for a terminal: the columns, the table, and what has changed and why. With color, what
// is a regression is red and what is fixed is green.
func (t *Table) Text(w io.Writer, color bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", safe.Line(safe.Ellipsis(t.headline(), 300)))
	for i, c := range t.Columns {
		fmt.Fprintf(&b, "  %s  %s: %s, %d of %d that bind passed, %s (suite %s)\n", column(i), text(c.Label, 60), c.Verdict, c.Passed, c.Deciding, text(c.Distance, 200), text(c.Suite, 30))
	}
	b.WriteString("\n" + t.header())
	for _, r := range t.Rows {
		b.WriteString(t.line(r, color))
	}
	t.legend(&b)
	_, err := io.WriteString(w, b.String())
	if err != nil {
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

func (t *Table) idWidth() int {
	width := len("Requirement")
	for _, r := range t.Rows {
		width = max(width, utf8.RuneCountInString(text(r.ID, 40)))
	}
	return width
}

func (t *Table) header() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %-6s", t.idWidth(), "Requirement", "Level")
	for i := range t.Columns {
		fmt.Fprintf(&b, "  %s", column(i))
	}
	b.WriteString("  Change\n")
	return b.String()
}

func (t *Table) line(r Row, color bool) string {
	var b strings.Builder
	id := text(r.ID, 40)
	fmt.Fprintf(&b, "%s%s  %-6s", id, strings.Repeat(" ", t.idWidth()-utf8.RuneCountInString(id)), r.Level)
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

// change tells of one cell, with the column where there is more than one to choose from.
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
	said := strings.Join(words, ", ")
	if len(t.Columns) > 2 {
		said = column(i) + " " + said
	}
	if c.Reason != "" && c.Change != Fixed && c.Change != Same {
		said += ": " + text(c.Reason, 120)
	}
	return said
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

func (t *Table) legend(b *strings.Builder) {
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
}
