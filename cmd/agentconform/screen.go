package main

import (
	"fmt"
	"io"
	"os"
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
	silent bool
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
}

func newScreen(s streams, format string) *screen {
	view := &screen{out: s.err, start: time.Now(), silent: format == formatJSON, polls: map[string]string{}}
	_, view.live = terminal(s.err)
	view.live = view.live && format != formatPlain && !view.silent
	if width, ok := terminal(s.out); ok && format != formatPlain {
		view.width = width
		view.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return view
}

func terminal(w io.Writer) (width int, ok bool) {
	file, isFile := w.(*os.File)
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
	switch e.Kind {
	case steps.Planned:
		s.total = e.Total
		s.say("judging %s: %s, at most %s, seed %d", e.Name, reports.Count(e.Total, "scenario"), reports.Count(e.Deployments, "deployment"), e.Seed)
	case steps.Started:
		s.scenario = e.Text + " " + e.Name
	case steps.Ended:
		s.done++
		if e.Verdict != reports.Passed && e.Verdict != reports.Skipped {
			s.bad++
			s.say("[%d/%d] %s %s: %s", s.done, s.total, e.Verdict, e.Text, e.Name)
		}
	case steps.Polled:
		s.poll(e)
	case steps.Named:
		s.say("agent server: %s", e.Name)
	case steps.Throttled:
		s.wait(e)
	}
	s.draw()
}

// wait tells how long the target asks to wait, when that is much longer than it was before, and once that it is
// more than the suite does.
func (s *screen) wait(e steps.Event) {
	if e.Refused {
		if !s.refused {
			s.refused = true
			s.say("the target asks to wait %s, longer or more often than the suite does: what hangs on the answer is not judged", e.Elapsed.Round(time.Second))
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

// close leaves the terminal with an empty line.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}
