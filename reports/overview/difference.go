package overview

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// DiffLine is one line of a difference: in both texts (' '), only in the expected one ('-'), or only in the actual one
// ('+').
type DiffLine struct {
	Op   byte
	Text string
}

// maxDiff bounds each text of a difference, in lines.
const maxDiff = 300

// Difference tells line by line how an actual text differs from the expected one. It is nil where the two have no line in
// common: then it shows nothing that the texts one below the other would not show better.
func Difference(expected, actual string) []DiffLine {
	unified := string(diff.Diff("expected", firstLines(expected), "actual", firstLines(actual)))
	var lines []DiffLine
	shared := false
	for i, line := range strings.Split(strings.TrimSuffix(unified, "\n"), "\n") {
		switch {
		case i < 3: // the names of the texts
		case strings.HasPrefix(line, "@@"):
			if lines != nil {
				lines = append(lines, DiffLine{' ', "…"})
			}
		default:
			lines = append(lines, DiffLine{line[0], line[1:]})
			shared = shared || line[0] == ' ' && strings.TrimSpace(line) != ""
		}
	}
	if !shared {
		return nil
	}
	return lines
}

// firstLines cuts a text to maxDiff lines, and ends it with a line break.
func firstLines(s string) []byte {
	lines := strings.SplitN(strings.TrimRight(s, "\n"), "\n", maxDiff+1)
	if len(lines) > maxDiff {
		lines[maxDiff] = "… (cut)"
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
