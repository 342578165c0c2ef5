// Package diff compares two short texts line by line. It is made for reports: bounded in time and size, whatever a
// target has sent.
package diff

import "strings"

// Op says to which of the two texts a line belongs.
type Op byte

// A line is in both texts, only in the first one, or only in the second one.
const (
	Same   Op = ' '
	Delete Op = '-'
	Insert Op = '+'
)

// Line is one line of a difference.
type Line struct {
	Op   Op
	Text string
}

// maxLines bounds each text: the table of the comparison has maxLines² entries.
const maxLines = 300

// Lines tells how to get from a to b. Texts longer than maxLines lines are cut there, and the last line says so.
func Lines(a, b string) []Line {
	x, y := split(a), split(b)
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	out := appendAll(nil, Same, x[:head])
	out = append(out, middle(x[head:len(x)-tail], y[head:len(y)-tail])...)
	return appendAll(out, Same, x[len(x)-tail:])
}

// Shared tells whether the two texts have a line in common: if not, a difference shows nothing that the two texts
// one below the other would not show better.
func Shared(lines []Line) bool {
	for _, l := range lines {
		if l.Op == Same && strings.TrimSpace(l.Text) != "" {
			return true
		}
	}
	return false
}

func split(s string) []string {
	lines := strings.SplitN(strings.TrimRight(s, "\n"), "\n", maxLines+1)
	if len(lines) > maxLines {
		lines[maxLines] = "… (cut)"
	}
	return lines
}

// middle is the classic longest common subsequence.
func middle(x, y []string) []Line {
	common := make([][]int16, len(x)+1)
	for i := range common {
		common[i] = make([]int16, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []Line
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			out = append(out, Line{Same, x[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, Line{Delete, x[i]})
			i++
		default:
			out = append(out, Line{Insert, y[j]})
			j++
		}
	}
	return appendAll(appendAll(out, Delete, x[i:]), Insert, y[j:])
}

func appendAll(out []Line, op Op, lines []string) []Line {
	for _, l := range lines {
		out = append(out, Line{op, l})
	}
	return out
}
