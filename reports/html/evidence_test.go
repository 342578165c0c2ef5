package html

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewBody(t *testing.T) {
	for name, c := range map[string]struct{ text, pointer, plain, marked, missing, note string }{
		"nothing":                                {" ", "", "", "", "", "no body"},
		"not JSON":                               {"<html>", "/a", "<html>", "", "", "not valid JSON, or cut"},
		"two values":                             {"{} {}", "", "{} {}", "", "", "not valid JSON, or cut"},
		"empty containers":                       {`{"a":{},"b":[]}`, "", "{\n  \"a\": {},\n  \"b\": []\n}", "", "", ""},
		"numbers and escapes stay":               {`{"a":1e999,"b":"\ud800\u00e9["}`, "/a", "{\n  \"a\": 1e999,\n  \"b\": \"\\ud800\\u00e9[\"\n}", "1e999", "", ""},
		"into a list":                            {`{"a":[{"b":1},{"b":2}]}`, "/a/1/b", "{\n  \"a\": [\n    {\n      \"b\": 1\n    },\n    {\n      \"b\": 2\n    }\n  ]\n}", "2", "", ""},
		"escaped pointer":                        {`{"a/b":{"~":3}}`, "/a~1b/~0", "{\n  \"a/b\": {\n    \"~\": 3\n  }\n}", "3", "", ""},
		"missing: the value around it is marked": {`{"a":{}}`, "/a/b", "{\n  \"a\": {}\n}", "{}", "/a/b", ""},
		"missing at the top":                     {`{}`, "/a", "{}", "", "/a", ""},
		"bidi":                                   {"[\"\u202e\"]", "", "[\n  \"\\u202e\"\n]", "", "", ""},
	} {
		b := newBody(c.text, c.pointer)
		assert.Equal(t, c.plain, b.Before+b.Marked+b.After, name)
		assert.Equal(t, []string{c.marked, c.missing, c.note}, []string{b.Marked, b.Missing, b.Note}, name)
	}
}

// TestLongBody checks that a long body is cut around the value of a finding.
func TestLongBody(t *testing.T) {
	b := newBody("["+strings.Repeat(`"before",`, 5000)+"{\"a\":1.50}"+strings.Repeat(`,"after"`, 5000)+"]", "/5000/a")
	assert.Equal(t, "1.50", b.Marked)
	assert.Less(t, len(b.Before+b.After), 2*around+100)
	assert.Equal(t, "cut: result.json has the whole body", b.Note)
	b = newBody(strings.Repeat("[", 9000)+strings.Repeat("]", 9000), "/0/0/0")
	assert.Less(t, len(b.Before+b.Marked+b.After), 2*maxPretty)
}

func FuzzNewBody(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\u0061"}],"c":null}`, "/a/1/b")
	f.Add(`[[],{},"",0]`, "/2")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		b := newBody(text, pointer)
		require.True(t, utf8.ValidString(b.Before+b.Marked+b.After))
	})
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		expected, actual, left, right string
		diff                          []string
	}{
		"JSON on both sides, members in another order": {
			`{"b":1.50,"a":"x"}`, `{"a":"x","b":2}`, "{\n  \"a\": \"x\",\n  \"b\": 1.50\n}", "{\n  \"a\": \"x\",\n  \"b\": 2\n}",
			[]string{" {", `   "a": "x",`, `-  "b": 1.50`, `+  "b": 2`, " }"},
		},
		"words before the JSON": {
			`status 200 with ["a"]`, `status 404 with ["a"]`, "status 200 with\n[\n  \"a\"\n]", "status 404 with\n[\n  \"a\"\n]",
			[]string{"-status 200 with", "+status 404 with", " [", `   "a"`, " ]"},
		},
		"a line before the JSON": {
			"status 200 with {\"a\":1 ...\n{\"a\":1}", "status 404 without a\n{}", "status 200 with {\"a\":1 ...\n{\n  \"a\": 1\n}", "status 404 without a\n{}", nil,
		},
		"cut JSON":                {`{"a":1}`, `{"a":1 ...`, `{"a":1}`, `{"a":1 ...`, nil},
		"texts that share a line": {"a\nb\nc", "a\nx\nc\n", "a\nb\nc", "a\nx\nc\n", []string{" a", "-b", "+x", " c"}},
		"far apart": {"a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny", "a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny",
			[]string{"-a", "+x", " 1", " 2", " 3", " …", " 5", " 6", " 7", "-b", "+y"}},
		"only blank lines in common": {"a\n\nb", "c\n\nd", "a\n\nb", "c\n\nd", nil},
		"hidden by JSON":             {`["\u202e"]`, `[1]`, "[\n  \"\\u202e\"\n]", "[\n  1\n]", []string{" [", `-  "\u202e"`, "+  1", " ]"}},
		"nested too deep":            {strings.Repeat("[", 150) + strings.Repeat("]", 150), `[]`, strings.Repeat("[", 150) + strings.Repeat("]", 150), `[]`, nil},
	} {
		assert.Equal(t, comparison{c.left, c.right, c.diff}, compare(c.expected, c.actual), name)
	}
}
