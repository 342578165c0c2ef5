package html_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	parser "golang.org/x/net/html"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// withoutAssets matches the style, the scripts and the compressed exchanges, which are not part of the golden file.
var withoutAssets = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|(Policy" content=").*?(")|(id="records">).*?(</script>)`)

func TestHTML(t *testing.T) {
	reporttest.Exporter{
		File: "index.html", Write: html.Write, Check: checkHTML, Limit: 3 << 20,
		Golden: func(doc []byte) []byte { return withoutAssets.ReplaceAll(doc, []byte("$1$2$3$4$5$6$7$8")) },
	}.Test(t)
}

// checkHTML parses the page and checks that it has no markup of the target: no handler, no foreign script, and no address
// except those of the page, its files, and the web site of the implementation.
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
			if len(n.Attr) == 0 {
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
				assert.Regexp(t, `^(#[\w.%-]+|https?://.*|[a-z]+(\.[a-z]+)+|scripts/[\w-]+\.sh)$`, a.Val)
			case "id":
				assert.False(t, ids[a.Val], "the id %q occurs twice", a.Val)
				ids[a.Val] = true
			case "src", "srcset", "data", "action", "formaction":
				assert.Fail(t, "the page loads something", "%s %s", n.Data, a.Val)
			}
		}
	}
	assert.Equal(t, 1, scripts, "the page has one script")
}

// recordsOf returns the JSON of the exchanges in a page.
func recordsOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, `id="records">`)
	packed, _, _ := strings.Cut(rest, "<")
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	return string(text)
}

// TestManyExchanges checks that the page of a long test run is small, that it contains the exchanges of findings with
// their bodies, and that a target cannot make it too large.
func TestManyExchanges(t *testing.T) {
	for name, c := range map[string]struct {
		body  func() string
		limit int
		fits  bool
	}{
		"bodies that repeat":  {func() string { return strings.Repeat(`{"a":1}`, 200) }, 1 << 20, true},
		"large random bodies": {func() string { return rand.Text() + strings.Repeat(rand.Text(), 700) }, 20 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.Sample()
			for range 7000 {
				r.Exchanges = reports.Record(r.Exchanges, reports.Exchange{Method: "GET", URL: "http://127.0.0.1:8123/x", Status: 200, Response: reports.Message{Body: c.body()}})
			}
			last := len(r.Exchanges)
			r.Findings[0].Exchange = last
			r.Exchanges[last-1].Response.Body = "the body of a finding"
			var b bytes.Buffer
			require.NoError(t, html.Write(&b, r))
			assert.Less(t, b.Len(), c.limit)
			records := recordsOf(t, b.String())
			assert.Contains(t, records, "the body of a finding")
			assert.Equal(t, c.fits, !strings.Contains(records, "not in this page, to keep it small"))
		})
	}
}

// TestUnreachableTarget checks that the page has one card if the target returned no response.
func TestUnreachableTarget(t *testing.T) {
	r := reporttest.Sample()
	r.Findings, r.Problems, r.Headline = nil, nil, "http://127.0.0.1:8123 does not respond: connection refused"
	r.Exchanges = reports.Record(nil, reports.Exchange{Method: "GET", URL: "http://127.0.0.1:8123/x", Error: "connection refused"})
	for q := range reports.Each(r.Requirements) {
		reporttest.Settle(q, reports.Blocked, r.Headline, reports.Blocker{Kind: reports.ByTarget, Name: "http://127.0.0.1:8123"})
	}
	var b bytes.Buffer
	require.NoError(t, html.Write(&b, r))
	checkHTML(t, b.Bytes())
	assert.Contains(t, b.String(), "The target does not respond")
	assert.Equal(t, 1, strings.Count(b.String(), "<section"))
	assert.NotContains(t, b.String(), "CP-LIST-3")
}

// specificationOf returns a specification of the requirements of a result, with its findings and exchanges as examples.
func specificationOf(r *reports.Result) html.Specification {
	s := html.Specification{Suite: r.Suite, Excluded: [][3]string{{"Unobservable behavior", "3", "It cannot be observed."}}}
	for _, q := range r.Requirements {
		fault := html.Fault{Name: "a-fault", Breaks: "does the opposite of " + q.Title}
		rule := html.Rule{Requirement: q, After: q.ExplainedBy, Faults: []html.Fault{fault},
			Facts: [][2]string{{"Needs in the configuration", "users"}}, Varies: "may " + q.Reason}
		for _, f := range r.Findings {
			if x, err := r.Exchange(f.Exchange); err == nil && f.Requirement == q.ID {
				rule.Breaks = &html.Example{Fault: fault, Finding: f, Exchange: x}
				rule.Keeps = &html.Example{Exchange: x}
			}
		}
		s.Rules = append(s.Rules, rule)
	}
	return s
}

// specificationPage writes the specification of the requirements of a result into a file.
func specificationPage(t *testing.T, r *reports.Result) (file, text string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, html.WriteSpecification(&b, specificationOf(r)))
	file = filepath.Join(t.TempDir(), "specification.html")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	return file, b.String()
}

func TestSpecificationOfHostileResults(t *testing.T) {
	for name, hostile := range reporttest.HostileTexts() {
		t.Run(name, func(t *testing.T) {
			_, text := specificationPage(t, reporttest.Hostile(hostile))
			checkHTML(t, []byte(text))
		})
	}
}
