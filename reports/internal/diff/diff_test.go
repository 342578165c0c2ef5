package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/agentconform/agentconform/reports/internal/diff"
)

func render(lines []diff.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteByte(byte(l.Op))
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestLines(t *testing.T) {
	tests := []struct{ name, a, b, want string }{
		{"same", "a\nb", "a\nb", " a\n b\n"},
		{"changed in the middle", "a\nb\nc", "a\nx\nc", " a\n-b\n+x\n c\n"},
		{"added at the end", "a", "a\nb", " a\n+b\n"},
		{"removed at the start", "a\nb", "b", "-a\n b\n"},
		{"moved", "a\nb\nc", "c\na\nb", "+c\n a\n b\n-c\n"},
		{"nothing in common", "a", "b", "-a\n+b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, render(diff.Lines(tt.a, tt.b))) })
	}
	assert.Len(t, diff.Lines(strings.Repeat("a\n", 1e6), strings.Repeat("b\n", 1e6)), 601)
	assert.True(t, diff.Shared(diff.Lines("a\nb", "a\nc")))
	assert.False(t, diff.Shared(diff.Lines("a", "b")))
}

func TestBothTextsAreInTheDifference(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		x := strings.Join(rapid.SliceOfN(line, 1, 30).Draw(t, "x"), "\n")
		y := strings.Join(rapid.SliceOfN(line, 1, 30).Draw(t, "y"), "\n")
		var first, second []string
		for _, l := range diff.Lines(x, y) {
			if l.Op != diff.Insert {
				first = append(first, l.Text)
			}
			if l.Op != diff.Delete {
				second = append(second, l.Text)
			}
		}
		assert.Equal(t, x, strings.Join(first, "\n"))
		assert.Equal(t, y, strings.Join(second, "\n"))
	})
}
