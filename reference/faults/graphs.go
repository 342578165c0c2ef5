package faults

import (
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// BrokenGraph is a conformance graph that breaks a line of its contract (reference/graphs/CONTRACT.md), on a server that keeps
// the interface: what needs the word is blocked, and nothing fails.
type BrokenGraph struct {
	Name  string   // "graph-does-not-wait"
	Does  string   // what the graph does instead, in a sentence
	Words []string // the words that it does not understand, or "echo"; a graph that fails always understands none
	Apply Layer
}

// BrokenGraphs returns all of them.
func BrokenGraphs() []BrokenGraph {
	const (
		wait  = `ctx.wait(milliseconds(words, "wait="))`
		later = `ctx.wait(milliseconds(words, "wait-after-write="))`
		write = `ctx.write({"role": "ai", "content": "Working on it: " + asked})`
	)
	return []BrokenGraph{
		{"graph-does-not-wait", "the graph ignores wait", []string{"wait"}, graph(wait, "pass")},
		{"graph-does-not-write-early", "with wait-after-write the graph only waits", []string{"wait-after-write"}, graph(write, "pass")},
		{"graph-does-not-fail", "the graph ignores fail", []string{"fail"}, graph(`if "fail" in words`, "if False")},
		{"graph-does-not-report-the-user", "the graph ignores whoami", []string{"whoami"}, graph(`if "whoami" in words`, "if False")},
		{"graph-calls-no-tool", "the graph ignores tool", []string{"tool"}, graph(`if "tool" in words`, "if False")},
		{"graph-is-deaf", "the graph ignores every word", []string{"wait", "wait-after-write", "fail", "whoami", "tool"}, graph("asked.split()", "[]")},
		{
			"graph-is-deaf-on-a-late-server", "the graph ignores every word, and the status of a run says running for 300 ms after its end", []string{"wait", "wait-after-write", "fail", "whoami", "tool"},
			compose(graph("asked.split()", "[]"), endingLate(300*time.Millisecond)),
		},
		{"graph-raises-without-a-word", "every run fails", []string{"echo"}, graph("words = asked.split()", `words = fail("each run fails")`)},
		{
			"graph-blocks-its-loop", "a wait keeps the processor busy until the server ends the run with an error", []string{"wait", "wait-after-write"},
			compose(graph(wait, `spin(milliseconds(words, "wait="))`), graph(later, `spin(milliseconds(words, "wait-after-write="))`), graph("def last_human", spin)),
		},
		{"graph-raises-for-the-user", "whoami fails", []string{"whoami"}, graph("answer = whoami(", `answer = fail("no user: ", `)},
	}
}

// spin is a function of a graph that does not wait but work.
const spin = `def spin(ms):
    for _ in range(ms * 1000000000):
        pass

def last_human`

// graph replaces a part of the source of the conformance graph.
func graph(old, with string) Layer {
	return func(o *reference.Options) {
		inner := o.WrapGraph
		o.WrapGraph = func(source string) string {
			if inner != nil {
				source = inner(source)
			}
			return strings.Replace(source, old, with, 1)
		}
	}
}

// endingLate has runs end later than the state shows: their status is running for a while, and joins wait as long.
func endingLate(while time.Duration) Layer {
	left := func(run map[string]any) time.Duration {
		ended, err := time.Parse(time.RFC3339Nano, text(run, "updated_at"))
		if status := text(run, "status"); err != nil || status == "pending" || status == "running" {
			return 0
		}
		return time.Until(ended.Add(while))
	}
	return compose(
		onAnswer(joinRun, func(r *http.Request, a *deviate.Answer) { pause(r, while) }),
		onObject(getRun, func(run map[string]any) {
			if left(run) > 0 {
				run["status"] = "running"
			}
		}),
	)
}
