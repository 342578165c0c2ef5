// Package html writes a result as one HTML page for people: from a failure to its cause.
package html

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

//go:embed templates assets
var sources embed.FS

// Write writes r as one page that needs nothing else: no network, no other file, and no script to be read. Scripts add
// filters, keys and the evidence of every exchange, which is in the page as data and shown when it is opened. A content
// security policy in the page forbids all scripts but its own. The page links to the files that are named: the same
// result in other formats, in the same folder. Write fails where w does.
func Write(w io.Writer, r *reports.Result, files ...string) error {
	assets, err := readAssets()
	if err != nil {
		return fmt.Errorf("writing the HTML page: %w", err)
	}
	p := pageOf(r, assets)
	p.Files = files
	if err := assets.page.Execute(w, p); err != nil {
		return fmt.Errorf("writing the HTML page: %w", err)
	}
	return nil
}

// pageAssets are the parts of the page that are the same for all results.
type pageAssets struct {
	page   *template.Template
	style  template.CSS
	script template.JS
	policy string
}

// The parts of the style and of the script, in the order in which they are joined.
var (
	styles  = []string{"base.css", "summary.css", "requirements.css", "finding.css", "sections.css", "media.css"}
	scripts = []string{"evidence.js", "exchanges.js", "requirements.js", "page.js"}
)

// readAssets reads the assets once.
var readAssets = sync.OnceValues(func() (*pageAssets, error) {
	style, err := joined(styles)
	if err != nil {
		return nil, err
	}
	script, err := joined(scripts)
	if err != nil {
		return nil, err
	}
	script = "\"use strict\";\n(() => {\n" + script + "})();\n"
	functions := template.FuncMap{"join": strings.Join, "duration": overview.Duration, "byKind": overview.CountByKind, "long": long}
	page, err := template.New("page.gohtml").Funcs(functions).ParseFS(sources, "templates/*.gohtml")
	if err != nil {
		return nil, err
	}
	policy := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", safe.PolicyHash(style), safe.PolicyHash(script))
	return &pageAssets{page: page, style: template.CSS(style), script: template.JS(script), policy: policy}, nil //nolint:gosec // our own files
})

func joined(names []string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		text, err := sources.ReadFile("assets/" + name)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// long tells whether a text needs a box that scrolls. Such a box must be reachable by the keyboard, and only such a box.
func long(text any) bool {
	s := fmt.Sprint(text)
	return len(s) > 3000 || strings.Count(s, "\n") > 24
}
