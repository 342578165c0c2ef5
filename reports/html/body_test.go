package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// plain returns the text of a piece of HTML.
func plain(t require.TestingT, markup string) string {
	root, err := html.Parse(strings.NewReader("<pre>" + strings.TrimPrefix(markup, "\n")))
	require.NoError(t, err)
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// marked returns the text that is marked.
func marked(markup string) string {
	_, rest, _ := strings.Cut(markup, "<mark>")
	inside, _, _ := strings.Cut(rest, "</mark>")
	return inside
}

func TestPrettyBody(t *testing.T) {
	tests := []struct{ name, text, pointer, plain, marked, missing, note string }{
		{"nothing", " ", "", "", "", "", "no body"},
		{"no JSON", "<html>", "/a", "<html>", "", "", "not valid JSON, or cut"},
		{"two values", "{} {}", "", "{} {}", "", "", "not valid JSON, or cut"},
		{"a scalar", "12.50", "", "12.50", "", "", ""},
		{"empty containers", `{"a":{},"b":[]}`, "", "{\n  \"a\": {},\n  \"b\": []\n}", "", "", ""},
		{"numbers and escapes stay", `{"a":1e999,"b":"\ud800\u00e9"}`, "/a", "{\n  \"a\": 1e999,\n  \"b\": \"\\ud800\\u00e9\"\n}", "1e999", "", ""},
		{"into a list", `{"a":[{"b":1},{"b":2}]}`, "/a/1/b", "{\n  \"a\": [\n    {\n      \"b\": 1\n    },\n    {\n      \"b\": 2\n    }\n  ]\n}", "2", "", ""},
		{"escaped pointer", `{"a/b":{"~":3}}`, "/a~1b/~0", "{\n  \"a/b\": {\n    \"~\": 3\n  }\n}", "3", "", ""},
		{"escaped key", `{"\u0061":4}`, "/a", "{\n  \"\\u0061\": 4\n}", "4", "", ""},
		{"missing: the value around it is marked", `{"a":{}}`, "/a/b", "{\n  \"a\": {}\n}", "{}", "/a/b", ""},
		{"missing at the top", `{}`, "/a", "{}", "", "/a", ""},
		{"markup", `["<b>"]`, "", "[\n  \"<b>\"\n]", "", "", ""},
		{"bidi", "[\"\u202e\"]", "", "[\n  \"\\u202e\"\n]", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := prettyBody(tt.text, tt.pointer)
			assert.Equal(t, tt.plain, plain(t, string(b.HTML)))
			assert.Equal(t, tt.marked, plain(t, marked(string(b.HTML))))
			assert.Equal(t, tt.missing, b.Missing)
			assert.Equal(t, tt.note, b.Note)
		})
	}
}

func TestPrettyBodyIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000), `{"a":"` + strings.Repeat("x", 1<<20) + `"}`,
		"{" + strings.TrimSuffix(strings.Repeat(`"k":1,`, 100_000), ",") + "}",
	} {
		assert.Less(t, len(prettyBody(text, "/0/0/0").HTML), 100<<10)
	}
}

// TestALongBodyIsShownAroundThePlace: the place of a finding is seen, however far behind it is.
func TestALongBodyIsShownAroundThePlace(t *testing.T) {
	list := "[" + strings.Repeat(`"before",`, 5000) + "{\"a\":1.50}" + strings.Repeat(`,"after"`, 5000) + "]"
	b := prettyBody(list, "/5000/a")
	assert.Equal(t, "1.50", plain(t, marked(string(b.HTML))))
	assert.Less(t, len(b.HTML), 40<<10)
	assert.Equal(t, "cut here; the whole is in result.json", b.Note)
}

func FuzzPrettyBody(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\u0061"}],"c":null}`, "/a/1/b")
	f.Add(`[[],{},"",0]`, "/2")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		b := prettyBody(text, pointer)
		require.Equal(t, strings.Count(string(b.HTML), "<mark>"), strings.Count(string(b.HTML), "</mark>"))
		require.NotContains(t, string(b.HTML), "<script")
	})
}
