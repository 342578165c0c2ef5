package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// Formats of the console output.
const (
	formatPretty = "pretty"
	formatPlain  = "plain"
	formatJSON   = "json"
	formatJSONL  = "jsonl"
	formatGitHub = "github"
)

// The time between two status lines: short on a terminal, where one line is rewritten, and long elsewhere.
const (
	rewriteInterval = 100 * time.Millisecond
	lineInterval    = 30 * time.Second
)

// display describes how a test run is shown.
type display struct {
	format, color  string
	quiet, verbose bool
	brief          bool // no line for scenarios that have not passed
	bundled        bool // the target is the bundled reference
}

// isForPrograms reports whether standard output has JSON only.
func (d display) isForPrograms() bool { return d.format == formatJSON || d.format == formatJSONL }

// isPlain reports whether the text has no colors, and lines of any length.
func (d display) isPlain() bool { return d.format == formatPlain || d.format == formatGitHub }

// screen shows the progress of a test run on standard error: a status line that is rewritten on a terminal, and plain
// lines elsewhere.
type screen struct {
	display
	out       io.Writer
	rewritten bool // the status line is rewritten

	mu        sync.Mutex
	began     time.Time
	total     int
	done      int
	failed    int                // number of requirements of which a scenario failed
	exploring bool               // all scenarios have ended
	waits     map[string]waiting // waits for scenarios, by requirement and name, and for revisions
	shown     map[string]bool    // messages that are shown once: statuses of revisions, causes, requests to wait
}

// waiting is something that the test run waits for.
type waiting struct {
	subject      string
	since, until time.Time // until is the deadline, or zero if unknown
}

func newScreen(out io.Writer, d display) *screen {
	s := &screen{display: d, out: out, began: time.Now(), waits: map[string]waiting{}, shown: map[string]bool{}}
	if d.quiet || d.isForPrograms() && !d.verbose {
		s.out = io.Discard
	}
	s.rewritten = columns(s.out) > 0 && !d.isPlain() && !d.verbose
	return s
}

// start shows the status line at intervals, until the returned function is called. That function clears the line.
func (s *screen) start() (stop func()) {
	interval := lineInterval
	if s.rewritten {
		interval = rewriteInterval
	}
	ticker := time.NewTicker(interval)
	stopped := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-ticker.C:
				s.showStatus()
			case <-stopped:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(stopped)
		wait.Wait()
		s.clear()
	}
}

// columns returns the width of a terminal, or 0 if the writer is not a terminal or the terminal is too narrow.
func columns(w io.Writer) int {
	file, hasDescriptor := w.(interface{ Fd() uintptr })
	if !hasDescriptor {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 20 {
		return 0
	}
	return width
}

// show shows an event of the test run. It is safe for concurrent use.
func (s *screen) show(e target.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := e.Text + " " + e.Name
	switch e.Kind {
	case target.Planned:
		s.showPlan(e)
	case target.Started:
		s.waits[name] = waiting{subject: name, since: time.Now()}
	case target.Ended:
		delete(s.waits, name)
		s.done++
		s.showResult(e)
	case target.Changed:
		s.showResult(e)
	case target.Polled:
		s.showPoll(e)
	case target.Exploring:
		s.exploring = true
	case target.Repeating:
		s.exploring = false
		s.print("repetition %d of %d", e.Repetition, e.Total)
	case target.Named:
		if s.isNew("agent server " + e.Name) {
			s.print("agent server: %s", e.Name)
		}
	case target.Throttled:
		s.showThrottling(e)
	case target.Chained:
		s.showChain(e.Chain)
	}
}

// showChain shows which requests determined the duration of the scenarios.
func (s *screen) showChain(chain []target.Link) {
	if !s.verbose {
		return
	}
	var all time.Duration
	for _, l := range chain {
		all += l.Took
	}
	s.print("longest chain of requests that waited for each other: %s", all.Round(time.Millisecond))
	for _, l := range chain {
		s.print("  %7s  %s, %s", l.Took.Round(time.Millisecond), safe.Ellipsis(l.Name, 120), reports.Count(l.Requests, "request"))
	}
}

// showPlan shows the target and what the test run creates there.
func (s *screen) showPlan(e target.Event) {
	s.total = e.Total
	creates := "creates no deployment"
	if e.Deployments > 0 {
		more := ""
		if e.Explored > 0 {
			more = fmt.Sprintf(", up to %d more to explore,", e.Explored)
		}
		creates = "creates up to " + reports.Count(e.Deployments, "deployment") + more + " and removes them"
	}
	if s.bundled {
		e.Name = "the bundled reference at " + e.Name
	}
	s.print("Testing %s", e.Name)
	times := ""
	if e.Repetition > 1 {
		times = fmt.Sprintf(" %d times", e.Repetition)
	}
	s.print("  %s%s, seed %d", reports.Count(e.Total/max(e.Repetition, 1), "scenario"), times, e.Seed)
	s.print("  %s", creates)
}

func (s *screen) showPoll(e target.Event) {
	if e.Over {
		delete(s.waits, e.Name)
		return
	}
	now := time.Now()
	revision := safe.Ellipsis(safe.ShortIDs(e.Name), 40)
	subject := fmt.Sprintf("revision %s, which is %s", revision, e.Text)
	s.waits[e.Name] = waiting{subject, now.Add(-e.Elapsed), now.Add(e.Left)}
	if e.Elapsed > 5*time.Second && s.isNew(e.Text+" "+e.Name) {
		s.print("revision %s is %s after %s", revision, e.Text, e.Elapsed.Round(time.Second))
	}
}

func (s *screen) showThrottling(e target.Event) {
	asked := e.Elapsed.Round(time.Second)
	switch {
	case e.Refused && s.isNew("refused"):
		s.print("the target asks to wait %s, longer or more often than the suite does; dependent checks are skipped", asked)
	case !e.Refused && asked > 0 && s.isNew("throttled"):
		s.print("the target asks to wait %s", asked)
	}
}

// isNew reports whether a message has not been shown before.
func (s *screen) isNew(message string) bool {
	isNew := !s.shown[message]
	s.shown[message] = true
	return isNew
}

// showResult shows a scenario that has ended and has not passed, if it is the first of its requirement or of its cause.
// With --verbose, it shows each scenario.
func (s *screen) showResult(e target.Event) {
	isFirst := false // first of a failure, or of a cause because of which scenarios could not be judged
	switch {
	case e.Verdict == reports.Failed:
		isFirst = s.isNew("failed " + e.Text)
		if isFirst {
			s.failed++
		}
	case e.Verdict.Problem():
		isFirst = hasOwnCause(e.BlockedBy) && s.isNew(fmt.Sprint(e.Verdict, e.BlockedBy))
	}
	reason := ""
	if e.Reason != "" {
		reason = ": " + safe.Ellipsis(e.Reason, 200)
	}
	isRunning := !slices.ContainsFunc(e.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByRun })
	word := overview.Word(e.Verdict)
	switch {
	case s.verbose && isRunning:
		s.print("[%d/%d] %s %s: %s (%s)%s", s.done, s.total, word, e.Text, e.Name, e.Elapsed.Round(time.Millisecond), reason)
	case isFirst && !s.brief:
		s.print("[%d/%d] %s %s%s", s.done, s.total, word, e.Text, reason)
	}
}

// ownCauses are the kinds of causes that are not failures of a requirement. They must be corrected before a test run can
// judge more.
var ownCauses = []reports.BlockerKind{reports.ByKey, reports.ByGraph, reports.ByTarget, reports.ByFixture, reports.BySuite}

// hasOwnCause reports whether a scenario is blocked or inconclusive for a reason other than a failed requirement.
func hasOwnCause(causes []reports.Blocker) bool {
	return slices.ContainsFunc(causes, func(b reports.Blocker) bool { return slices.Contains(ownCauses, b.Kind) })
}

// waitsFor describes the current wait of the test run, with its maximum duration if known: the revision with the latest
// deadline, or else the scenario that started first.
func (s *screen) waitsFor(now time.Time) string {
	var longest *waiting
	for _, w := range s.waits {
		isOver := !w.until.IsZero() && !w.until.After(now)
		if !isOver && (longest == nil || w.isLonger(*longest)) {
			longest = &w
		}
	}
	switch {
	case longest != nil:
		text := fmt.Sprintf("waiting for %s, for %s", longest.subject, now.Sub(longest.since).Round(time.Second))
		if !longest.until.IsZero() {
			text += fmt.Sprintf("; at most %s more (timeouts.poll)", longest.until.Sub(now).Round(time.Second))
		}
		return text
	case s.exploring:
		return "exploring, and removing what was created"
	case s.total > 0 && s.done >= s.total:
		return fmt.Sprintf("removing what was created; at most %s", suite.CleanUpTime)
	}
	return "waiting for the next responses"
}

// isLonger reports whether w has the later deadline, or else started earlier.
func (w waiting) isLonger(other waiting) bool {
	order := cmp.Or(w.until.Compare(other.until), other.since.Compare(w.since), strings.Compare(other.subject, w.subject))
	return order > 0
}

// showStatus shows how many scenarios have ended and what the test run waits for.
func (s *screen) showStatus() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	took := now.Sub(s.began)
	failed := ""
	if s.failed > 0 {
		failed = reports.Count(s.failed, "requirement") + " failed so far"
	}
	if !s.rewritten {
		s.print("[%d/%d] %s", s.done, s.total, reports.Joined(", ", took.Round(time.Second).String(), failed, s.waitsFor(now)))
		return
	}
	width := max(columns(s.out)-1, 20)
	line := reports.Joined("  ", bar(s.done, s.total), fmt.Sprintf("%d of %d", s.done, s.total),
		took.Round(time.Second).String(), remaining(took, s.done, s.total), failed, s.waitsFor(now))
	s.clear()
	fmt.Fprint(s.out, safe.Ellipsis(safe.Line(line), width))
}

// bar returns a progress bar of 20 characters.
func bar(done, total int) string {
	const width = 20
	full := width
	if total > 0 {
		full = min(width*done/total, width)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// remaining estimates the time until all scenarios have ended: "about 12s left". It returns "" until a tenth has ended.
func remaining(took time.Duration, done, total int) string {
	if done*10 < total || done >= total {
		return ""
	}
	left := time.Duration(float64(took) * float64(total-done) / float64(done))
	return fmt.Sprintf("about %s left", max(left.Round(time.Second), time.Second))
}

// print prints a permanent line.
func (s *screen) print(format string, args ...any) {
	s.clear()
	fmt.Fprintln(s.out, safe.Line(fmt.Sprintf(format, args...)))
}

// clear clears the status line.
func (s *screen) clear() {
	if s.rewritten {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
}

// linkTo returns the URL of a folder for links in the output, or "" if the output is not a terminal that can show links.
func linkTo(folder string, onTerminal bool) string {
	isPlain := os.Getenv("NO_COLOR") != "" || os.Getenv("CI") != ""
	if !onTerminal || isPlain || slices.Contains([]string{"dumb", "linux"}, os.Getenv("TERM")) {
		return ""
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive of Windows
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func addColor(c *cobra.Command, mode *string) {
	*mode = "auto"
	addChoice(c, mode, "color", "; auto: on a terminal, unless NO_COLOR is set; FORCE_COLOR forces colors",
		"auto", "always", "never")
}

// colored reports whether to use colors. The flag takes precedence over the environment, and NO_COLOR over FORCE_COLOR.
// Plain output has colors only with the flag.
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
