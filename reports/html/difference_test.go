package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
		"cut JSON":        {`{"a":1}`, `{"a":1 ...`, `{"a":1}`, `{"a":1 ...`, nil},
		"hidden by JSON":  {`["\u202e"]`, `[1]`, "[\n  \"\\u202e\"\n]", "[\n  1\n]", []string{" [", `-  "\u202e"`, "+  1", " ]"}},
		"nested too deep": {strings.Repeat("[", 150) + strings.Repeat("]", 150), `[]`, strings.Repeat("[", 150) + strings.Repeat("]", 150), `[]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare(c.expected, c.actual)
			assert.Equal(t, c.left, got.Expected)
			assert.Equal(t, c.right, got.Actual)
			assert.Equal(t, c.diff, got.Diff)
		})
	}
}

func TestDifference(t *testing.T) {
	tests := []struct{ name, expected, actual, want string }{
		{"same", "a\nb", "a\nb", ""},
		{"changed in the middle", "a\nb\nc", "a\nx\nc\n", " a\n-b\n+x\n c\n"},
		{"far apart", "a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny", "-a\n+x\n 1\n 2\n 3\n …\n 5\n 6\n 7\n-b\n+y\n"},
		{"nothing in common", "a", "b", ""},
		{"only blank lines in common", "a\n\nb", "c\n\nd", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for _, l := range difference(tt.expected, tt.actual) {
				b.WriteString(l + "\n")
			}
			assert.Equal(t, tt.want, b.String())
		})
	}
}
