package export

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/safe"
)

// hostile is a small result in which every text of the target is the given one.
func hostile(text string) *reports.Result {
	r := reporttest.Hostile(text)
	kept := map[string]bool{r.Findings[0].Requirement: true}
	for _, q := range r.Requirements {
		if of := string(q.Verdict); !kept[of] { // one of each verdict
			kept[of], kept[q.ID] = true, true
		}
	}
	r.Requirements = slices.DeleteFunc(r.Requirements, func(q reports.Requirement) bool { return !kept[q.ID] })
	r.Findings = slices.DeleteFunc(r.Findings, func(f reports.Finding) bool { return !kept[f.Requirement] })
	c := &r.Coverage
	c.Statuses, c.Enums, c.Parameters = c.Statuses[len(c.Statuses)-1:], c.Enums[len(c.Enums)-1:], c.Parameters[len(c.Parameters)-1:]
	return r
}

// FuzzReports: whatever text a target sends, each report is whole, of its format, and runs nothing.
func FuzzReports(f *testing.F) {
	for _, text := range reporttest.HostileTexts() {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	before := reporttest.Conformant()
	before.Requirements = before.Requirements[:5]
	f.Fuzz(func(t *testing.T, text string) {
		r := hostile(text)
		for _, format := range formats {
			var b bytes.Buffer
			require.NoError(t, format.write(&b, r), format.file)
			if format.file != "result.json" {
				require.Equal(t, safe.Visible(b.String()), b.String(), format.file)
			}
			switch {
			case strings.HasSuffix(format.file, ".json"), strings.HasSuffix(format.file, ".har"):
				require.True(t, json.Valid(b.Bytes()), format.file)
			case format.file == "index.html":
				inert(t, b.String())
			}
		}
		var b bytes.Buffer
		require.NoError(t, console.Write(&b, r, console.Options{}))
		table, err := compare.Of(compare.Input{Result: before}, compare.Input{Label: text, Result: r})
		require.NoError(t, err)
		require.NoError(t, table.Text(&b))
		for line := range strings.SplitSeq(b.String(), "\n") {
			require.Equal(t, safe.Terminal(line), line, "nothing for a terminal or for CI")
		}
	})
}

// inert fails unless a page has one script of its own at most, no handler, and no link but to itself, its folder and to web pages.
func inert(t *testing.T, page string) {
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	scripts := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		require.NotContains(t, []string{"iframe", "object", "embed", "base", "link", "img", "image", "audio", "video", "frame", "math", "template"}, n.Data)
		kind := ""
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(strings.ToLower(a.Key), "on"), "%s in %s", a.Key, n.Data)
			switch a.Key {
			case "type":
				kind = a.Val
			case "href", "src", "action", "xlink:href":
				u, err := url.Parse(a.Val)
				require.NoError(t, err)
				require.Contains(t, []string{"", "http", "https"}, u.Scheme)
			}
		}
		if n.Data == "script" && kind != "application/json" {
			scripts++
		}
	}
	require.LessOrEqual(t, scripts, 1)
}
