package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reference/hostile"
)

// command is what systems of CI obey at the beginning of a line.
var command = regexp.MustCompile(`(?m)^\s*(::[a-z-]+|##\[[a-z]+\]|##vso\[|##teamcity\[).*$`)

// control is what a terminal obeys, or shows elsewhere.
var control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

// compared says what is wrong with a run.
func (b *bench) compared(m hostile.Mode, r *row, console []byte, folder string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if r.Killed {
		say("killed: the run did not end within %s of its --timeout", killedAfter)
	}
	for _, sign := range []string{"panic:", "goroutine ", "fatal error:", "runtime error"} {
		if bytes.Contains(console, []byte(sign)) {
			say("the console has %q", sign)
		}
	}
	if c := control.Find(console); c != nil {
		say("the console has the control character %q", c)
	}
	if command.Match(console) {
		say("the console has a line that is a command of CI: %.60q", command.Find(console))
	}
	if page, err := os.ReadFile(filepath.Join(folder, "index.html")); err == nil && bytes.Contains(page, []byte("<script>alert(")) {
		say("the page has a script of the target")
	}
	text, err := os.ReadFile(filepath.Join(folder, "result.json"))
	if err != nil || !gjson.ValidBytes(text) {
		say("result.json cannot be read: %v", err)
	}
	result := gjson.ParseBytes(text)
	for _, q := range result.Get("requirements").Array() {
		for _, s := range q.Get("scenarios").Array() {
			if s.Get(`blocked_by.#(kind=="suite")`).Exists() {
				say("%s: an error of the suite: %.200s", q.Get("id"), s.Get("reason"))
			}
		}
	}
	if headline := result.Get("headline").String(); strings.Contains(headline, "the suite sent") {
		say("a mistake of the suite: %.200s", headline)
	}
	r.Verdict, r.Removal = result.Get("verdict").String(), result.Get("run.removal_ms").Float()/1000
	if want := m.Verdict; r.Verdict != want {
		say("verdict %q, want %q", r.Verdict, want)
	}
	if want := hostile.Exits[m.Verdict]; r.Exit != want {
		say("exit code %d, want %d", r.Exit, want)
	}
	if bound := timeout.Seconds() + float64(max(b.seconds, m.Seconds)); r.Seconds-r.Removal > bound {
		r.late = true
		say("%.1f s without the removal of what was created, at most %.0f s", r.Seconds-r.Removal, bound)
	}
	if r.Removal > longestRemoval {
		say("%.1f s until what was created was removed, at most %d s", r.Removal, longestRemoval)
	}
	if r.Megabytes > b.megabytes {
		say("%d MB, at most %d MB", r.Megabytes, b.megabytes)
	}
	return wrong
}
