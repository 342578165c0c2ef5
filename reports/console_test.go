package reports_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/sample"
	"github.com/agentconform/agentconform/reports/safe"
)

func console(t *testing.T, r *reports.Result, opts reports.ConsoleOptions) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, reports.Console(&b, r, opts))
	return b.String()
}

func TestConsole(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			got := console(t, r, reports.ConsoleOptions{Width: 100, Out: "out"})
			golden(t, "console-"+name+".txt", []byte(got))
			lines := strings.Split(strings.TrimSpace(got), "\n")
			assert.Contains(t, lines[0], string(r.Verdict))
			assert.True(t, strings.HasSuffix(lines[len(lines)-1], " "+string(r.Verdict)))
			assert.NotContains(t, got, "\x1b")
		})
	}
}

func TestConsoleWrapsProseButNotCommands(t *testing.T) {
	got := console(t, sample.Faulty(), reports.ConsoleOptions{Width: 60})
	for _, line := range strings.Split(got, "\n") {
		if !strings.Contains(line, "curl") && !strings.Contains(line, ".feature") && !strings.Contains(line, "✗") && !strings.HasPrefix(line, "      ") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 84, line)
		}
	}
}

func TestConsoleColours(t *testing.T) {
	got := console(t, sample.Faulty(), reports.ConsoleOptions{Color: true})
	assert.Contains(t, got, "\x1b[31;1m✗ non-conformant\x1b[0m")
	plain := console(t, sample.Faulty(), reports.ConsoleOptions{})
	for _, code := range []string{"1", "2", "31", "32", "31;1", "32;1", "33;1", "35", "35;1", "2;1"} {
		got = strings.ReplaceAll(got, "\x1b["+code+"m", "")
	}
	assert.Equal(t, plain, strings.ReplaceAll(got, "\x1b[0m", ""), "colours change nothing else")
}

func TestConsoleStaysShort(t *testing.T) {
	r := sample.Faulty()
	for i := range 60 {
		r.Requirements = append(r.Requirements, reports.Requirement{ID: fmt.Sprint("X-", i), Level: reports.Must, Verdict: reports.Failed, Title: "x"})
	}
	got := console(t, r, reports.ConsoleOptions{Out: "out"})
	assert.Contains(t, got, "… and 43 more: X-17, X-18")
	assert.Less(t, strings.Count(got, "\n"), 200)
}

func TestConsoleIsHarmless(t *testing.T) {
	for name, text := range sample.HostileTexts() {
		t.Run(name, func(t *testing.T) {
			got := console(t, sample.Hostile(text), reports.ConsoleOptions{Width: 80})
			assert.Equal(t, safe.Terminal(got), got)
			assert.Less(t, len(got), 200_000, "a target cannot flood the console")
			for _, line := range strings.Split(got, "\n") {
				assert.False(t, strings.HasPrefix(line, "::"), "no command for a CI system: %q", line)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestConsoleReportsAWriteError(t *testing.T) {
	assert.ErrorContains(t, reports.Console(brokenPipe{}, sample.Faulty(), reports.ConsoleOptions{}), "broken pipe")
}

func TestDistance(t *testing.T) {
	assert.Equal(t, "6 MUSTs short of conformant, 2 with one cause: the deployment of the fixture could not be updated: PATCH answered 500 (see CP-ERROR-3)", reports.DistanceOf(sample.Faulty()).String())
	assert.Equal(t, "nothing is missing", reports.DistanceOf(sample.Conformant()).String())
	assert.Equal(t, "15 MUSTs short of conformant, all with one cause: nothing answers at http://127.0.0.1:8123: connection refused", reports.DistanceOf(sample.Unreachable()).String())
	assert.Equal(t, "nothing that binds was judged", reports.DistanceOf(&reports.Result{}).String())

	left := sample.Conformant()
	left.Suite.Requirements += 5
	left.Requirements[1].Reason = "the budget is used up: raise max_deployments (now 2)"
	assert.Equal(t, "nothing is missing in what was judged: 8 of 23 requirements were not", reports.DistanceOf(left).String())

	one := func(id, reason string) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Blocked, Reason: reason}
	}
	r := &reports.Result{Requirements: []reports.Requirement{one("A-1", "x"), one("A-2", "after B-1."), one("B-1", "y"), one("A-3", "x"), one("C-1", "z")}}
	r.Requirements[2].Known = &reports.Known{Reason: "r"}
	d := reports.DistanceOf(r)
	assert.Equal(t, []reports.Cause{{[]string{"A-2", "B-1"}, "y"}, {[]string{"A-1", "A-3"}, "x"}}, d.Causes)
	assert.Equal(t, "5 MUSTs short of conformant (1 known), 4 of them with 2 causes", d.String())
}
