package agentserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// runRequest is the body of a request that creates a run.
type runRequest struct {
	assistantID  string
	input        []threads.Message
	rawInput     map[string]any
	metadata     map[string]any
	strategyName string
	config       runConfig
	modes        []string // of streams; one at least

	createThread bool // the thread is created if there is none
	keepThread   bool // of a run without a thread: it is not deleted when the run has ended
	cancelAlone  bool // the run is cancelled if the client closes the connection
}

// runCall is how a run is asked for.
type runCall struct {
	threadID string // empty: the run gets a thread of its own
	attached bool   // the client waits for the run, or reads its stream
}

// honoured are the options of a run that change something.
var honoured = []string{
	"assistant_id", "input", "metadata", "multitask_strategy", "config", "context", "stream_mode", "stream_subgraphs", "stream_resumable",
	"if_not_exists", "on_completion", "on_disconnect", "durability", "checkpoint_during",
}

// notOffered are the options of a run that clients know and this server accepts only with a value that asks for nothing,
// each with what to do instead.
var notOffered = map[string]string{
	"command":          "send input; a run cannot be resumed",
	"checkpoint":       "a run continues from the latest state of the thread",
	"checkpoint_id":    "a run continues from the latest state of the thread",
	"interrupt_before": "a graph is one step; cancel the run to interrupt it",
	"interrupt_after":  "a graph is one step; cancel the run to interrupt it",
	"webhook":          "join the run, or read its stream",
	"after_seconds":    "create the run when it is to start",
	"feedback_keys":    "keep feedback elsewhere",
	"strict_resume":    "a run cannot be resumed",
}

// asksForNothing tells whether the value of an option is the same as none: null, false, 0, or empty, all the way down.
func asksForNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, x := range v {
			if !asksForNothing(x) {
				return false
			}
		}
		return true
	}
	return equalJSON(v, zero)
}

// knownOptions refuses options that nobody knows, and those that are not offered, by their names.
func knownOptions(body map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		instead, refused := notOffered[name]
		switch {
		case slices.Contains(honoured, name):
		case !refused:
			return invalid("%s is no option of a run: the options are %s", name, strings.Join(honoured, ", "))
		case !asksForNothing(body[name]):
			return invalid("%s is not offered: leave it out; %s", name, instead)
		}
	}
	return nil
}

// readOptions reads the options that decide about the thread of a run, its state and its streams.
func (out *runRequest) readOptions(body map[string]any, call runCall) (err error) {
	choices := func(name string, served ...string) (chosen string) {
		if err == nil {
			chosen, err = choice(body, name, served...)
		}
		return chosen
	}
	out.createThread = choices("if_not_exists", "reject", "create") == "create"
	if call.threadID == "" {
		out.keepThread = choices("on_completion", "delete", "keep") == "keep"
	} else {
		choices("on_completion", "keep")
	}
	if call.attached {
		out.cancelAlone = choices("on_disconnect", "continue", "cancel") == "cancel"
	} else {
		choices("on_disconnect", "continue")
	}
	choices("durability", "sync", "async") // every write is durable before the graph goes on
	if err != nil {
		return err
	}
	for _, name := range []string{"stream_subgraphs", "stream_resumable", "checkpoint_during"} {
		// Graphs have no subgraphs, every stream can be resumed, and what a run writes is in the state at once: for the first
		// two, both values ask for what happens anyway.
		on, given := body[name].(bool)
		switch {
		case body[name] != nil && !given:
			return invalid("%s must be a boolean", name)
		case given && !on && name == "checkpoint_during":
			return invalid("checkpoint_during must be true: what a run writes is in the state of the thread at once; leave it out")
		}
	}
	out.modes, err = modesField(body["stream_mode"])
	return err
}

// choice reads an option that has some values; null is the same as an absent option.
func choice(body map[string]any, name string, served ...string) (string, error) {
	chosen, err := stringField(body, name)
	if err != nil || body[name] == nil {
		return "", err
	}
	if !slices.Contains(served, chosen) {
		return "", invalid("%s must be %s here, not %q", name, strings.Join(served, " or "), chosen)
	}
	return chosen, nil
}

// modesField reads the modes of a stream: one, or a list of them.
func modesField(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	var modes []string
	for _, x := range list {
		name, _ := x.(string)
		if !slices.Contains(streamModes, name) {
			return nil, invalid("stream_mode must be one of %s, or an array of them", strings.Join(streamModes, ", "))
		}
		modes = append(modes, name)
	}
	if modes == nil {
		modes = []string{modeValues}
	}
	return modes, nil
}
