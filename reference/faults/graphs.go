package faults

import (
	"strings"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// BrokenGraph is a conformance graph that breaks its contract (reference/graphs/CONTRACT.md), on a server that conforms.
// Scenarios that need the broken word must be blocked, and no requirement may fail.
type BrokenGraph struct {
	Name  string   // such as "graph-does-not-wait"
	Does  string   // what the graph does instead, in a sentence
	Words []string // the words that it does not understand, or only "echo" if a plain run fails or does not repeat its input
	Apply Layer
}

// BrokenGraphs returns all broken graphs.
func BrokenGraphs() []BrokenGraph {
	const (
		wait     = `ctx.wait(milliseconds(words, "wait="))`
		later    = `ctx.wait(milliseconds(words, "wait-after-write="))`
		write    = `ctx.write({"role": "ai", "content": "Working on it: " + asked})`
		echo     = `answer = env("CONFORMANCE_PREFIX", "") + asked`
		hello    = "Hello! How can I help you?"
		greeting = `answer = "` + hello + `"`
		spin     = "def spin(ms):\n    for _ in range(ms * 1000000000):\n        pass\n\n"
	)
	all := []string{"wait", "wait-after-write", "fail", "whoami", "tool"}
	ignoring := func(word string) Layer { return graph(`if "`+word+`" in words`, "if False") }
	deaf := graph("asked.split()", "[]")
	return []BrokenGraph{
		{"graph-does-not-wait", "the graph ignores wait", all[:1], graph(wait, "pass")},
		{"graph-does-not-write-early", "with wait-after-write the graph only waits", all[1:2], graph(write, "pass")},
		{"graph-does-not-fail", "the graph ignores fail", all[2:3], ignoring("fail")},
		{"graph-does-not-report-the-user", "the graph ignores whoami", all[3:4], ignoring("whoami")},
		{"graph-calls-no-tool", "the graph ignores tool", all[4:], ignoring("tool")},
		{"graph-is-deaf", "the graph ignores every word", all, deaf},
		{
			"graph-is-deaf-on-a-late-server", "the graph ignores every word, and a run is shown as running for 300 ms after its end", all,
			compose(deaf, changing([]string{"join-run"}, "delay 300ms"),
				changing([]string{"get-run", "answer.status = success", "within 300ms of create-run"}, "answer.status = running")),
		},
		{
			"graph-raises-without-a-word", "every run fails", []string{"echo"},
			graph("words = asked.split()", `words = fail("each run fails")`),
		},
		{
			"graph-blocks-its-loop", "a wait keeps the processor busy until the server ends the run with an error", all[:2],
			compose(graph(wait, strings.Replace(wait, "ctx.wait", "spin", 1)),
				graph(later, strings.Replace(later, "ctx.wait", "spin", 1)), graph("def last_human", spin+"def last_human")),
		},
		{
			"graph-greets", "every answer is the same greeting, and the graph ignores every word", []string{"echo"},
			compose(deaf, graph(echo, greeting)),
		},
		{
			"graph-greets-on-time", "every answer is the same greeting, but the graph obeys its words", []string{"echo"},
			compose(graph(echo, greeting), graph(`"Working on it: " + asked`, `"`+hello+`"`)),
		},
		{
			"graph-greets-on-every-second-thread", "every answer on every second thread is the same greeting", []string{"echo"},
			changingBy(
				deviate.Change{
					When: []string{"create-thread", "every 2 of all"},
					Do:   []string{"common.greeted = <common.greeted> <answer.thread_id>"},
				},
				deviate.Change{
					When: []string{"get-state", "common.greeted has <path.thread_id>"},
					Do:   []string{"answer.values.messages.[type=ai].content = " + hello},
				},
			),
		},
		{"graph-raises-for-the-user", "whoami fails", all[3:4], graph("answer = whoami(", `answer = fail("no user: ", `)},
	}
}

// graph returns a layer that replaces a part of the source of the conformance graph.
func graph(old, with string) Layer {
	return func(o *reference.Options) {
		o.WrapGraph = append(o.WrapGraph, func(source string) string { return strings.Replace(source, old, with, 1) })
	}
}
