package situations

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var addRows = flag.Bool("add-rows", false, "add each new event to the outlines of the features that lack it")

// addMissing adds the events of missing pairs to the examples of the features. A new event is inserted after the event
// that precedes it in the code.
func addMissing(t *testing.T, pairs []Pair) {
	last := map[string]string{}              // the key of the last scenario of each check
	missing := map[string]map[int][]string{} // the names of events by file and by the line that they come after
	for _, p := range pairs {
		uri, line, found := strings.Cut(last[p.Check], ":")
		switch {
		case p.Scenario != "":
			last[p.Check] = p.Scenario
		case p.Reason == "" && found:
			at, err := strconv.Atoi(line)
			require.NoError(t, err)
			if missing[uri] == nil {
				missing[uri] = map[int][]string{}
			}
			name := strings.TrimPrefix(strings.TrimPrefix(p.Event, threadPrefix), deploymentPrefix)
			missing[uri][at] = append(missing[uri][at], name)
		}
	}
	for uri, names := range missing {
		path := filepath.Join("..", "..", "features", uri)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(withRows(string(text), names)), 0o644))
	}
}

// withRows inserts rows into tables of one column, after the given lines, which are counted from 1.
func withRows(text string, names map[int][]string) string {
	var lines []string
	for i, line := range strings.SplitAfter(text, "\n") {
		lines = append(lines, line)
		for _, name := range names[i+1] {
			lines = append(lines, "| "+name+" |\n")
		}
	}
	isRow := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "|") }
	for start := 0; start < len(lines); start++ {
		end := start
		for end < len(lines) && isRow(lines[end]) {
			end++
		}
		isNew := func(row string) bool { return strings.HasPrefix(row, "|") } // it has no indentation yet
		if slices.ContainsFunc(lines[start:end], isNew) {
			align(lines[start:end])
		}
		start = end
	}
	return strings.Join(lines, "")
}

// align gives all rows of a table of one column the indentation of the first and the width of the longest.
func align(rows []string) {
	indent := rows[0][:strings.Index(rows[0], "|")]
	width := 0
	for i, row := range rows {
		rows[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(row), "|"))
		width = max(width, utf8.RuneCountInString(rows[i]))
	}
	for i, cell := range rows {
		rows[i] = fmt.Sprintf("%s| %-*s |\n", indent, width, cell)
	}
}

func TestWithRows(t *testing.T) {
	const text = "Examples:\n  | event |\n  | short |\n\nExamples:\n  | event |\n"
	require.Equal(t, "Examples:\n  | event        |\n  | short        |\n  | a longer one |\n\nExamples:\n  | event |\n",
		withRows(text, map[int][]string{3: {"a longer one"}}))
	require.Equal(t, text, withRows(text, nil))
}
