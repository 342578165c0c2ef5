package agentserver

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// The modes of a stream.
const (
	modeValues   = "values"         // the state after each write of the run
	modeUpdates  = "updates"        // what the graph wrote, under the name of the graph
	modeMessages = "messages"       // each message of the graph: its metadata, then the message
	modeTuples   = "messages-tuple" // each message of the graph, as a pair of message and metadata
)

var streamModes = []string{modeValues, modeUpdates, modeMessages, modeTuples}

// event is one event of a stream.
type event struct {
	name string
	data any
	id   string // where a stream that ends here may go on; empty: not between this event and the next
}

// runReader makes events of what a run has written. It keeps no messages: they are read from the store, however far behind
// the reader is. The number of the last write that it has shown is the id of an event, by which a stream is resumed.
type runReader struct {
	modes []string
	shown int // writes of the run
}

// maxValues is how many writes a reader may be behind and still get the values after each; further behind it gets the values
// after the last of them only, since each repeats the whole state.
const maxValues = 64

// next is what the reader has not shown yet.
func (r *runReader) next(p threads.Progress) []event {
	var out []event
	behind := len(p.Writes) - r.shown
	for ; r.shown < len(p.Writes); r.shown++ {
		w := p.Writes[r.shown]
		events := r.fromGraph(p, w)
		if slices.Contains(r.modes, modeValues) && (behind <= maxValues || r.shown == len(p.Writes)-1) {
			events = append(events, event{name: modeValues, data: p.Values(w)})
		}
		if len(events) > 0 {
			events[len(events)-1].id = strconv.Itoa(r.shown + 1)
		}
		out = append(out, events...)
	}
	return out
}

// fromGraph are the events about messages of the graph: the input is none.
func (r *runReader) fromGraph(p threads.Progress, w threads.Write) []event {
	if w.Input {
		return nil
	}
	messages := p.State.Messages[w.From:w.To]
	var out []event
	if slices.Contains(r.modes, modeUpdates) {
		out = append(out, event{name: modeUpdates, data: map[string]any{p.Run.AssistantID: map[string]any{"messages": messages}}})
	}
	about := map[string]any{"run_id": p.Run.ID, "thread_id": p.Run.ThreadID, "assistant_id": p.Run.AssistantID}
	for _, m := range messages {
		switch {
		case slices.Contains(r.modes, modeTuples):
			out = append(out, event{name: "messages", data: []any{m, about}})
		case slices.Contains(r.modes, modeMessages):
			out = append(out, event{name: "messages/metadata", data: map[string]any{m.ID: map[string]any{"metadata": about}}},
				event{name: "messages/complete", data: []any{m}})
		}
	}
	return out
}

// failure is what clients are told about a run that did not succeed.
func failure(name, message string) map[string]any {
	return map[string]any{"error": name, "message": message}
}

// failureOf describes how a run ended; nil where it succeeded.
func failureOf(r threads.Run) map[string]any {
	names := map[string]string{
		threads.StatusError: "GraphError", threads.StatusTimeout: "TimeoutError", threads.StatusInterrupted: "UserInterrupt",
	}
	if r.Status == threads.StatusSuccess {
		return nil
	}
	return failure(cmp.Or(names[r.Status], "Error"), r.Reason)
}

// rolledBack is told about a run that is no longer there.
func rolledBack(runID string) map[string]any {
	return failure("UserRollback", "run "+runID+" was rolled back and deleted")
}
