//go:build browser

package html_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// faultyPage writes the page of the recorded result.
func faultyPage(t *testing.T) (b *browser, r *reports.Result, file string) {
	b, r = openBrowser(t), reporttest.Faulty()
	file = filepath.Join(pages(t, map[string]*reports.Result{"faulty": r}), "faulty.html")
	b.size(1280, 1000, "light")
	t.Cleanup(func() { assert.Empty(t, b.complaints()) })
	return b, r, file
}

// countOf returns the number of matching items on the page.
func countOf[T any](all []T, match func(T) bool) string {
	n := 0
	for _, each := range all {
		if match(each) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(all))
}

const (
	shownRequirements = "document.querySelector('#shown').textContent"
	shownExchanges    = "document.querySelector('#x-shown').textContent"
	nextFrame         = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
)

func TestPageWithoutScripts(t *testing.T) {
	b, _, file := faultyPage(t)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(file, "#CP-LIST-3")
	b.eval("for (const d of document.querySelectorAll('details')) d.open = true")
	assert.Equal(t, "none", b.eval("getComputedStyle(document.querySelector('.tools')).display"), "filters are hidden without scripts")
	text := b.eval("document.body.innerText")
	for _, want := range []string{"non-conformant", "The limit \"101\" is refused", "1773480413", "curl -sS", "run A, rolled back", "Replace run A: start run B", "The list of all requests needs a script", "EXPECTED"} {
		assert.Contains(t, text, want)
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	text = b.eval("document.body.innerText")
	assert.Contains(t, text, "1773480413")
	assert.NotContains(t, text, "needs a script", "the list of all exchanges is not printed")
}

func TestFiltersAndKeys(t *testing.T) {
	b, r, file := faultyPage(t)
	has := func(v reports.Verdict) func(reports.Requirement) bool {
		return func(q reports.Requirement) bool { return q.Verdict == v }
	}
	all := fmt.Sprintf("%d requirements", len(r.Requirements))
	b.open(file, "")
	assert.Equal(t, all, b.eval(shownRequirements))
	b.key("f")
	assert.Equal(t, countOf(r.Requirements, has(reports.Failed)), b.eval(shownRequirements))
	assert.Contains(t, b.eval("location.hash"), "results=failed")
	b.eval("document.querySelector('#levels [data-value=SHOULD]').click()")
	assert.Equal(t, "1 of 16", b.eval(shownRequirements))
	b.key("Escape")
	assert.Equal(t, all, b.eval(shownRequirements))
	b.key("/")
	for _, c := range "as-rollback" {
		b.key(string(c))
	}
	assert.Equal(t, countOf(r.Requirements, func(q reports.Requirement) bool { return strings.HasPrefix(q.ID, "AS-ROLLBACK-") }), b.eval(shownRequirements))
	b.key("Escape")
	b.key("j")
	b.key("j")
	assert.Equal(t, "CP-LIST-3", b.eval("document.activeElement.parentElement.id"), "the second problem")
	for range len(r.Problems) - 1 {
		b.key("j")
	}
	assert.Equal(t, "true", b.eval("document.activeElement.closest('.req').checkVisibility()"), "the first requirement, of which the group is opened")
	b.key("e")
	assert.Equal(t, "0", b.eval("document.querySelectorAll('details.req:not([open]), .feature:not([open])').length"))
	b.key("t")
	assert.Equal(t, "light", b.eval("document.documentElement.style.colorScheme"))

	b.open(file, "#?results=not-tested")
	assert.Equal(t, countOf(r.Requirements, has(reports.Skipped)), b.eval(shownRequirements))
	assert.Equal(t, "true", b.eval("document.querySelector('.req:not([hidden])').checkVisibility()"), "groups with matches are open")
	b.open(file, "#AS-ROLLBACK-4")
	assert.Equal(t, "true", b.eval("document.getElementById('AS-ROLLBACK-4').checkVisibility()"), "it is part of the problem that breaks it")
	b.open(file, "#CP-GET-3")
	assert.Equal(t, "true", b.eval("document.getElementById('CP-GET-3').open && document.getElementById('CP-GET-3').getBoundingClientRect().top < 500"))
	b.open(file, "#x1")
	b.eval(nextFrame)
	assert.Equal(t, "true", b.eval("document.getElementById('x1').textContent.includes('Content-Type')"))

	b.open(file, "")
	b.key("Tab")
	assert.Equal(t, "#main", b.eval("document.activeElement.getAttribute('href')"), "the skip link is first")

	file, _ = specificationPage(t, r)
	b.open(file, "#CP-LIST-3")
	assert.Equal(t, "true", b.eval("document.getElementById('CP-LIST-3').open"))
	b.key("f")
	assert.Equal(t, all, b.eval(shownRequirements), "the specification has no verdicts")
	b.eval("document.querySelector('#levels [data-value=SHOULD]').click()")
	assert.NotEqual(t, all, b.eval(shownRequirements))
}

func TestExchangeFilters(t *testing.T) {
	b, r, file := faultyPage(t)
	set := func(id, value string) {
		b.eval(fmt.Sprintf(`(() => { const e = document.querySelector("#%s"); e.value = %q; e.dispatchEvent(new Event("input")); })()`, id, value))
	}
	all := fmt.Sprintf("%d requests", len(r.Exchanges))
	b.open(file, "")
	assert.Equal(t, all, b.eval(shownExchanges))
	assert.Equal(t, "100", b.eval("document.querySelectorAll('#x-list > details').length"), "the page contains a window of the list")
	b.eval("document.querySelector('#x-after').click()")
	assert.Equal(t, "200", b.eval("document.querySelectorAll('#x-list > details').length"))

	list := func(x reports.Exchange) bool {
		return strings.Contains(x.URL, "/revisions") && !strings.Contains(x.URL, "/revisions/")
	}
	for _, c := range []struct {
		id, value string
		match     func(reports.Exchange) bool
	}{
		{"x-status", "4xx", func(x reports.Exchange) bool { return x.Status/100 == 4 }},
		{"x-status", "404", func(x reports.Exchange) bool { return x.Status == 404 }},
		{"x-method", "PATCH", func(x reports.Exchange) bool { return x.Method == "PATCH" }},
		{"x-operation", "list-revisions", list},
	} {
		set(c.id, c.value)
		assert.Equal(t, countOf(r.Exchanges, c.match), b.eval(shownExchanges), c.value)
		set(c.id, "")
	}
	set("x-operation", "list-revisions")
	b.eval("document.querySelector('#x-violations').click()")
	assert.Equal(t, countOf(r.Exchanges, func(x reports.Exchange) bool { return list(x) && len(x.Problems) > 0 }), b.eval(shownExchanges))
	set("x-search", "LIMIT=101 updated_at")
	assert.Equal(t, "2 of 278", b.eval(shownExchanges))
	state := b.eval("location.hash")
	set("x-search", "no such thing")
	assert.Equal(t, "false", b.eval("document.querySelector('#x-nothing').hidden"))
	b.eval("document.querySelector('#x-clear').click()")
	assert.Equal(t, all, b.eval(shownExchanges))

	b.open(file, state)
	assert.Equal(t, "2 of 278", b.eval(shownExchanges), "the filters are in the address")
	set("x-search", "50% a&limit=1+1")
	state = b.eval("location.hash")
	b.open(file, state)
	assert.Equal(t, "50% a&limit=1+1", b.eval("document.querySelector('#x-search').value"))
	b.open(file, "#%E0")
	assert.Equal(t, all, b.eval(shownExchanges), "an address that is not valid changes nothing")
	b.eval("location.hash = '#x1'")
	b.eval(nextFrame)
	assert.Equal(t, "true", b.eval("document.querySelector('#x1').open"), "an exchange in the address is shown despite the filters")

	b.open(file, "#?q=limit%3D101")
	assert.Equal(t, "2 requests", b.eval("document.querySelector('#also').textContent"), "the search also finds exchanges")
	b.eval("document.querySelector('#also').click()")
	assert.Equal(t, "2 of 278", b.eval(shownExchanges))
	b.key("Escape")
	b.eval("document.querySelector('#CP-UPDATE-1 .by-scenario').click()")
	assert.Equal(t, fmt.Sprintf("%d of 278", len(r.Requirement("CP-UPDATE-1").Scenarios[0].Exchanges)), b.eval(shownExchanges))
}

// TestChain checks that the evidence of an exchange is added when the exchange is opened.
func TestChain(t *testing.T) {
	b, _, file := faultyPage(t)
	b.open(file, "#AS-ROLLBACK-3")
	const first = "document.querySelector('#AS-ROLLBACK-3 .chain details[data-x]')"
	assert.Equal(t, "false", b.eval(first+".textContent.includes('Content-Type')"))
	b.eval(first + ".open = true")
	b.eval(nextFrame)
	assert.Equal(t, "true", b.eval(first+".textContent.includes('Content-Type')"))
}

// TestHTMLOfAHostileTargetRunsNothing checks that texts of the target run no script and do not make the page too wide.
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
		b.eval(openAll)
		assert.Equal(t, "390", b.eval("document.documentElement.scrollWidth"), name)
	}
	assert.Empty(t, b.complaints(), "no script ran, the policy refused nothing, and there was no error")
}

// openAll opens all details twice, because opening the first may add others.
const openAll = `(async () => {
	for (let i = 0; i < 2; i++) {
		for (const d of document.querySelectorAll("details")) d.open = true;
		await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
	}
})()`
