// Package html writes a result as one HTML page for people: from a failure to its cause.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

//go:embed templates
var templates embed.FS

var (
	//go:embed assets/page.css
	style string
	//go:embed assets/page.js
	script string
)

// Write writes r as one page that needs nothing else: no network, no other file, and no script to be read. Scripts add
// filters, keys and the evidence of every exchange, which is in the page as data and shown when it is opened. A content
// security policy in the page forbids all scripts but its own. The page links to the same result in other formats, in
// the same folder. Write fails where w does.
func Write(w io.Writer, r *reports.Result) error {
	return parsed().Execute(w, pageOf(r))
}

// parsed reads the templates once: a section of the page each.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
		"beyond": func(n, most int) int { return max(n-most, 0) }, "byKind": overview.CountByKind,
		"duration": reports.Duration, "ellipsis": safe.Ellipsis, "join": strings.Join, "known": (*reports.Known).String,
		"long": long, "levels": func() []reports.Level { return reports.Levels }, "rule": reports.RuleURL,
		"seen": (*reports.Finding).SeenText, "shortID": shortID, "where": reports.SectionText,
	}).ParseFS(templates, "templates/*.gohtml"))
})

// long tells whether texts need a box that scrolls. Such a box must be reachable by the keyboard, and only such a box.
func long(texts ...string) bool {
	s := strings.Join(texts, "")
	return len(s) > 3000 || strings.Count(s, "\n") > 24
}

// page is what the templates show. All text in it is scrubbed, so that no place in a template can forget to do it.
type page struct {
	overview.Overview
	assets
	Link     string            // address of the implementation, if it is one that can be followed
	Verdicts []reports.Verdict // that occur
	Parts    []*part
	Coverage *coverageView // nil: no operation is known
	Chart    *chart        // nil: no status was polled
	Rows     []exchangeRow
	Shown    []shownExchange

	recorded *reports.Result // as it is: with its exchanges, and not scrubbed
}

// maxText bounds each text in the page.
const maxText = 8 << 10

// scrubbed returns a copy of v in which every text is visible, and has at most limit bytes.
func scrubbed[T any](v T, limit int) T {
	return safe.Copy(v, func(text string) string { return safe.Visible(safe.Cut(text, limit)) })
}

func pageOf(recorded *reports.Result) *page {
	shallow := *recorded
	shallow.Exchanges = nil
	r := scrubbed(&shallow, maxText)
	p := &page{Overview: overview.Of(r), assets: ownAssets(), Coverage: coverageOf(r), recorded: recorded}
	if link := r.Target.Implementation.URL; strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		p.Link = link
	}
	p.Verdicts = slices.DeleteFunc(slices.Clone(reports.Verdicts), func(v reports.Verdict) bool {
		return !slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.Verdict == v })
	})
	p.Rows, p.Shown = p.exchanges()
	p.Parts = p.parts()
	p.Chart = chartOf(r)
	return p
}

// Title is that of the window.
func (p *page) Title() string { return p.Display().String() + " – " + p.Subject() }

// Cleanup is what the run created at the target.
func (p *page) Cleanup() overview.Cleanup { return p.Overview.Cleanup(p.Result.Run.Flag("--out")) }

// assets are what each page holds beside its content.
type assets struct {
	Policy string
	Style  template.CSS
	Script template.JS
}

func ownAssets() assets {
	return assets{Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // our own files
		Policy: "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
			"; base-uri 'none'; form-action 'none'"}
}

// hash names a script or a style sheet in the content security policy.
func hash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Todo lists what remains for conformance by cause, failures first.
func (p *page) Todo() []overview.Cause {
	var all []*reports.Requirement
	for _, s := range p.Problems() {
		for _, q := range s.Requirements {
			if s.Class != overview.Known && q.Decides() {
				all = append(all, q)
			}
		}
	}
	for _, q := range reports.BrokenClaims(p.Result) {
		if !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	return p.Causes(all)
}
