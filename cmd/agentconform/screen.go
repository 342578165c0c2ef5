package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
)

// Formats of the console output.
const (
	formatPretty = "pretty"
	formatPlain  = "plain"
	formatJSON   = "json"
)

// screen shows a run while it goes on: one line that changes on a terminal, lines that stay elsewhere. It writes to
// standard error, so that standard output holds the result alone.
type screen struct {
	out    io.Writer
	live   bool // the line may change
	silent bool // shows nothing
	all    bool // shows every scenario that has ended
	color  bool // of the result on standard output
	width  int  // of the result; 0: not a terminal

	mu       sync.Mutex
	start    time.Time
	total    int
	done     int
	bad      int
	waited   int
	longest  time.Duration // that the target asked to wait
	refused  bool          // the target asked for too much of it
	scenario string
	polled   string
	drawn    time.Time
	polls    map[string]string
	causes   map[string]bool // that were shown already
	heart    heartbeat
	now      func() time.Time
	closed   chan struct{}
}

// display says how a run is shown.
type display struct {
	format         string
	color          colorMode
	quiet, verbose bool
}

func newScreen(s streams, d display) *screen {
	plain := d.format == formatPlain
	view := &screen{out: s.err, start: time.Now(), all: d.verbose, polls: map[string]string{}, causes: map[string]bool{}, color: d.color.colored(s, plain),
		heart: newHeartbeat(), now: time.Now, closed: make(chan struct{})}
	view.silent = d.quiet || d.format == formatJSON && !d.verbose
	_, view.live = terminal(s.err)
	view.live = view.live && !plain && !view.silent && !view.all
	if width, ok := terminal(s.out); ok && !plain {
		view.width = width
	}
	return view
}

// follow writes lines from now on that tell what the run waits for, until the screen is closed.
func (s *screen) follow() {
	if s.live || s.silent {
		return
	}
	ticker := time.NewTicker(beatEvery)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				s.beat(now)
			case <-s.closed:
				return
			}
		}
	}()
}

func terminal(w io.Writer) (width int, ok bool) {
	file, isFile := w.(interface{ Fd() uintptr })
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(file.Fd()))
	return width, err == nil && width > 20
}

// show takes one event of the run. It is called by many goroutines.
func (s *screen) show(e steps.Event) {
	if s.silent {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heart.note(e, s.now())
	switch e.Kind {
	case steps.Planned:
		s.total = e.Total
		creates := "creates up to " + reports.Count(e.Deployments, "deployment")
		if e.Deployments == 0 {
			creates = "creates no deployment"
		}
		s.say("running %s against %s; %s; seed %d", reports.Count(e.Total, "scenario"), e.Name, creates, e.Seed)
	case steps.Ended:
		s.scenario = e.Text + " " + e.Name
		s.end(e)
	case steps.Polled:
		s.poll(e)
	case steps.Named:
		s.say("agent server: %s", e.Name)
	case steps.Throttled:
		s.wait(e)
	}
	s.draw()
}

// end counts a scenario that has its verdict, and shows it where it is a problem or every scenario is to be shown.
func (s *screen) end(e steps.Event) {
	s.done++
	problem := e.Verdict.Problem()
	if problem {
		s.bad++
	}
	begun := !slices.ContainsFunc(e.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByRun })
	switch {
	case s.all && begun:
		s.say("[%d/%d] %s %s: %s (%s)%s", s.done, s.total, e.Verdict, e.Text, e.Name, e.Elapsed.Round(time.Millisecond), reasonOf(e))
	case problem:
		s.notPassed(e)
	}
}

// notPassed tells of a scenario that has failed, and once of each cause that keeps scenarios from being judged.
func (s *screen) notPassed(e steps.Event) {
	if len(e.BlockedBy) > 0 {
		cause := fmt.Sprint(e.Verdict, e.BlockedBy)
		if s.causes[cause] {
			return
		}
		s.causes[cause] = true
	}
	s.say("[%d/%d] %s %s: %s%s", s.done, s.total, e.Verdict, e.Text, e.Name, reasonOf(e))
}

func reasonOf(e steps.Event) string {
	if e.Reason == "" {
		return ""
	}
	return ": " + safe.Ellipsis(e.Reason, 200)
}

// wait tells how long the target asks to wait, when that is much longer than it was before, and once that it is
// longer than the suite waits.
func (s *screen) wait(e steps.Event) {
	if e.Refused {
		if !s.refused {
			s.refused = true
			s.say("the target asks to wait %s, longer or more often than the suite does; dependent checks are skipped", e.Elapsed.Round(time.Second))
		}
		return
	}
	s.waited++
	if e.Elapsed >= time.Second && e.Elapsed >= 2*s.longest {
		s.longest = e.Elapsed
		s.say("the target asks to wait %s", e.Elapsed.Round(time.Second))
	}
}

// poll tells of a revision that takes its time, once for each status.
func (s *screen) poll(e steps.Event) {
	s.polled = fmt.Sprintf("revision %.8s is %s after %s", e.Name, e.Text, e.Elapsed.Round(time.Second))
	if e.Elapsed > 5*time.Second && s.polls[e.Name] != e.Text {
		s.polls[e.Name] = e.Text
		s.say("%s", s.polled)
	}
}

// say writes a line that stays.
func (s *screen) say(format string, args ...any) {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	fmt.Fprintln(s.out, safe.Line(fmt.Sprintf(format, args...)))
	s.drawn = time.Time{}
}

// draw renews the line that changes, a few times a second.
func (s *screen) draw() {
	if !s.live || time.Since(s.drawn) < 80*time.Millisecond {
		return
	}
	s.drawn = time.Now()
	parts := []string{fmt.Sprintf("%d/%d", s.done, s.total), time.Since(s.start).Round(100 * time.Millisecond).String()}
	if s.bad > 0 {
		parts = append(parts, fmt.Sprintf("%d not passed", s.bad))
	}
	if s.waited > 0 {
		parts = append(parts, fmt.Sprintf("asked to wait: %d", s.waited))
	}
	line := safe.Line(strings.Join(append(parts, s.polled, s.scenario), " · "))
	width, _ := terminal(s.out)
	fmt.Fprint(s.out, "\r\x1b[K"+safe.Ellipsis(line, max(width-1, 20)))
}

// close leaves the terminal with an empty line. It is called once.
func (s *screen) close() {
	close(s.closed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}
