package overview_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/agentconform/agentconform/reports/overview"
)

func TestDifference(t *testing.T) {
	tests := []struct{ name, expected, actual, want string }{
		{"same", "a\nb", "a\nb", ""},
		{"changed in the middle", "a\nb\nc", "a\nx\nc\n", " a\n-b\n+x\n c\n"},
		{"added at the end", "a", "a\nb", " a\n+b\n"},
		{"removed at the start", "a\nb", "b", "-a\n b\n"},
		{"far apart", "a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny", "-a\n+x\n 1\n 2\n 3\n …\n 5\n 6\n 7\n-b\n+y\n"},
		{"nothing in common", "a", "b", ""},
		{"only blank lines in common", "a\n\nb", "c\n\nd", ""},
		{"nothing expected", "", "b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for _, l := range overview.Difference(tt.expected, tt.actual) {
				b.WriteString(string(rune(l.Op)) + l.Text + "\n")
			}
			assert.Equal(t, tt.want, b.String())
		})
	}
	assert.LessOrEqual(t, len(overview.Difference("x\n"+strings.Repeat("a\n", 1e6), "x\n"+strings.Repeat("b\n", 1e6))), 603)
}

func TestADifferenceHoldsEveryLineThatIsNotShared(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "d", "-- e", "@@ f", "\\ g"})
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.SliceOfN(line, 1, 30).Draw(t, "x"), rapid.SliceOfN(line, 1, 30).Draw(t, "y")
		in := map[string]int{}
		for _, l := range x {
			in[l]--
		}
		for _, l := range y {
			in[l]++
		}
		lines := overview.Difference(strings.Join(x, "\n"), strings.Join(y, "\n"))
		for _, l := range lines {
			switch l.Op {
			case '-':
				in[l.Text]++
			case '+':
				in[l.Text]--
			}
		}
		for l, n := range in {
			if lines != nil {
				assert.Zero(t, n, "%q", l)
			}
		}
	})
}
