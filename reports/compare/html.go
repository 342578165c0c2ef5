package compare

import (
	_ "embed" // the template is part of the program
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

//go:embed page.gohtml
var pageSource string

//go:embed style.css
var styleSource string

// HTML writes the comparison as one page that needs no network and has no script.
func (t *Table) HTML(w io.Writer) error {
	visible := func(s string) string { return safe.Visible(safe.Ellipsis(s, 1000)) }
	tmpl, err := template.New("page").Funcs(template.FuncMap{
		"v": visible, "sign": sign, "letter": column, "word": t.word, "explain": t.explain,
		"class": func(c Change) string { return strings.ReplaceAll(string(c), " ", "-") },
	}).Parse(pageSource)
	if err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	page := struct {
		*Table
		Policy   string
		Style    template.CSS
		Headline string
		Parts    []htmlPart
		Legend   []Change
	}{
		Table: t, Headline: visible(t.headline()), Style: template.CSS(styleSource), Parts: t.parts(), //nolint:gosec // our own style
		Policy: "default-src 'none'; style-src " + safe.PolicyHash(styleSource),
	}
	for _, c := range order {
		if slices.ContainsFunc(t.Columns[1:], func(col Column) bool { return col.Changes[c] > 0 }) {
			page.Legend = append(page.Legend, c)
		}
	}
	if err := tmpl.Execute(w, page); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

type htmlPart struct {
	Name    string
	Rows    []htmlRow
	Differs bool // one row at least
}

type htmlRow struct {
	Row
	Same bool
}

// parts groups the rows by part of the interface.
func (t *Table) parts() []htmlPart {
	var parts []htmlPart
	for _, r := range t.Rows {
		if len(parts) == 0 || parts[len(parts)-1].Name != r.Profile {
			parts = append(parts, htmlPart{Name: r.Profile})
		}
		p := &parts[len(parts)-1]
		p.Rows, p.Differs = append(p.Rows, htmlRow{r, !r.differs()}), p.Differs || r.differs()
	}
	return parts
}

// Verdict is the conclusion of the last column, for the colour of the page.
func (t *Table) Verdict() reports.Conclusion { return t.Columns[len(t.Columns)-1].Verdict }

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
