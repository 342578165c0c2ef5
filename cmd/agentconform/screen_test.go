package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/target"
)

func TestStatusLine(t *testing.T) { synctest.Test(t, testStatusLine) }

func testStatusLine(t *testing.T) {
	out := &bytes.Buffer{}
	s := newScreen(out, display{})
	for _, at := range []struct {
		after time.Duration
		event target.Event
		line  string
	}{
		{30, target.Event{Kind: target.Planned, Name: "http://target.example", Total: 2}, "[0/2] 30s, waiting for the next responses"},
		{30, target.Event{Kind: target.Started, Name: "A", Text: "CP-POLL-1"}, "[0/2] 30s, waiting for CP-POLL-1 A, for 0s"},
		{60, target.Event{Kind: target.Started, Name: "B", Text: "AS-RUN-4"}, "[0/2] 1m0s, waiting for CP-POLL-1 A, for 30s"},
		{90, target.Event{Kind: target.Polled, Name: "0123456789", Text: "BUILDING", Elapsed: 20 * time.Second, Left: 10 * time.Minute},
			"[0/2] 1m30s, waiting for revision 0123456789, which is BUILDING, for 20s; at most 10m0s more (timeouts.poll)"},
		{120, target.Event{Kind: target.Polled, Name: "abcdefghij", Text: "QUEUED", Left: time.Minute},
			"[0/2] 2m0s, waiting for revision 0123456789, which is BUILDING, for 50s; at most 9m30s more (timeouts.poll)"},
		{130, target.Event{Kind: target.Polled, Name: "0123456789", Text: "DEPLOYED", Over: true},
			"[0/2] 2m10s, waiting for revision abcdefghij, which is QUEUED, for 10s; at most 50s more (timeouts.poll)"},
		{180, target.Event{Kind: target.Ended, Name: "A", Text: "CP-POLL-1", Verdict: reports.Failed},
			"[1/2] 3m0s, 1 requirement failed so far, waiting for AS-RUN-4 B, for 2m0s"}, // the suite gave up the poll
		{200, target.Event{Kind: target.Ended, Name: "B", Text: "AS-RUN-4", Verdict: reports.Passed},
			"[2/2] 3m20s, 1 requirement failed so far, removing what was created; at most 30s"},
	} {
		time.Sleep(time.Until(s.began.Add(at.after * time.Second)))
		s.show(at.event)
		out.Reset()
		s.showStatus()
		assert.Equal(t, at.line, strings.TrimSpace(out.String()))
	}
}

// TestLinks checks that only a terminal gets links.
func TestLinks(t *testing.T) {
	for _, name := range []string{"NO_COLOR", "CI"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm-256color")
	assert.Equal(t, "file:///w%20x/a%1B", linkTo("/w x/a\x1b", true))
	assert.Regexp(t, "^file:///.*/out$", linkTo("out", true))
	assert.Empty(t, linkTo("/out", false))
	for name, value := range map[string]string{"NO_COLOR": "1", "CI": "true", "TERM": "dumb"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			assert.Empty(t, linkTo("/out", true))
		})
	}
}

func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		done, total int
		bar, left   string
	}{
		{0, 0, "████████████████████", ""},
		{1, 20, "█░░░░░░░░░░░░░░░░░░░", ""},
		{5, 20, "█████░░░░░░░░░░░░░░░", "about 30s left"},
		{19, 20, "███████████████████░", "about 1s left"},
		{20, 20, "████████████████████", ""},
	} {
		assert.Equal(t, tt.bar, bar(tt.done, tt.total))
		assert.Equal(t, tt.left, remaining(10*time.Second, tt.done, tt.total))
	}
}

func TestColorPrecedence(t *testing.T) {
	type env map[string]string
	for name, tt := range map[string]struct {
		mode            string
		terminal, plain bool
		env             env
		want            bool
	}{
		"a terminal":                     {mode: "auto", terminal: true, want: true},
		"no terminal":                    {mode: "auto"},
		"a dumb terminal":                {mode: "auto", terminal: true, env: env{"TERM": "dumb"}},
		"plain output":                   {mode: "auto", terminal: true, plain: true},
		"NO_COLOR":                       {mode: "auto", terminal: true, env: env{"NO_COLOR": "0"}},
		"FORCE_COLOR":                    {mode: "auto", env: env{"FORCE_COLOR": "1"}, want: true},
		"FORCE_COLOR 0":                  {mode: "auto", env: env{"FORCE_COLOR": "0"}},
		"FORCE_COLOR on a dumb terminal": {mode: "auto", terminal: true, env: env{"FORCE_COLOR": "1", "TERM": "dumb"}, want: true},
		"NO_COLOR wins over FORCE_COLOR": {mode: "auto", terminal: true, env: env{"NO_COLOR": "1", "FORCE_COLOR": "1"}},
		"always wins over NO_COLOR":      {mode: "always", env: env{"NO_COLOR": "1"}, want: true},
		"never wins over FORCE_COLOR":    {mode: "never", terminal: true, env: env{"FORCE_COLOR": "1"}},
	} {
		for _, key := range []string{"NO_COLOR", "FORCE_COLOR", "TERM"} {
			t.Setenv(key, tt.env[key])
		}
		assert.Equal(t, tt.want, colored(tt.mode, tt.terminal, tt.plain), name)
	}
}
