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

// command matches lines that CI systems execute as commands.
var command = regexp.MustCompile(`(?m)^\s*(::[a-z-]+|##\[[a-z]+\]|##vso\[|##teamcity\[).*$`)

// control matches control characters and characters that change the direction of text.
var control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

// compared returns the problems of a test run. It sets the verdict and the removal time of the row.
func (b *bench) compared(m hostile.Mode, r *row, console []byte, folder string) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if r.Killed {
		say("killed: the test run did not end within %s after its --timeout", killedAfter)
	}
	for _, sign := range []string{"panic:", "goroutine ", "fatal error:", "runtime error"} {
		if bytes.Contains(console, []byte(sign)) {
			say("the console contains %q", sign)
		}
	}
	if c := control.Find(console); c != nil {
		say("the console contains the control character %q", c)
	}
	if command.Match(console) {
		say("the console contains a CI command: %.60q", command.Find(console))
	}
	if page, err := os.ReadFile(filepath.Join(folder, "index.html")); err == nil && bytes.Contains(page, []byte("<script>alert(")) {
		say("the page contains a script of the target")
	}
	text, err := os.ReadFile(filepath.Join(folder, "result.json"))
	if err != nil || !gjson.ValidBytes(text) {
		say("result.json is missing or invalid: %v", err)
	}
	result := gjson.ParseBytes(text)
	for _, q := range result.Get("requirements").Array() {
		for _, s := range q.Get("scenarios").Array() {
			if s.Get(`blocked_by.#(kind=="suite")`).Exists() {
				say("%s: internal error of the suite: %.200s", q.Get("id"), s.Get("reason"))
			}
		}
	}
	if headline := result.Get("headline").String(); strings.Contains(headline, "the suite sent") {
		say("the suite sent an invalid request: %.200s", headline)
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
		say("took %.1f s without the removal of created objects; the limit is %.0f s", r.Seconds-r.Removal, bound)
	}
	if r.Removal > longestRemoval {
		say("the removal of created objects took %.1f s; the limit is %d s", r.Removal, longestRemoval)
	}
	if r.Megabytes > b.megabytes {
		say("used %d MB; the limit is %d MB", r.Megabytes, b.megabytes)
	}
	return problems
}
