package agentserver

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// createRun is POST /threads/{thread_id}/runs: it answers as soon as the run is on record (interface, sections 3 and
// 4).
func (s *Server) createRun(x *exchange) (any, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, err
	}
	ask, err := s.parseRun(body)
	if err != nil {
		return nil, err
	}
	_, d, err := s.visibleThread(x, "create_run", map[string]any{
		"assistant_id": ask.assistantID, "multitask_strategy": ask.strategyName, "metadata": ask.metadata, "input": ask.rawInput,
	})
	if err != nil {
		return nil, err
	}
	now, rev := time.Now().UTC(), s.rev.Load()
	ex := &execution{rev: rev, user: x.user, input: ask.input, run: threads.Run{
		ID: threads.NewID(), ThreadID: x.threadID, AssistantID: ask.assistantID, CreatedAt: now, UpdatedAt: now,
		Status: threads.StatusPending, Metadata: d.metadataOf(ask.metadata), Strategy: ask.strategyName,
	}}
	if ex.graph, err = rev.graph(ask.assistantID); err != nil {
		return nil, err
	}
	err = s.engine.begin(x.r.Context(), ex, s.opts.Strategies[ask.strategyName])
	return ex.run, orMissing(err, noThread(x.threadID))
}

// runRequest is the body of a request that creates a run.
type runRequest struct {
	assistantID  string
	input        []threads.Message
	rawInput     map[string]any
	metadata     map[string]any
	strategyName string
}

// graph finds the graph of an assistant.
func (r *revision) graph(assistantID string) (graph, error) {
	g, ok := r.app.graphs[assistantID]
	if !ok {
		return graph{}, httpError(http.StatusNotFound, "Assistant %q not found: the deployed graphs are %s",
			assistantID, strings.Join(r.app.Graphs(), ", "))
	}
	return g, nil
}

func (s *Server) parseRun(body map[string]any) (out runRequest, err error) {
	if out.assistantID, err = stringField(body, "assistant_id"); err != nil {
		return out, err
	}
	if out.assistantID == "" {
		return out, invalid("assistant_id is required: the name of a deployed graph")
	}
	if out.metadata, err = objectField(body, "metadata"); err != nil {
		return out, err
	}
	if strategy, given := body["multitask_strategy"]; given && strategy == nil {
		return out, invalid("multitask_strategy must be a string") // the interface has it optional, not nullable
	}
	if out.strategyName, err = stringField(body, "multitask_strategy"); err != nil {
		return out, err
	}
	out.strategyName = cmp.Or(out.strategyName, s.opts.DefaultStrategy)
	if s.opts.Strategies[out.strategyName] == nil {
		return out, invalid("multitask_strategy must be one of %s",
			strings.Join(slices.Sorted(maps.Keys(s.opts.Strategies)), ", "))
	}
	if err := out.readInput(body); err != nil {
		return out, err
	}
	// A client sends stream_mode with every run. It changes nothing where no stream is read.
	return out, onlyFields(body, "assistant_id", "input", "metadata", "multitask_strategy", "stream_mode")
}

// readInput reads the messages of a run.
func (out *runRequest) readInput(body map[string]any) error {
	input, ok := body["input"].(map[string]any)
	if !ok {
		return invalid("input is required: an object with messages")
	}
	messages, ok := input["messages"].([]any)
	if !ok {
		return invalid("input.messages is required: an array of objects with role and content")
	}
	for i, v := range messages {
		if fields, ok := v.(map[string]any); ok && fields["role"] == nil {
			return invalid("input.messages[%d]: role is required", i)
		}
		m, err := parseMessage(v, "")
		if err != nil {
			return invalid("input.messages[%d]: %s", i, err)
		}
		out.input = append(out.input, m)
	}
	out.rawInput = input
	return nil
}
