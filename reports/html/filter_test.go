//go:build browser

package html_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestExchangeFilters(t *testing.T) {
	b := openBrowser(t)
	r := reporttest.Faulty()
	file := filepath.Join(pages(t, map[string]*reports.Result{"failed": r}), "failed.html")
	b.size(1280, 1000, "light")
	count := func(match func(reports.Exchange) bool) string {
		n := 0
		for _, x := range r.Exchanges {
			if match(x) {
				n++
			}
		}
		return fmt.Sprintf("%d of %d", n, len(r.Exchanges))
	}
	shown := func() string { return b.eval("document.querySelector('#x-shown').textContent") }
	set := func(id, value string) {
		b.eval(fmt.Sprintf(`(() => { const e = document.querySelector("#%s"); e.value = %q; e.dispatchEvent(new Event("input")); })()`, id, value))
	}
	b.open(file, "")
	assert.Equal(t, fmt.Sprintf("%d exchanges", len(reporttest.Faulty().Exchanges)), shown())
	assert.Equal(t, "100", b.eval("document.querySelectorAll('#x-list > details').length"), "a window of the list is in the page")
	b.eval("document.querySelector('#x-after').click()")
	assert.Equal(t, fmt.Sprint(min(200, len(reporttest.Faulty().Exchanges))), b.eval("document.querySelectorAll('#x-list > details').length"))

	set("x-status", "4xx")
	assert.Equal(t, count(func(x reports.Exchange) bool { return x.Status/100 == 4 }), shown())
	set("x-status", "404")
	assert.Equal(t, count(func(x reports.Exchange) bool { return x.Status == 404 }), shown())
	assert.Equal(t, "true", b.eval("[...document.querySelectorAll('#x-list .status')].every(s => s.textContent === '404')"))
	set("x-status", "")
	set("x-method", "PATCH")
	assert.Equal(t, count(func(x reports.Exchange) bool { return x.Method == "PATCH" }), shown())
	set("x-method", "")
	set("x-operation", "list-revisions")
	list := func(x reports.Exchange) bool {
		return strings.Contains(x.URL, "/revisions") && !strings.Contains(x.URL, "/revisions/")
	}
	assert.Equal(t, count(list), shown())
	b.eval("document.querySelector('#x-violations').click()")
	assert.Equal(t, count(func(x reports.Exchange) bool { return list(x) && len(x.Problems) > 0 }), shown())
	assert.Contains(t, b.eval("location.hash"), "x-violations=yes")
	set("x-search", "LIMIT=101 updated_at")
	assert.Equal(t, fmt.Sprintf("2 of %d", len(reporttest.Faulty().Exchanges)), shown())
	state := b.eval("location.hash")
	set("x-search", "no such thing")
	assert.Equal(t, "false", b.eval("document.querySelector('#x-nothing').hidden"))
	b.eval("document.querySelector('#x-clear').click()")
	assert.Equal(t, fmt.Sprintf("%d exchanges", len(reporttest.Faulty().Exchanges)), shown())

	b.open(file, state)
	assert.Equal(t, fmt.Sprintf("2 of %d", len(reporttest.Faulty().Exchanges)), shown(), "the address keeps the filters")
	b.eval("location.hash = '#x1'")
	b.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
	assert.Equal(t, "true", b.eval("document.querySelector('#x1').open"), "an exchange that is named is shown whatever the filters")
	assert.Empty(t, b.complaints())
}

func TestSearchReachesExchanges(t *testing.T) {
	b := openBrowser(t)
	file := filepath.Join(pages(t, map[string]*reports.Result{"failed": reporttest.Faulty()}), "failed.html")
	b.size(1280, 1000, "light")
	b.open(file, "#?q=limit%3D101")
	assert.Equal(t, "0 of 16", b.eval("document.querySelector('#shown').textContent"))
	assert.Equal(t, "2 exchanges", b.eval("document.querySelector('#also').textContent"))
	b.eval("document.querySelector('#also').click()")
	assert.Equal(t, fmt.Sprintf("2 of %d", len(reporttest.Faulty().Exchanges)), b.eval("document.querySelector('#x-shown').textContent"))
	b.key("Escape")
	b.eval("document.activeElement.blur()")
	b.key("x")
	assert.Equal(t, "x-search", b.eval("document.activeElement.id"))
	scenario := reporttest.Faulty().Requirement("CP-UPDATE-1").Scenarios[0]
	b.eval("document.querySelector('#CP-UPDATE-1 .by-scenario').click()")
	assert.Equal(t, fmt.Sprintf("%d of %d", len(scenario.Exchanges), len(reporttest.Faulty().Exchanges)), b.eval("document.querySelector('#x-shown').textContent"))
	assert.Empty(t, b.complaints())
}

// TestTheChainOfAFinding opens an exchange that led to a finding: its evidence is unpacked then.
func TestTheChainOfAFinding(t *testing.T) {
	b := openBrowser(t)
	r := reporttest.Faulty()
	reporttest.Finding(r, "AS-ROLLBACK-3").Compared = "the messages of the state with the input of the new run"
	file := filepath.Join(pages(t, map[string]*reports.Result{"failed": r}), "failed.html")
	b.size(1280, 1000, "light")
	b.open(file, "#AS-ROLLBACK-3")
	const first = "document.querySelector('#AS-ROLLBACK-3 .chain details[data-x]')"
	assert.Equal(t, "false", b.eval(first+".textContent.includes('Content-Type')"))
	b.eval(first + ".open = true")
	b.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
	assert.Equal(t, "true", b.eval(first+".textContent.includes('Content-Type')"))
	text := b.eval("document.querySelector('#AS-ROLLBACK-3').innerText")
	assert.Contains(t, text, "Compared: the messages of the state with the input of the new run")
	assert.Contains(t, text, "agentconform replay "+reporttest.Finding(r, "AS-ROLLBACK-3").ID+" --config ")
	assert.Empty(t, b.complaints())
}

// TestTheMenu walks to a section by the keyboard.
func TestTheMenu(t *testing.T) {
	b := openBrowser(t)
	file := filepath.Join(pages(t, map[string]*reports.Result{"failed": reporttest.Faulty()}), "failed.html")
	b.size(1280, 800, "light")
	b.open(file, "")
	b.key("Tab")
	assert.Equal(t, "#main", b.eval("document.activeElement.getAttribute('href')"), "the skip link comes first")
	assert.Equal(t, "true", b.eval("[...document.querySelectorAll('.menu a')].every(a => document.querySelector(a.getAttribute('href')) && a.tabIndex === 0)"))
	b.eval("document.querySelector('.menu a[href=\"#coverage\"]').click()")
	b.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
	assert.Equal(t, "true", b.eval(`(() => { const menu = document.querySelector(".menu").getBoundingClientRect(), title = document.querySelector("#coverage h2").getBoundingClientRect();
		return menu.top === 0 && title.top >= menu.bottom && title.top < 200; })()`), "the menu stays, and does not cover the title")
	assert.Empty(t, b.complaints())
}
