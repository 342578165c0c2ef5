package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// plainScreen shows a run that began at a time of its own, whose clock the test sets.
func plainScreen() (s *screen, out *bytes.Buffer, set func(after time.Duration) time.Time) {
	out = &bytes.Buffer{}
	s = newScreen(streams{err: out, out: &bytes.Buffer{}}, display{})
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := begin
	s.start, s.now = begin, func() time.Time { return now }
	return s, out, func(after time.Duration) time.Time {
		now = begin.Add(after)
		return now
	}
}

func TestALineTellsWhatIsWaitedFor(t *testing.T) {
	s, out, set := plainScreen()
	defer s.close()
	beat := func(now time.Time) string {
		out.Reset()
		s.beat(now)
		return strings.TrimSpace(out.String())
	}
	s.show(steps.Event{Kind: steps.Planned, Name: "http://target.example", Total: 3})
	assert.Equal(t, "[0/3] 30s: waiting for the first answers", beat(set(30*time.Second)))
	s.show(steps.Event{Kind: steps.Started, Name: "A", Text: "CP-POLL-1"})
	set(45 * time.Second)
	s.show(steps.Event{Kind: steps.Started, Name: "B", Text: "AS-RUN-4"})
	assert.Equal(t, "[0/3] 1m0s: waiting for CP-POLL-1 A and 1 more scenario, running for 30s", beat(set(time.Minute)))
	s.show(steps.Event{Kind: steps.Polled, Name: "0123456789", Text: "BUILDING", Elapsed: 20 * time.Second, Left: 10 * time.Minute})
	assert.Equal(t, "[0/3] 1m30s: waiting for revision 01234567, BUILDING for 50s; at most 9m30s more (timeouts.poll)", beat(set(90*time.Second)))
	s.show(steps.Event{Kind: steps.Polled, Name: "abcdefghij", Text: "QUEUED", Left: time.Minute})
	assert.Equal(t, "[0/3] 2m0s: waiting for revision 01234567 and 1 more revision, BUILDING for 1m20s; at most 9m0s more (timeouts.poll)", beat(set(2*time.Minute)))
	s.show(steps.Event{Kind: steps.Polled, Name: "0123456789", Text: "DEPLOYED", Over: true})
	assert.Equal(t, "[0/3] 2m20s: waiting for revision abcdefgh, QUEUED for 50s; at most 10s more (timeouts.poll)", beat(set(140*time.Second)))
	s.show(steps.Event{Kind: steps.Ended, Name: "A", Text: "CP-POLL-1", Verdict: reports.Passed})
	assert.Equal(t, "[1/3] 3m0s: waiting for AS-RUN-4 B, running for 2m15s", beat(set(3*time.Minute)), "the poll was given up")
	for range 2 {
		s.show(steps.Event{Kind: steps.Ended, Name: "B", Text: "AS-RUN-4", Verdict: reports.Passed})
	}
	assert.Equal(t, "[3/3] 3m30s: removing what the run created; at most 30s", beat(set(210*time.Second)))
}
