// Package judgetest runs table tests of judgements. A judgement is a function of values that returns nil or an outcome,
// so its tests need no server. Start with [Run].
package judgetest

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

var (
	update  = flag.Bool("update", false, "write the golden file of messages")
	passing = flag.Bool("passing", false, "run only rows that must pass, and compare no messages: for the tables of a release")
)

// Row is one case of a judgement: the actual result and the expected one.
type Row struct {
	Name string // "limit 101 is served"
	Got  error

	Verdict reports.Verdict // if empty, Failed if Kind is set, and otherwise Passed
	Kind    outcome.Kind    // kind of the violation
	Class   string          // class of the input
	Pointer string          // pointer to the wrong value
	Actual  string          // a part of the actual value
}

// Run checks the rows of all judgements of a package, and compares their messages with a golden file.
func Run(t *testing.T, golden string, tables ...[]Row) {
	var messages []string
	names := map[string]bool{}
	for _, row := range slices.Concat(tables...) {
		assert.False(t, names[row.Name], "two rows have the name %q", row.Name)
		names[row.Name] = true
		if *passing && row.verdict() != reports.Passed {
			continue
		}
		t.Run(row.Name, func(t *testing.T) { row.check(t) })
		if row.Got != nil {
			messages = append(messages, row.Name+"\n"+shown(row.Got))
		}
	}
	if *passing {
		return
	}
	slices.Sort(messages)
	text := strings.Join(messages, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err, "run the test with -update to write the file")
	before, now := strings.Split(string(want), "\n"), strings.Split(text, "\n")
	for _, line := range before {
		if !slices.Contains(now, line) {
			t.Errorf("%s has a line that no row returns; -update writes the file: %s", golden, line)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			t.Errorf("%s lacks a line; -update writes the file: %s", golden, line)
		}
	}
}

// shown returns the first lines of each violation in a report (the title, the expected and the actual value), or the
// reason if there is no violation.
func shown(err error) string {
	o, is := errors.AsType[*outcome.Outcome](err)
	if !is || o.Verdict != reports.Failed {
		return "  " + err.Error()
	}
	var lines []string
	for _, v := range o.Violations {
		expected, actual := firstLines(v)
		lines = append(lines, "  "+v.Summary, "    expected  "+expected, "    got       "+actual)
	}
	return strings.Join(lines, "\n")
}

func firstLines(v outcome.Violation) (expected, actual string) {
	f := reports.Finding{}
	f.Expected, f.Actual = outcome.CutAround(v.Expected, v.Actual)
	return f.ExpectedLine(), f.ActualLine()
}

// longest is the maximum length of a title in bytes.
const longest = 90

// verdict returns the expected verdict.
func (row Row) verdict() reports.Verdict {
	switch {
	case row.Verdict != "":
		return row.Verdict
	case row.Kind != "":
		return reports.Failed
	}
	return reports.Passed
}

// check compares the result with the expected one.
func (row Row) check(t *testing.T) {
	verdict := row.verdict()
	if verdict == reports.Passed {
		assert.NoError(t, row.Got)
		return
	}
	o, is := errors.AsType[*outcome.Outcome](row.Got)
	require.True(t, is, "no outcome: %v", row.Got)
	assert.Equal(t, verdict, o.Verdict, "%v", o)
	if row.Kind == "" {
		return
	}
	require.NotEmpty(t, o.Violations)
	v := o.Violations[0]
	assert.Equal(t, row.Kind, v.Kind, "kind")
	assert.Equal(t, row.Class, v.Class, "class")
	assert.Equal(t, row.Pointer, v.Pointer, "pointer")
	assert.Contains(t, v.Actual, row.Actual, "actual")
	CheckTexts(t, v)
}

// CheckTexts checks the texts of a violation: it has a short title, and its expected and actual value differ in one line.
func CheckTexts(t *testing.T, v outcome.Violation) {
	t.Helper()
	expected, actual := firstLines(v)
	assert.NotEmpty(t, v.Summary, "title")
	assert.LessOrEqual(t, len(v.Summary), longest, "title: %s", v.Summary)
	assert.NotEmpty(t, expected, "expected")
	assert.NotEqual(t, expected, actual, "expected and got")
}

// Response returns a response with a status and a JSON body.
func Response(status int, body string) *exchange.Response {
	return &exchange.Response{Status: status, Body: []byte(body), Request: exchange.Request{Method: "GET"}}
}
