//go:build browser

package html_test

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// looks are the windows in which a page is looked at.
var looks = []struct {
	name, scheme string
	width        int64
}{{"light", "light", 1400}, {"dark", "dark", 1400}, {"narrow", "dark", 390}}

// kindsOfResults are those that a page has to show well.
func kindsOfResults() map[string]*reports.Result {
	settled := func(v reports.Verdict, reason string, by reports.Blocker) *reports.Result {
		r := reporttest.Sample()
		r.Findings = nil
		for q := range reports.Each(r.Requirements[2:]) {
			reporttest.Settle(q, v, reason, by)
			q.Scenarios[0].Exchanges = nil
		}
		reports.Tally(r)
		r.Verdict = reports.ConcludeRun(r)
		return r
	}
	blocked := settled(reports.Blocked, "fixture: a deployment: expected 201, got 500",
		reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"})
	stopped := settled(reports.Inconclusive, "not run: --timeout 1s reached", reports.Blocker{Kind: reports.ByRun, Name: "ended"})
	stopped.Run.Stopped = "--timeout 1s"
	unreachable := settled(reports.Blocked, "http://127.0.0.1:8123 does not answer: connection refused",
		reports.Blocker{Kind: reports.ByTarget, Name: "http://127.0.0.1:8123"})
	unreachable.Exchanges, unreachable.Timeline, unreachable.Ledger, unreachable.Notes = nil, nil, nil, nil
	unreachable.Coverage = reports.Coverage{}
	return map[string]*reports.Result{"conformant": reporttest.Conformant(), "failed": reporttest.Sample(), "blocked": blocked,
		"stopped": stopped, "unreachable": unreachable}
}

// TestEachPageInEachLook looks at each kind of result and at the specification, wide and narrow, light and dark: nothing
// sticks out, axe-core finds nothing, and the menu leads to sections that it does not cover.
func TestEachPageInEachLook(t *testing.T) {
	b := openBrowser(t)
	axe, dir := axeSource(t), pages(t, kindsOfResults())
	specification, _ := specificationPage(t, reporttest.Sample())
	files := map[string]string{"specification": specification}
	for name := range kindsOfResults() {
		files[name] = filepath.Join(dir, name+".html")
	}
	for _, look := range looks {
		for name, file := range files {
			name += "-" + look.name
			b.size(look.width, 1400, look.scheme)
			b.open(file, "")
			assert.Equal(t, "true", b.eval("(m => m.scrollWidth <= m.clientWidth)(document.querySelector('.menu ul'))"), "%s: the navigation is not cut off", name)
			assert.Equal(t, "[]", b.eval(`JSON.stringify([...document.querySelectorAll(".menu a")].filter(a => {
				const section = document.querySelector(a.hash), menu = document.querySelector(".menu");
				scrollTo(0, document.documentElement.scrollHeight);
				section.scrollIntoView();
				const top = section.getBoundingClientRect().top;
				return !section.getClientRects().length || top < menu.getBoundingClientRect().bottom - 1 || top > innerHeight;
			}).map(a => a.hash))`), "%s: the navigation leads to sections that it does not cover", name)
			b.eval("scrollTo(0, 0)")
			assert.Equal(t, "true", b.eval(`(top => !document.querySelector(".problems") || innerWidth > 600 || top(".problems") < top(".stats") && top(".problems") < top("#scope"))(
				s => document.querySelector(s)?.getBoundingClientRect().top)`), "%s: what is wrong comes before figures and scope", name)
			b.eval(openAll)
			var violations []any
			require.NoError(t, json.Unmarshal([]byte(b.eval(axe+"; "+runAxe)), &violations))
			assert.Empty(t, violations, name)
			assert.Equal(t, fmt.Sprint(look.width), b.eval("document.documentElement.scrollWidth"), "%s: nothing sticks out sideways", name)
		}
	}
	assert.Empty(t, b.complaints())
}

// TestHTMLIsPrinted prints the pages as PDF: what matters is open.
func TestHTMLIsPrinted(t *testing.T) {
	b := openBrowser(t)
	dir := pages(t, kindsOfResults())
	for name := range kindsOfResults() {
		b.size(1280, 1000, "dark")
		b.open(filepath.Join(dir, name+".html"), "")
		b.eval(`addEventListener("beforeprint", () => { window.seen = {
			text: document.body.innerText, closed: document.querySelectorAll(".problems .req:not([open])").length }; })`)
		before := b.eval(`document.querySelectorAll("details[open]").length`)
		printed, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
		require.NoError(t, err)
		assert.Greater(t, len(printed.Data), 10<<10)
		assert.Equal(t, "0", b.eval("seen.closed"), "%s: every problem is printed open", name)
		if name == "failed" {
			for _, want := range []string{"1773480413", "curl -sS", "Not cleaned up ("} {
				assert.Contains(t, b.eval("seen.text"), want)
			}
		}
		assert.Equal(t, before, b.eval(`document.querySelectorAll("details[open]").length`), "%s: what was closed is closed again", name)
	}
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
		b.eval(openAll)
		assert.Equal(t, "390", b.eval("document.documentElement.scrollWidth"), name)
	}
	assert.Empty(t, b.complaints(), "no script ran, nothing was refused by the policy, nothing went wrong")
}

// axe-core judges the accessibility of the page. It is not part of the project (MPL-2.0, half a megabyte): the npm client
// fetches this version once into the user's cache, and what it fetched is held to the checksum of the registry.
const (
	axeVersion   = "4.14.1"
	axeIntegrity = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)

// axeSource returns the script, or skips the test where it cannot be had.
func axeSource(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	dir := filepath.Join(cache, "agentconform-tests")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, "axe-core-"+axeVersion+".tgz")
	if _, err := os.Stat(path); err != nil {
		npm := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "--ignore-scripts", "axe-core@"+axeVersion)
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			t.Skipf("axe-core is not available: the accessibility of the page is not tested (npm pack: %v: %.300s)", err, out)
		}
	}
	archive, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha512.Sum512(archive)
	require.Equal(t, axeIntegrity, base64.StdEncoding.EncodeToString(sum[:]), "the package differs from the one that was pinned: remove %s", path)
	text, err := exec.CommandContext(t.Context(), "tar", "-xzOf", path, "package/axe.min.js").Output()
	require.NoError(t, err)
	return string(text)
}

// openAll opens everything that can be opened, twice: what is opened first may hold more.
const openAll = `(async () => {
	for (let i = 0; i < 2; i++) {
		for (const d of document.querySelectorAll("details")) d.open = true;
		await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
	}
})()`

const runAxe = `axe.run(document).then(r => JSON.stringify(r.violations.map(v =>
	({rule: v.id, impact: v.impact, n: v.nodes.length, first: v.nodes[0].html.slice(0, 300), why: v.nodes[0].failureSummary}))))`
