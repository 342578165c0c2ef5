package faults

import (
	"net/http"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/deviate"
)

func agentRuns() []Fault {
	return []Fault{
		{
			Name: "run-is-answered-when-it-is-over", Breaks: "create run returns only after the run has completed", Fails: "AS-RUN-1", Hangs: true,
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createRun.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := deviate.Capture(next, r)
				if id := text(a.Object(), "run_id"); id != "" && a.Status < 300 {
					do(next, r, http.MethodGet, r.URL.Path+"/"+id+"/join")
				}
				a.Send(w)
			}),
		},
		{
			Name: "run-makes-its-thread", Breaks: "create run on an unknown thread creates a thread and runs on it", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createRun.is(r) || d.known(threadOf(r)) {
					next.ServeHTTP(w, r)
					return
				}
				sent := readBody(r)
				made := withPath(r, strings.TrimSuffix(threadPath(r, ""), "/"))
				setBody(made, []byte("{}"))
				a := deviate.Capture(next, made)
				if a.Status == http.StatusOK {
					run := withPath(r, threadPath(r, text(a.Object(), "thread_id"))+"/runs")
					setBody(run, sent)
					a = deviate.Capture(next, run)
					a.Edit(func(run map[string]any) { run["thread_id"] = threadOf(r) })
				}
				a.Send(w)
			}),
		},
	}
}

// onUnfound changes the 404 of an operation on a run.
func onUnfound(op operation, w http.ResponseWriter, r *http.Request, next http.Handler, change func(a *deviate.Answer)) {
	if !op.is(r) {
		next.ServeHTTP(w, r)
		return
	}
	a := deviate.Capture(next, r)
	if a.Status == http.StatusNotFound {
		change(a)
	}
	a.Send(w)
}

// agentTexts returns the faults in the content of messages.
func agentTexts() []Fault {
	return []Fault{
		{
			Name: "texts-are-one-line", Breaks: "consecutive whitespace is stored as one space", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string { return strings.Join(strings.Fields(text), " ") }),
		},
		{
			Name: "texts-are-normalised", Breaks: "a letter with a combining mark is stored as one composed character", Fails: "AS-STATE-2",
			Apply: rewritten(strings.NewReplacer("e\u0308", "\u00eb", "i\u0308", "\u00ef", "e\u0301", "\u00e9").Replace),
		},
		{
			Name: "texts-have-two-bytes-a-letter", Breaks: "characters above U+FFFF are stored as U+FFFD", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string {
				return strings.Map(func(r rune) rune {
					if r > 0xffff {
						return 0xfffd
					}
					return r
				}, text)
			}),
		},
	}
}

// rewritten changes the content of all messages in a state.
func rewritten(change func(text string) string) Layer {
	return onEachMessage(func(m map[string]any) {
		if content, is := m["content"].(string); is {
			m["content"] = change(content)
		}
	})
}

// conformanceGraph is the graph of the reference's deployments.
const conformanceGraph = "conformance"

func agentMistakes() []Fault {
	return []Fault{
		{
			Name: "unknown-graph-blocks-the-thread", Breaks: "after a run of an unknown graph, every run on the thread gets 409", Fails: "AS-RUN-6",
			Apply: blockedThreads(),
		},
	}
}

// onSentRun changes the bodies of create run.
func onSentRun(change func(run map[string]any)) Layer {
	return onRequest(createRun, func(r *http.Request) { editBody(r, change) })
}

// blockedThreads refuses all runs on a thread after a run of an unknown graph.
func blockedThreads() Layer {
	return fresh(func() Layer {
		var mu sync.Mutex
		blocked := map[string]bool{}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !createRun.is(r) {
				next.ServeHTTP(w, r)
				return
			}
			name, given := bodyOf(r)["assistant_id"].(string)
			mu.Lock()
			is := blocked[threadOf(r)]
			blocked[threadOf(r)] = is || given && name != conformanceGraph
			mu.Unlock()
			if !is {
				next.ServeHTTP(w, r)
				return
			}
			a := deviate.Capture(next, r)
			if a.Status < 300 {
				do(next, r, http.MethodDelete, r.URL.Path+"/"+text(a.Object(), "run_id"))
				a.Refuse(http.StatusConflict, "The thread is busy")
			}
			a.Send(w)
		})
	})
}
