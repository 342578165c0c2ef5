package console_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/safe"
)

func show(t *testing.T, r *reports.Result, opts console.Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, console.Write(&b, r, opts))
	return b.String()
}

func TestConsole(t *testing.T) {
	check := func(t *testing.T, doc []byte) {
		assert.Equal(t, safe.Terminal(string(doc)), string(doc))
		assert.NotRegexp(t, `(?m)^::`, string(doc), "no line is a command of a CI system")
	}
	for _, width := range []int{80, 120} {
		write := func(w io.Writer, r *reports.Result) error {
			return console.Write(w, r, console.Options{Width: width, Out: "out"})
		}
		file := fmt.Sprintf("sample-%d.txt", width)
		reporttest.Exporter{File: file, Write: write, Check: check, Limit: 200_000}.Test(t)
	}
}

func TestConsoleColors(t *testing.T) {
	got := show(t, reporttest.Faulty(), console.Options{Color: true})
	assert.Contains(t, got, "\x1b[31;1m✗ non-conformant (partial run)\x1b[0m")
	plain := show(t, reporttest.Faulty(), console.Options{})
	for _, code := range []string{"1", "2", "31", "32", "33", "31;1", "32;1", "33;1", "35", "35;1", "2;1"} {
		got = strings.ReplaceAll(got, "\x1b["+code+"m", "")
	}
	assert.Equal(t, plain, strings.ReplaceAll(got, "\x1b[0m", ""), "colors change nothing else")
}

// TestConsoleLinks checks that links change nothing of the text, and that lines break at the same places.
func TestConsoleLinks(t *testing.T) {
	opts := console.Options{Width: 80, Out: "out"}
	plain := show(t, reporttest.Sample(), opts)
	opts.Links = "file:///home/ada/my%20out"
	got := show(t, reporttest.Sample(), opts)
	assert.Contains(t, got, "\x1b]8;;file:///home/ada/my%20out/index.html\x1b\\out/index.html\x1b]8;;\x1b\\")
	assert.Contains(t, got, "\x1b]8;;file:///home/ada/my%20out/scripts/CP-LIST-3-111111111111.sh\x1b\\1. CP-LIST-3\x1b]8;;\x1b\\")
	assert.Equal(t, plain, regexp.MustCompile("\x1b\\]8;;[^\x1b]*\x1b\\\\").ReplaceAllString(got, ""))
}

func TestConsoleBreaksLongWords(t *testing.T) {
	r := reporttest.Faulty()
	r.Findings[0].Actual = strings.Repeat(`{"a":"b"},`, 20)
	for line := range strings.Lines(show(t, r, console.Options{Width: 80})) {
		if strings.Contains(line, `"b"`) {
			assert.LessOrEqual(t, len(strings.TrimSpace(line)), 75)
		}
	}
}

func TestConsoleIsBounded(t *testing.T) {
	r := reporttest.Faulty()
	for i := range 60 {
		r.Requirements = append(r.Requirements, reports.Requirement{ID: fmt.Sprint("X-", i), Level: reports.Must, Verdict: reports.Failed, Title: "x"})
	}
	reports.SetProblems(r)
	got := show(t, r, console.Options{Out: "out"})
	assert.Regexp(t, `… and \d+ more problems \(see out/index.html\)`, got)
}

// TestConsoleBeginsWithTheCommonCause checks that the cause of several problems comes before the first of them.
func TestConsoleBeginsWithTheCommonCause(t *testing.T) {
	r := reporttest.Faulty()
	assert.NotContains(t, show(t, r, console.Options{}), "Check first")
	r.Headline = "9 of 9 responses are HTML pages: check the base URL"
	assert.Regexp(t, `^Check first: 9 of 9 responses are HTML pages`, show(t, r, console.Options{}))
}
