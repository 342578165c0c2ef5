package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
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

// How often a line tells what a run waits for: one that changes on a terminal, new ones elsewhere.
const (
	redrawEvery = 100 * time.Millisecond
	beatEvery   = 30 * time.Second
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

	mu        sync.Mutex
	start     time.Time
	total     int
	done      int
	bad       int
	exploring bool                 // all scenarios have ended
	longest   time.Duration        // that the target asked to wait
	refused   bool                 // the target asked for too much of it
	running   map[string]time.Time // scenarios since when, by requirement and name
	polls     map[string]polling   // by revision
	told      map[string]bool      // statuses of revisions, and causes, that were shown already
	now       func() time.Time
	closed    chan struct{}
}

// polling is what the last poll of a revision has shown.
type polling struct {
	steps.Event
	at time.Time
}

// display says how a run is shown.
type display struct {
	format, color  string
	quiet, verbose bool
}

func newScreen(s streams, d display) *screen {
	plain := d.format == formatPlain
	view := &screen{out: s.err, start: time.Now(), all: d.verbose, color: colored(s, d.color, plain), now: time.Now,
		running: map[string]time.Time{}, polls: map[string]polling{}, told: map[string]bool{}, closed: make(chan struct{})}
	view.silent = d.quiet || d.format == formatJSON && !d.verbose
	_, view.live = terminal(s.err)
	view.live = view.live && !plain && !view.silent && !view.all
	if width, ok := terminal(s.out); ok && !plain {
		view.width = width
	}
	return view
}

// follow tells from now on what the run waits for, until the screen is closed.
func (s *screen) follow() {
	if s.silent {
		return
	}
	every := beatEvery
	if s.live {
		every = redrawEvery
	}
	ticker := time.NewTicker(every)
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
	name := e.Text + " " + e.Name
	switch e.Kind {
	case steps.Planned:
		s.total = e.Total
		creates := "creates up to " + reports.Count(e.Deployments, "deployment")
		if e.Deployments == 0 {
			creates = "creates no deployment"
		}
		s.say("running %s against %s; %s; seed %d", reports.Count(e.Total, "scenario"), e.Name, creates, e.Seed)
	case steps.Started:
		s.running[name] = s.now()
	case steps.Ended:
		delete(s.running, name)
		s.end(e)
	case steps.Polled:
		s.poll(e)
	case steps.Exploring:
		s.exploring = true
	case steps.Named:
		s.say("agent server: %s", e.Name)
	case steps.Throttled:
		s.wait(e)
	}
}

// end counts a scenario that has its verdict, and shows it where it is a problem or every scenario is to be shown. A
// cause that keeps several from being judged is shown once.
func (s *screen) end(e steps.Event) {
	s.done++
	begun := !slices.ContainsFunc(e.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByRun })
	reason := ""
	if e.Reason != "" {
		reason = ": " + safe.Ellipsis(e.Reason, 200)
	}
	if e.Verdict.Problem() {
		s.bad++
	}
	switch cause := fmt.Sprint(e.Verdict, e.BlockedBy); {
	case s.all && begun:
		took := e.Elapsed.Round(time.Millisecond)
		s.say("[%d/%d] %s %s: %s (%s)%s", s.done, s.total, e.Verdict, e.Text, e.Name, took, reason)
	case e.Verdict.Problem() && (len(e.BlockedBy) == 0 || !s.told[cause]):
		s.told[cause] = len(e.BlockedBy) > 0
		s.say("[%d/%d] %s %s: %s%s", s.done, s.total, e.Verdict, e.Text, e.Name, reason)
	}
}

// wait tells how long the target asks to wait, when that is much longer than it was before, and once that it is
// longer than the suite waits.
func (s *screen) wait(e steps.Event) {
	switch {
	case e.Refused && !s.refused:
		s.refused = true
		s.say("the target asks to wait %s, longer or more often than the suite does; dependent checks are skipped",
			e.Elapsed.Round(time.Second))
	case !e.Refused && e.Elapsed >= time.Second && e.Elapsed >= 2*s.longest:
		s.longest = e.Elapsed
		s.say("the target asks to wait %s", e.Elapsed.Round(time.Second))
	}
}

// poll notes what a revision does, and tells of one that takes its time, once for each status.
func (s *screen) poll(e steps.Event) {
	if e.Over {
		delete(s.polls, e.Name)
		return
	}
	s.polls[e.Name] = polling{e, s.now()}
	if e.Elapsed > 5*time.Second && !s.told[e.Name+e.Text] {
		s.told[e.Name+e.Text] = true
		s.say("revision %.8s is %s after %s", e.Name, e.Text, e.Elapsed.Round(time.Second))
	}
}

// waitsFor says what the run waits for at a time, and how long that may still take where that is known: revisions first,
// the one with the most time left before the others, else the scenario that has been running for the longest.
func (s *screen) waitsFor(now time.Time) string {
	var polls []polling
	for _, p := range s.polls {
		if p.at.Add(p.Left).After(now) { // else the poll was given up
			polls = append(polls, p)
		}
	}
	others := func(n int, what string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(" and %s", reports.Count(n, what))
	}
	switch {
	case len(polls) > 0:
		p := slices.MaxFunc(polls, func(a, b polling) int { return a.at.Add(a.Left).Compare(b.at.Add(b.Left)) })
		return fmt.Sprintf("waiting for revision %.8s%s, %s for %s; at most %s more (timeouts.poll)", p.Name,
			others(len(polls)-1, "more revision"), p.Text, (p.Elapsed + now.Sub(p.at)).Round(time.Second),
			p.at.Add(p.Left).Sub(now).Round(time.Second))
	case len(s.running) > 0:
		names := slices.Sorted(maps.Keys(s.running))
		oldest := slices.MinFunc(names, func(a, b string) int { return s.running[a].Compare(s.running[b]) })
		return fmt.Sprintf("waiting for %s%s, running for %s", oldest, others(len(names)-1, "more scenario"),
			now.Sub(s.running[oldest]).Round(time.Second))
	case s.exploring:
		return "exploring, and removing what the run created"
	case s.total > 0 && s.done >= s.total:
		return fmt.Sprintf("removing what the run created; at most %s", steps.CleanUpTime)
	case s.done > 0:
		return "the next scenarios begin"
	}
	return "waiting for the first answers"
}

// beat tells how far the run is, and what it waits for.
func (s *screen) beat(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		return
	default:
	}
	bad := ""
	if s.bad > 0 {
		bad = fmt.Sprintf(", %d not passed", s.bad)
	}
	took := now.Sub(s.start).Round(time.Second)
	line := safe.Line(fmt.Sprintf("[%d/%d] %s%s: %s", s.done, s.total, took, bad, s.waitsFor(now)))
	if !s.live {
		fmt.Fprintln(s.out, line)
		return
	}
	width, _ := terminal(s.out)
	fmt.Fprint(s.out, "\r\x1b[K"+safe.Ellipsis(line, max(width-1, 20)))
}

// say writes a line that stays.
func (s *screen) say(format string, args ...any) {
	if s.live {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	fmt.Fprintln(s.out, safe.Line(fmt.Sprintf(format, args...)))
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
