package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// Formats of the console output.
const (
	formatPretty = "pretty"
	formatPlain  = "plain"
	formatJSON   = "json"
)

// How often a line tells what a run waits for: one that changes on a terminal, new ones elsewhere.
const (
	redrawEvery = 100 * time.Millisecond
	beatEvery   = 30 * time.Second
)

// display says how a run is shown.
type display struct {
	format, color  string
	quiet, verbose bool
	bundled        bool // the target is the bundled reference
}

// screen shows a run while it goes on: one line that changes on a terminal, lines that stay elsewhere. It writes to
// standard error, so that standard output holds the result alone.
type screen struct {
	display
	out  io.Writer
	live bool // the line may change

	mu        sync.Mutex
	start     time.Time
	total     int
	done      int
	bad       int
	exploring bool               // all scenarios have ended
	waits     map[string]waiting // for scenarios, by requirement and name, and for revisions
	told      map[string]bool    // what is shown once: statuses of revisions, causes, that the target asks to wait
	closed    chan struct{}
	following sync.WaitGroup
}

// waiting is for what the run waits.
type waiting struct {
	what         string
	since, until time.Time // until: when it is given up; zero where nobody knows
}

func newScreen(out io.Writer, d display) *screen {
	view := &screen{display: d, out: out, start: time.Now(), waits: map[string]waiting{}, told: map[string]bool{},
		closed: make(chan struct{})}
	if d.quiet || d.format == formatJSON && !d.verbose {
		view.out = io.Discard
	}
	view.live = columns(view.out) > 0 && d.format != formatPlain && !d.verbose
	return view
}

// follow tells from now on what the run waits for, until the screen is closed.
func (s *screen) follow() {
	every := beatEvery
	if s.live {
		every = redrawEvery
	}
	s.following.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.beat()
			case <-s.closed:
				return
			}
		}
	})
}

// columns is the width of a terminal; 0 where it is none, or too narrow for what is shown on one.
func columns(w io.Writer) int {
	if file, is := w.(interface{ Fd() uintptr }); is {
		if width, _, _ := term.GetSize(int(file.Fd())); width > 20 { // it is 0 where there is an error
			return width
		}
	}
	return 0
}

// show takes one event of the run. It is called by many goroutines.
func (s *screen) show(e target.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, now := e.Text+" "+e.Name, time.Now()
	switch e.Kind {
	case target.Planned:
		s.total = e.Total
		creates := "its scenarios create up to " + reports.Count(e.Deployments, "deployment")
		if e.Deployments == 0 {
			creates = "creates no deployment"
		}
		if s.bundled {
			e.Name = "the bundled reference at " + e.Name
		}
		s.say("running %s against %s; %s; seed %d", reports.Count(e.Total, "scenario"), e.Name, creates, e.Seed)
	case target.Started:
		s.waits[name] = waiting{what: name, since: now}
	case target.Ended:
		delete(s.waits, name)
		s.end(e)
	case target.Polled:
		s.waits[e.Name] = waiting{fmt.Sprintf("revision %.8s, which is %s", e.Name, e.Text), now.Add(-e.Elapsed),
			now.Add(e.Left)}
		if e.Over {
			delete(s.waits, e.Name)
		} else if e.Elapsed > 5*time.Second && s.first(name) {
			s.say("revision %.8s is %s after %s", e.Name, e.Text, e.Elapsed.Round(time.Second))
		}
	case target.Exploring:
		s.exploring = true
	case target.Named:
		s.say("agent server: %s", e.Name)
	case target.Throttled:
		if asked := e.Elapsed.Round(time.Second); e.Refused && s.first("refused") {
			s.say("the target asks to wait %s, longer or more often than the suite does; dependent checks are skipped", asked)
		} else if !e.Refused && asked > 0 && s.first("throttled") {
			s.say("the target asks to wait %s", asked)
		}
	}
}

// first tells whether a text is told for the first time.
func (s *screen) first(text string) bool {
	known := s.told[text]
	s.told[text] = true
	return !known
}

// end counts a scenario that has its verdict, and shows it where it is a problem or every scenario is to be shown. A
// cause that keeps several from being judged is shown once.
func (s *screen) end(e target.Event) {
	s.done++
	if e.Verdict.Problem() {
		s.bad++
	}
	took, reason := "", ""
	if e.Reason != "" {
		reason = ": " + safe.Ellipsis(e.Reason, 200)
	}
	begun := !slices.ContainsFunc(e.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByRun })
	switch {
	case s.verbose && begun:
		took = fmt.Sprintf(" (%s)", e.Elapsed.Round(time.Millisecond))
	case !e.Verdict.Problem(), len(e.BlockedBy) > 0 && !s.first(fmt.Sprint(e.Verdict, e.BlockedBy)):
		return
	}
	s.say("[%d/%d] %s %s: %s%s%s", s.done, s.total, e.Verdict, e.Text, e.Name, took, reason)
}

// waitsFor says what the run waits for at a time, and how long that may still take where that is known: the revision
// with the most time left, else the scenario that has been running for the longest.
func (s *screen) waitsFor(now time.Time) string {
	running := slices.DeleteFunc(slices.Collect(maps.Values(s.waits)), func(w waiting) bool {
		return !w.until.IsZero() && !w.until.After(now) // the poll was given up
	})
	switch {
	case len(running) > 0:
		longest := slices.MaxFunc(running, func(a, b waiting) int {
			return cmp.Or(a.until.Compare(b.until), b.since.Compare(a.since), strings.Compare(b.what, a.what))
		})
		text := fmt.Sprintf("waiting for %s, for %s", longest.what, now.Sub(longest.since).Round(time.Second))
		if !longest.until.IsZero() {
			text += fmt.Sprintf("; at most %s more (timeouts.poll)", longest.until.Sub(now).Round(time.Second))
		}
		return text
	case s.exploring:
		return "exploring, and removing what the run created"
	case s.total > 0 && s.done >= s.total:
		return fmt.Sprintf("removing what the run created; at most %s", suite.CleanUpTime)
	}
	return "waiting for the next answers"
}

// beat tells how far the run is, and what it waits for.
func (s *screen) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	bad := ""
	if s.bad > 0 {
		bad = fmt.Sprintf(", %d not passed", s.bad)
	}
	now := time.Now()
	took := now.Sub(s.start).Round(time.Second)
	line := safe.Line(fmt.Sprintf("[%d/%d] %s%s: %s", s.done, s.total, took, bad, s.waitsFor(now)))
	if !s.live {
		fmt.Fprintln(s.out, line)
		return
	}
	s.clear()
	fmt.Fprint(s.out, safe.Ellipsis(line, max(columns(s.out)-1, 20)))
}

// say writes a line that stays.
func (s *screen) say(format string, args ...any) {
	s.clear()
	fmt.Fprintln(s.out, safe.Line(fmt.Sprintf(format, args...)))
}

// clear empties the line that changes.
func (s *screen) clear() {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// close leaves the terminal with an empty line. It is called once.
func (s *screen) close() {
	close(s.closed)
	s.following.Wait()
	s.clear()
}

// addColor adds the flag to a command that prints colours.
func addColor(c *cobra.Command, mode *string) {
	*mode = "auto"
	addChoice(c, mode, "color", "; auto: on a terminal, unless NO_COLOR is set; FORCE_COLOR forces colours",
		"auto", "always", "never")
}

// colored tells whether to use colours. The flag wins over the environment, and NO_COLOR over FORCE_COLOR; plain output
// has colours only where the flag asks for them.
func colored(mode string, onTerminal, plain bool) bool {
	force := os.Getenv("FORCE_COLOR")
	switch {
	case mode == "always":
		return true
	case mode == "never", plain, os.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return onTerminal && os.Getenv("TERM") != "dumb"
}
