package compare

import (
	_ "embed" // the template is part of the program
	"fmt"
	"html/template"
	"io"
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
		for _, col := range t.Columns[1:] {
			if col.Changes[c] > 0 {
				page.Legend = append(page.Legend, c)
				break
			}
		}
	}
	if err := tmpl.Execute(w, page); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

type htmlPart struct {
	Name string
	Rows []htmlRow
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
		p.Rows = append(p.Rows, htmlRow{r, !r.changed()})
	}
	return parts
}

// Verdict is the conclusion of the last column, for the colour of the page.
func (t *Table) Verdict() reports.Conclusion { return t.Columns[len(t.Columns)-1].Verdict }
