package html_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	parser "golang.org/x/net/html"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// withoutAssets keeps the style and the script out of the golden file of the page: they are files themselves.
var withoutAssets = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|(Policy" content=").*?(")`)

func TestHTML(t *testing.T) {
	reporttest.Exporter{
		File: "index.html", Write: writePage, Check: checkHTML, Limit: 3 << 20,
		Golden: func(doc []byte) []byte { return withoutAssets.ReplaceAll(doc, []byte("$1$2$3$4$5$6")) },
	}.Test(t)
}

// writePage writes the page with links to all other files.
func writePage(w io.Writer, r *reports.Result) error {
	return html.Write(w, r, "result.json", "junit.xml", "summary.md", "cucumber.json", "result.har")
}

// checkHTML parses the page and makes sure that all of its markup is ours: no handler, no foreign script, no address
// that leads anywhere but to the page, to its sister files, and to the implementation's own web site.
func checkHTML(t *testing.T, doc []byte) {
	t.Helper()
	root, err := parser.Parse(bytes.NewReader(doc))
	require.NoError(t, err)
	ids, scripts := map[string]bool{}, 0
	for n := range root.Descendants() {
		if n.Type != parser.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			if attribute(n, "type") == "" {
				scripts++
			}
		case "img", "iframe", "object", "embed", "link", "base", "video", "audio", "image", "use":
			assert.Fail(t, "the page has a foreign element", n.Data)
		}
		for _, a := range n.Attr {
			assert.False(t, strings.HasPrefix(a.Key, "on"), "%s has a handler %s", n.Data, a.Key)
			assert.NotEqual(t, "style", a.Key, "a style attribute, which the policy forbids")
			switch a.Key {
			case "href":
				assert.Regexp(t, `^(#[\w.%-]+|https?://.*|[a-z]+\.[a-z]+)$`, a.Val)
			case "id":
				assert.False(t, ids[a.Val], "the id %q occurs twice", a.Val)
				ids[a.Val] = true
			case "src", "srcset", "data", "action", "formaction":
				assert.Fail(t, "the page loads something", "%s %s", n.Data, a.Val)
			}
		}
	}
	assert.Equal(t, 1, scripts, "our own script is the only one")
}

func attribute(n *parser.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// pages writes the HTML of results into files.
func pages(t *testing.T, results map[string]*reports.Result) string {
	t.Helper()
	dir := t.TempDir()
	for name, r := range results {
		var b bytes.Buffer
		require.NoError(t, writePage(&b, r))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o600))
	}
	return dir
}

func TestHTMLShowsTheCause(t *testing.T) {
	r := recorded.Faulty()
	recorded.Finding(r, "CP-LIST-13").Pointer = "/detail/id" // a place that is not there
	rollback := recorded.Finding(r, "AS-ROLLBACK-3")
	rollback.Expected, rollback.Actual = "3\n2\n1", "1\n2\n3" // with a line in common
	r.Coverage.Statuses[0].Declared = false
	var b bytes.Buffer
	require.NoError(t, html.Write(&b, r))
	for _, want := range []string{
		`<mark><span class="n">1773480413</span></mark>`,            // the place of the finding
		`<mark>/detail/id</mark> is not there`,                      // a place that is missing
		` MUSTs short of conformant, `,                              // the distance
		`<li class="failed"><span class="sign" aria-hidden="true">`, // the step
		`<del>- 3</del>`, `<ins>+ 3</ins>`, // the difference
		`class="undeclared"`, // coverage
		`warning: failed`,    // a SHOULD
	} {
		assert.Contains(t, b.String(), want)
	}
}

func TestHTMLOfManyExchangesIsBounded_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("writes tens of megabytes")
	}
	r := recorded.Faulty()
	memory := reports.NewMemory()
	body := `{"a":"` + strings.Repeat("x", 60<<10) + `"}`
	for range 7000 {
		_, err := memory.Append(reports.Exchange{Method: "GET", URL: "http://127.0.0.1:8123/x", Status: 200, Response: reports.Message{Body: body}})
		require.NoError(t, err)
	}
	r.Exchanges = memory
	var b bytes.Buffer
	require.NoError(t, html.Write(&b, r))
	assert.Less(t, b.Len(), 40<<20)
	assert.Contains(t, b.String(), "2000 more exchanges are not listed here")
}

func TestHTMLTellsOfAnExchangeThatCannotBeRead(t *testing.T) {
	r := recorded.Faulty()
	r.Exchanges = reporttest.NewUnreadable(t)
	assert.ErrorContains(t, html.Write(&bytes.Buffer{}, r), "closed")
}

func TestHTMLInABrowser_Long(t *testing.T) {
	b := openBrowser(t)
	dir := pages(t, reporttest.Results())
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 1400}, {"dark", "dark", 1280, 1400}, {"narrow", "dark", 390, 1400}} {
		for name := range reporttest.Results() {
			b.size(look.width, look.height, look.scheme)
			b.open(filepath.Join(dir, name+".html"), "")
			b.picture(name + "-" + look.name)
			assert.Equal(t, fmt.Sprint(look.width), b.eval("document.documentElement.scrollWidth"), "%s, %s: nothing sticks out sideways", name, look.name)
		}
	}
	assert.Empty(t, b.complaints())
}

func TestHTMLIsReadableWithoutScriptsAndOnPaper_Long(t *testing.T) {
	b := openBrowser(t)
	r := recorded.Faulty() // of up to three failures the details are open
	for _, id := range []string{"CP-LIST-13", "AS-ROLLBACK-3"} {
		recorded.Pass(recorded.Requirement(r, id))
		r.Findings = slices.DeleteFunc(r.Findings, func(f reports.Finding) bool { return f.Requirement == id })
	}
	steps := recorded.Requirement(r, "CP-LIST-3").Scenarios[1].Steps
	steps[1].Verdict, steps[2].Verdict = reports.Failed, "" // the last one is not reached
	page := filepath.Join(pages(t, map[string]*reports.Result{"faulty": r}), "faulty.html")
	b.size(1280, 1400, "light")
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(page, "")
	assert.Equal(t, "none", b.eval("getComputedStyle(document.querySelector('.tools')).display"), "no filters that do nothing")
	text := b.eval("document.body.innerText")
	for _, want := range []string{"non-conformant", "The limit \"101\" is refused", "not reached", "1773480413", "curl -sS", "Without it, those behind findings are above", "EXPECTED"} {
		assert.Contains(t, text, want)
	}
	b.picture("faulty-noscript")
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	text = b.eval("document.body.innerText")
	assert.Contains(t, text, "1773480413")
	assert.NotContains(t, text, fmt.Sprint("Exchanges ", recorded.Faulty().Exchanges.Len()))
	b.picture("faulty-print")
	assert.Empty(t, b.complaints())
}

func TestHTMLFiltersAndKeys_Long(t *testing.T) {
	b := openBrowser(t)
	page := filepath.Join(pages(t, reporttest.Results()), "faulty.html")
	b.size(1280, 1000, "light")
	b.open(page, "")
	r := recorded.Faulty()
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

// TestHTMLOfManyExchangesDoesLittleAtOnce_Long counts what the browser has to hold and to do: the evidence of an exchange is
// built when it is opened, and only that.
func TestHTMLOfManyExchangesDoesLittleAtOnce_Long(t *testing.T) {
	b := openBrowser(t)
	few, many := recorded.Large(200), recorded.Large(2000)
	dir := pages(t, map[string]*reports.Result{"few": few, "many": many})
	b.size(1280, 1000, "light")
	elements := func() int {
		n, err := strconv.Atoi(b.eval("document.querySelectorAll('*').length"))
		require.NoError(t, err)
		return n
	}
	b.open(filepath.Join(dir, "few.html"), "")
	before := elements()
	b.open(filepath.Join(dir, "many.html"), "")
	closed := elements()
	assert.Less(t, (closed-before)/(many.Exchanges.Len()-few.Exchanges.Len()), 20, "elements of an exchange that is not opened")
	b.eval(`(() => { const x = document.getElementById('x1999'); x.open = true;
		return new Promise(done => x.addEventListener('toggle', () => requestAnimationFrame(() => done(true)))); })()`)
	assert.Less(t, elements()-closed, 200, "elements of one exchange that is opened")
	x, err := many.Exchanges.Get(1999)
	require.NoError(t, err)
	assert.Equal(t, "true", b.eval(fmt.Sprintf("document.getElementById('x1999').textContent.includes(%q)", x.URL)))
	b.picture("large-exchange")
	opened := elements()
	b.eval(`(() => { const s = document.getElementById('search'); s.value = 'limit'; s.dispatchEvent(new Event('input')); })()`)
	assert.Equal(t, opened, elements(), "a filter builds nothing")
	assert.Empty(t, b.complaints())
}

func TestHTMLOfAHostileTargetRunsNothing_Long(t *testing.T) {
	b := openBrowser(t)
	results := map[string]*reports.Result{}
	for name, text := range recorded.HostileTexts() {
		results[name] = recorded.Hostile(text)
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
