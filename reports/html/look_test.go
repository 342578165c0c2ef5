//go:build browser

package html_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestHTMLInABrowser(t *testing.T) {
	b := openBrowser(t)
	dir := pages(t, reporttest.Results())
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 1400}, {"dark", "dark", 1280, 1400}, {"narrow", "dark", 360, 1400}} {
		for name := range reporttest.Results() {
			b.size(look.width, look.height, look.scheme)
			b.open(filepath.Join(dir, name+".html"), "")
			b.picture(name + "-" + look.name)
			assert.Equal(t, fmt.Sprint(look.width), b.eval("document.documentElement.scrollWidth"), "%s, %s: nothing sticks out sideways", name, look.name)
			if look.name == "narrow" {
				assert.Equal(t, "true", b.eval("(m => m.scrollWidth <= m.clientWidth)(document.querySelector('.menu ul'))"), "%s: the navigation is not cut off", name)
				assert.Equal(t, "[]", b.eval(`JSON.stringify([...document.querySelectorAll(".menu a")].filter(a => {
					const section = document.querySelector(a.hash), menu = document.querySelector(".menu");
					scrollTo(0, document.documentElement.scrollHeight);
					section.scrollIntoView();
					const top = section.getBoundingClientRect().top;
					return !section.getClientRects().length || top < menu.getBoundingClientRect().bottom - 1 || top > innerHeight;
				}).map(a => a.hash))`), "%s: the navigation leads to sections that it does not cover", name)
				b.eval("scrollTo(0, 0)")
				assert.Equal(t, "true", b.eval(`(top => !document.querySelector(".problems") || !top("#scope") || top(".problems") < top(".stats") && top(".problems") < top("#scope"))(
					s => document.querySelector(s)?.getBoundingClientRect().top)`), "%s: what is wrong comes before figures and scope", name)
			}
		}
	}
	assert.Empty(t, b.complaints())
}

func TestHTMLIsReadableWithoutScriptsAndOnPaper(t *testing.T) {
	b := openBrowser(t)
	r := reporttest.Faulty() // of up to three failures the details are open
	for _, id := range []string{"CP-LIST-13", "AS-ROLLBACK-3", "AS-ROLLBACK-4", "AS-ROLLBACK-5"} {
		reporttest.Settle(r.Requirement(id), reports.Passed, "", nil)
		r.Findings = slices.DeleteFunc(r.Findings, func(f reports.Finding) bool { return f.Requirement == id })
	}
	steps := r.Requirement("CP-LIST-3").Scenarios[1].Steps
	steps[1].Verdict, steps[2].Verdict = reports.Failed, "" // the last one is not reached
	page := filepath.Join(pages(t, map[string]*reports.Result{"faulty": r}), "faulty.html")
	b.size(1280, 1400, "light")
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(page, "")
	assert.Equal(t, "none", b.eval("getComputedStyle(document.querySelector('.tools')).display"), "no filters that do nothing")
	text := b.eval("document.body.innerText")
	for _, want := range []string{"non-conformant", "The limit \"101\" is refused", "not reached", "1773480413", "curl -sS", "Without it, the exchanges behind findings are shown with the requirements", "EXPECTED", fmt.Sprintf("#%d", len(reporttest.Faulty().Exchanges))} {
		assert.Contains(t, text, want)
	}
	b.picture("faulty-noscript")
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	text = b.eval("document.body.innerText")
	assert.Contains(t, text, "1773480413")
	assert.NotContains(t, text, "Filters, headers and bodies", "the list of all exchanges is not for paper")
	b.picture("faulty-print")
	assert.Empty(t, b.complaints())
}

func TestHTMLFiltersAndKeys(t *testing.T) {
	b := openBrowser(t)
	page := filepath.Join(pages(t, reporttest.Results()), "faulty.html")
	b.size(1280, 1000, "light")
	b.open(page, "")
	r := reporttest.Faulty()
	shown := func() string { return b.eval("document.querySelectorAll('.req:not([hidden])').length") }
	count := func(match func(reports.Requirement) bool) string {
		n := 0
		for _, q := range r.Requirements {
			if match(q) {
				n++
			}
		}
		return fmt.Sprint(n)
	}
	all := count(func(reports.Requirement) bool { return true })
	failed := count(func(q reports.Requirement) bool { return q.Verdict == reports.Failed })
	rollbacks := count(func(q reports.Requirement) bool { return strings.HasPrefix(q.ID, "AS-ROLLBACK-") })
	assert.Equal(t, all, shown())
	b.key("f")
	assert.Equal(t, failed, shown())
	assert.Contains(t, b.eval("location.hash"), "verdicts=failed")
	b.eval("document.querySelector('#levels [data-value=SHOULD]').click()")
	assert.Equal(t, "1", shown())
	b.key("Escape")
	assert.Equal(t, all, shown())
	b.key("/")
	for _, c := range "as-rollback" {
		b.key(string(c))
	}
	assert.Equal(t, rollbacks, shown())
	assert.Equal(t, rollbacks+" of "+all, b.eval("document.querySelector('#shown').textContent"))
	b.key("Escape")
	b.key("j")
	b.key("j")
	assert.Equal(t, "CP-LIST-3", b.eval("document.activeElement.parentElement.id"), "the second of those that failed")
	b.key("e")
	assert.Equal(t, all, b.eval("document.querySelectorAll('.req[open]').length"))
	b.picture("faulty-open")
	b.key("t")
	assert.Equal(t, "light", b.eval("document.documentElement.style.colorScheme"))

	b.open(page, "#?verdicts=blocked")
	assert.Equal(t, count(func(q reports.Requirement) bool { return q.Verdict == reports.Blocked }), shown())
	b.open(page, "#CP-GET-3")
	assert.Equal(t, "true", b.eval("document.getElementById('CP-GET-3').open && document.getElementById('CP-GET-3').getBoundingClientRect().top < 500"))
	b.picture("faulty-anchor")
	b.open(page, "#x1")
	assert.Equal(t, "true", b.eval("new Promise(done => requestAnimationFrame(() => done(document.getElementById('x1').textContent.includes('Content-Type'))))"))
	b.picture("faulty-exchange")
	assert.Empty(t, b.complaints())
}

func TestHTMLOfAHostileTargetRunsNothing(t *testing.T) {
	b := openBrowser(t)
	results := map[string]*reports.Result{}
	for name, text := range reporttest.HostileTexts() {
		results[name] = reporttest.Hostile(text)
	}
	dir := pages(t, results)
	b.size(390, 1000, "light")
	for name := range results {
		b.open(filepath.Join(dir, name+".html"), "")
		b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
		b.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
		assert.Equal(t, "390", b.eval("document.documentElement.scrollWidth"), name)
		if name == "bidi" || name == "script" || name == "long" {
			b.picture("hostile-" + name)
		}
	}
	assert.Empty(t, b.complaints(), "no script ran, nothing was refused by the policy, nothing went wrong")
}

// TestHTMLIsAccessible lets axe-core judge a page of failures. All pages, in each look, are judged every night.
func TestHTMLIsAccessible(t *testing.T) {
	b := openBrowser(t)
	axe := axeSource(t)
	dir := pages(t, map[string]*reports.Result{"failed": reporttest.Sample()})
	b.size(1280, 1000, "light")
	assertAccessible(t, b, axe, filepath.Join(dir, "failed.html"), "failed, light")
	assert.Empty(t, b.complaints())
}
