package agentserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/script"
	"github.com/agentconform/agentconform/reference/store"
)

// execute runs the graph of a run and returns its ending.
func (s *Server) execute(ex *execution) ending {
	messages, err := s.runGraph(ex)
	switch {
	case err == nil:
		return ending{status: StatusSuccess, messages: messages}
	case errors.Is(context.Cause(ex.ctx), errStopping):
		return stopped
	}
	// The error of a graph may contain any secret of the deployment or of the user.
	reason := redacted(ex.rev.redact(err.Error()), longestFirst(secretsIn("", ex.user.Fields)))
	end := ending{status: StatusError, reason: reason}
	if errors.Is(err, script.ErrTime) {
		end.status = StatusTimeout
	}
	if ex.ctx.Err() == nil {
		ex.rev.log.Info("a run failed", "run", ex.ID, "graph", ex.AssistantID, "error", end.reason)
	}
	return end
}

// runGraph waits for a worker, marks the run as running, adds its input to the state, and calls the graph. It returns the
// messages of the graph.
func (s *Server) runGraph(ex *execution) ([]Message, error) {
	if s.workers != nil {
		select {
		case s.workers <- struct{}{}:
			defer func() { <-s.workers }()
		case <-ex.ctx.Done():
			return nil, context.Cause(ex.ctx)
		}
	}
	var history []Message
	err := s.update(func(t tables) (err error) {
		if err := t.move(ex.Run, ending{status: StatusRunning, messages: ex.input}); err != nil {
			return err
		}
		history, err = t.state(ex.ThreadID)
		return err
	})
	if err != nil {
		return nil, err
	}
	session := ex.rev.session(ex.ctx, "graph "+ex.AssistantID, s.opts.RunTime)
	defer session.Close()
	args, err := s.arguments(ex, session, history)
	if err != nil {
		return nil, err
	}
	s.opts.Starts(ex.ctx, ex.ThreadID)
	v, err := session.Call(ex.graph.fn, args...)
	if err != nil {
		return nil, err
	}
	return returned(v)
}

// arguments returns the arguments of the graph: messages, config and, if the graph has the parameter, ctx.
func (s *Server) arguments(ex *execution, session *script.Session, history []Message) ([]starlark.Value, error) {
	messages, err := script.FromGo(history)
	if err != nil {
		return nil, err
	}
	config, err := config(ex)
	if err != nil {
		return nil, err
	}
	if !ex.graph.withCtx {
		return []starlark.Value{messages, config}, nil
	}
	ctx, err := script.NewRecord("RunContext", map[string]any{
		"wait": script.Func("wait", func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return wait(session, args, kwargs)
		}),
		"write": script.Func("write", func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return s.write(ex, args, kwargs)
		}),
	})
	if err != nil {
		return nil, err
	}
	return []starlark.Value{messages, config, ctx}, nil
}

// config returns the second argument of the graph (interface, section 5, item 5).
func config(ex *execution) (starlark.Value, error) {
	user, err := ex.user.record()
	if err != nil {
		return nil, err
	}
	return script.FromGo(map[string]any{"metadata": ex.Metadata, "configurable": map[string]any{
		"graph_auth_user": user, "thread_id": ex.ThreadID, "run_id": ex.ID, "assistant_id": ex.AssistantID,
	}})
}

// returned reads the result of a graph: messages, one message, a text, {"messages": [...]}, or None.
func returned(v starlark.Value) ([]Message, error) {
	data, err := script.ToGo(v)
	if err != nil {
		return nil, fmt.Errorf("the graph returned a value that cannot be stored: %w", err)
	}
	if fields, ok := data.(map[string]any); ok && fields["messages"] != nil {
		data = fields["messages"]
	}
	list, ok := data.([]any)
	if !ok && data != nil {
		list = []any{data}
	}
	var out []Message
	for _, each := range list {
		m, err := parseMessage(each, "ai")
		if err != nil {
			return nil, fmt.Errorf("the graph did not return messages: %w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

// write implements ctx.write(message). When it returns, the message is in the state of the thread.
func (s *Server) write(ex *execution, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackArgs("write", args, kwargs, "message", &v); err != nil {
		return nil, err
	}
	data, err := script.ToGo(v)
	if err != nil {
		return nil, err
	}
	m, err := parseMessage(data, "ai")
	if err != nil {
		return nil, err
	}
	return starlark.None, s.update(func(t tables) error {
		if err := s.store.Room(t.messages.Tx()); err != nil {
			return err
		}
		return t.write(ex.Run, []Message{m})
	})
}

// wait implements ctx.wait(ms). It returns after at least that many milliseconds, or when the run is stopped.
func wait(s *script.Session, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var ms starlark.Value
	if err := starlark.UnpackArgs("wait", args, kwargs, "ms", &ms); err != nil {
		return nil, err
	}
	n, ok := starlark.AsFloat(ms)
	const longest = 1e12 // about thirty years; a longer time may overflow time.Duration
	if !ok || n < 0 || n > longest {
		return nil, fmt.Errorf("wait expects a non-negative number of milliseconds, got %s", ms.Type())
	}
	select {
	case <-time.After(time.Duration(n * float64(time.Millisecond))):
		return starlark.None, nil
	case <-s.Context().Done():
		return nil, context.Cause(s.Context())
	}
}

// messageTypes contains the types of messages by the roles and types that clients and graphs send.
var messageTypes = map[string]string{
	"user": "human", "human": "human",
	"assistant": "ai", "ai": "ai",
	"system": "system", "developer": "system",
	"tool": "tool", "function": "tool",
}

// parseMessage reads a message of a client or a graph, which has a role or a type, and a content. If otherwise is not
// empty, the message may also be a text or have no role. Its type is then otherwise.
func parseMessage(v any, otherwise string) (Message, error) {
	if text, ok := v.(string); ok && otherwise != "" {
		v = map[string]any{"content": text}
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a message is an object with role and content")
	}
	m := maps.Clone(fields)
	kind := otherwise
	for _, key := range []string{"type", "role"} {
		value, ok := fields[key]
		if !ok {
			continue
		}
		name, _ := value.(string)
		kind = messageTypes[name]
		if kind == "" {
			return nil, fmt.Errorf("unknown %s: use one of user, human, assistant, ai, system, tool", key)
		}
	}
	if otherwise == "" && fields["role"] == nil {
		return nil, errors.New("the role of a message is missing")
	}
	switch fields["content"].(type) {
	case string, []any:
	default:
		return nil, errors.New("the content of a message must be a string or an array")
	}
	id, _ := fields["id"].(string)
	delete(m, "role")
	m["id"], m["type"] = cmp.Or(id, store.NewID()), kind
	return m, nil
}
