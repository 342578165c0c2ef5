package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// beatEvery is the time between two lines that tell what a run waits for, where no line on a terminal changes.
const beatEvery = 30 * time.Second

// heartbeat knows what a run waits for.
type heartbeat struct {
	running map[string]time.Time // since when, by requirement and name of the scenario
	polls   map[string]polling   // by revision
}

// polling is what the last poll of a revision has shown.
type polling struct {
	steps.Event
	at time.Time
}

func newHeartbeat() heartbeat {
	return heartbeat{running: map[string]time.Time{}, polls: map[string]polling{}}
}

// note takes an event at a time.
func (h heartbeat) note(e steps.Event, at time.Time) {
	name := e.Text + " " + e.Name
	switch {
	case e.Kind == steps.Started:
		h.running[name] = at
	case e.Kind == steps.Ended:
		delete(h.running, name)
	case e.Kind == steps.Polled && e.Over:
		delete(h.polls, e.Name)
	case e.Kind == steps.Polled:
		h.polls[e.Name] = polling{e, at}
	}
}

// waitsFor says what the run waits for at a time, and how long that may still take where that is known: revisions first, the one with the
// most time left before the others, else the scenario that has been running for the longest.
func (h heartbeat) waitsFor(now time.Time) string {
	var polls []polling
	for _, p := range h.polls {
		if p.at.Add(p.Left).After(now) { // else the poll was given up
			polls = append(polls, p)
		}
	}
	if len(polls) > 0 {
		p := slices.MaxFunc(polls, func(a, b polling) int { return a.at.Add(a.Left).Compare(b.at.Add(b.Left)) })
		more := ""
		if len(polls) > 1 {
			more = fmt.Sprintf(" and %d more", len(polls)-1)
		}
		return fmt.Sprintf("waiting for revision %.8s%s, %s for %s; at most %s more (timeouts.poll)", p.Name, more, p.Text,
			(p.Elapsed + now.Sub(p.at)).Round(time.Second), p.at.Add(p.Left).Sub(now).Round(time.Second))
	}
	if len(h.running) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(h.running))
	oldest := slices.MinFunc(names, func(a, b string) int { return h.running[a].Compare(h.running[b]) })
	more := ""
	if len(names) > 1 {
		more = fmt.Sprintf(" and %s", reports.Count(len(names)-1, "more scenario"))
	}
	return fmt.Sprintf("waiting for %s%s, running for %s", oldest, more, now.Sub(h.running[oldest]).Round(time.Second))
}

// beat writes what the run waits for.
func (s *screen) beat(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := s.heart.waitsFor(now)
	switch {
	case what != "":
	case s.total > 0 && s.done >= s.total:
		what = fmt.Sprintf("removing what the run created; at most %s", steps.CleanUpTime)
	default:
		what = "waiting for the first answers"
	}
	s.say("%s", strings.Join([]string{fmt.Sprintf("[%d/%d] %s", s.done, s.total, now.Sub(s.start).Round(time.Second)), what}, ": "))
}
