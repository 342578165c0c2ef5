// Package html writes a result, and the specification, as HTML pages. Start with [Write].
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
	//go:embed assets/common.js
	commonScript string
	//go:embed assets/exchanges.js
	exchangesScript string
	//go:embed assets/page.js
	pageScript string
)

// Write writes r as one page that needs no network and no other file, and that can be read without scripts. Its scripts
// add filters, keys and the evidence of all exchanges, which is in the page as data. Its content security policy forbids
// all other scripts. The page links to the other formats in the same folder. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	p, err := pageOf(r)
	if err != nil {
		return err
	}
	return parsed().Execute(w, p)
}

// parsed returns the templates. It reads them once.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.gohtml").Funcs(template.FuncMap{
		"count": reports.Count, "word": overview.Word,
		"duration": reports.Duration, "ellipsis": safe.Ellipsis, "join": strings.Join, "known": (*reports.Known).String,
		"long": isLong, "levels": func() []reports.Level { return reports.Levels }, "rule": reports.RuleURL, "segments": segmentsOf, "excluded": func() string { return reports.ExcludedURL },
		"counts": countScenarios, "quote": quoteText, "sections": sectionsOf, "shortID": shortID, "slug": func(c overview.Class) string { return reports.Slug(string(c)) },
	}).ParseFS(templates, "templates/*.gohtml"))
})

// segmentsOf returns the segments of a path, each with its slash. A line may break between them.
func segmentsOf(path string) []string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		segments[i] = "/" + s
	}
	return segments
}

// isLong reports whether texts need a box that scrolls. Only such a box must be reachable by the keyboard.
func isLong(texts ...string) bool {
	s := strings.Join(texts, "")
	return len(s) > 3000 || strings.Count(s, "\n") > 24
}

// page is the data of the templates. All of its texts are scrubbed.
type page struct {
	overview.Overview
	assets
	Link     string // address of the implementation, if it is an HTTP address
	Problems []problem
	Words    []overview.Class // words for verdicts, in the order of the page
	Parts    []part
	Coverage *coverageView // nil if there are no operations
	Chart    *chart        // nil if no status was polled
	Records  template.HTML // all exchanges, compressed; empty if there are none

	recorded *reports.Result // the result with its exchanges, not scrubbed
}

// maxText is the maximum length of a text in the page, in bytes.
const maxText = 8 << 10

// scrubbed returns a copy of v in which each text is visible and has at most limit bytes.
func scrubbed[T any](v T, limit int) T {
	return safe.Copy(v, func(text string) string { return safe.Visible(safe.Cut(text, limit)) })
}

func pageOf(recorded *reports.Result) (*page, error) {
	shallow := *recorded
	shallow.Exchanges = nil
	r := scrubbed(&shallow, maxText)
	p := &page{Overview: overview.Of(r), assets: assetsOf(style, commonScript+exchangesScript+pageScript), Coverage: coverageOf(r), recorded: recorded}
	if link := r.Target.Implementation.URL; strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		p.Link = link
	}
	for _, word := range overview.Words {
		if slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return overview.Word(q.Verdict) == word }) {
			p.Words = append(p.Words, word)
		}
	}
	if p.Unreachable() != nil {
		p.assets = assetsOf(style, commonScript)
		return p, nil
	}
	p.Problems = p.problems()
	p.Parts = partsOf(p.requirements())
	p.Chart = chartOf(r)
	if len(recorded.Exchanges) == 0 {
		return p, nil
	}
	var err error
	p.Records, err = packed(p.records())
	return p, err
}

// Unreachable returns the exchanges if the target returned no response at all, and otherwise nil. In that case nothing
// else in the result helps the reader.
func (p *page) Unreachable() []reports.Exchange {
	tried := p.recorded.Exchanges[:min(len(p.recorded.Exchanges), 5)]
	answered := func(x reports.Exchange) bool { return x.Status > 0 }
	if p.Tested > 0 || slices.ContainsFunc(p.recorded.Exchanges, answered) {
		return nil
	}
	return scrubbed(tried, maxText)
}

// Files returns the names of the other reports.
func (p *page) Files() (all []string) {
	for _, report := range p.Result.Run.Reports() {
		if report != reports.ReportHTML && report != reports.ReportScripts {
			all = append(all, report.File())
		}
	}
	return all
}

// ExchangesFile returns the name of the file with all exchanges.
func (p *page) ExchangesFile() string { return reports.ExchangesFile }

// Exchanges returns the number of exchanges.
func (p *page) Exchanges() int { return len(p.recorded.Exchanges) }

// Title returns the title of the page.
func (p *page) Title() string { return p.Display().String() + " – " + p.Subject() }

// Cleanup describes whether the objects of the test run were removed.
func (p *page) Cleanup() overview.Cleanup { return p.Overview.Cleanup(p.Result.Run.Flag("--out")) }

// assets are the parts that are common to all pages.
type assets struct {
	Generator string // command that wrote the page; may be empty
	Policy    string
	Style     template.CSS
	Script    template.JS
}

// assetsOf returns the style and the script of a page. The script may be empty.
func assetsOf(style, script string) assets {
	policy := "default-src 'none'; style-src " + hash(style)
	if script != "" {
		policy += "; script-src " + hash(script)
	}
	return assets{Policy: policy + "; base-uri 'none'; form-action 'none'",
		Style: template.CSS(style), Script: template.JS(script)} //nolint:gosec // files of this package
}

// hash returns the name of a script or style sheet in the content security policy.
func hash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
