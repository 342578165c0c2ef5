package agentserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/script"
)

// execute runs the script of a run and tells how it ended.
func (e *engine) execute(ex *execution) threads.Ending {
	leave, err := e.work(ex.ctx)
	if err != nil {
		return ex.ending(nil, err)
	}
	defer leave()
	history, err := e.store.StartRun(ex.ctx, ex.run.ThreadID, ex.run.ID, ex.input)
	if err != nil {
		return ex.ending(nil, err)
	}
	s := ex.rev.session(ex.ctx, "graph "+ex.run.AssistantID, ex.rev.limits)
	defer s.Close()
	w := &runWriter{engine: e, ex: ex, session: s, room: ex.rev.maxState}
	messages, err := w.run(history)
	return ex.ending(messages, err)
}

// work waits for a worker. A run that is stopped before it gets one is not executed.
func (e *engine) work(ctx context.Context) (leave func(), err error) {
	if e.workers == nil {
		return func() {}, nil
	}
	select {
	case e.workers <- struct{}{}:
		return func() { <-e.workers }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ending tells the status of a run from the error of its script.
func (ex *execution) ending(messages []threads.Message, err error) threads.Ending {
	var limit *script.LimitError
	switch {
	case err == nil:
		return threads.Ending{Status: threads.StatusSuccess, Messages: messages}
	case errors.Is(context.Cause(ex.ctx), errStopping):
		return threads.Ending{Status: threads.StatusInterrupted, Reason: reasonStopped}
	case errors.As(err, &limit) && limit.What == "time":
		return threads.Ending{Status: threads.StatusTimeout, Reason: ex.redact(err.Error())}
	}
	reason := ex.redact(err.Error())
	if !errors.Is(err, threads.ErrGone) && ex.ctx.Err() == nil {
		ex.rev.log.Info("a run failed", "run", ex.run.ID, "graph", ex.run.AssistantID, "error", reason)
	}
	return threads.Ending{Status: threads.StatusError, Reason: reason}
}

// redact leaves the secrets of the deployment and of the user out of a text: a graph may raise with any of them.
func (ex *execution) redact(text string) string {
	return redacted(ex.rev.redact(text), longestFirst(secretsIn("", ex.user.Fields)))
}

const reasonStopped = "the server stopped while the run was in progress"

// runWriter is what a graph has to do with its run: it reads the messages, and writes.
type runWriter struct {
	engine  *engine
	ex      *execution
	session *script.Session
	room    int // bytes that the thread's state may still take
}

// run calls the graph and returns the messages that it returned.
func (w *runWriter) run(history []threads.Message) ([]threads.Message, error) {
	list := make([]any, len(history))
	for i, m := range history {
		list[i] = m.Fields()
		if err := w.take(m); err != nil {
			return nil, err
		}
	}
	messages, err := script.FromGo(list)
	if err != nil {
		return nil, err
	}
	config, err := w.config()
	if err != nil {
		return nil, err
	}
	args := []starlark.Value{messages, config}
	if w.ex.graph.withCtx {
		ctx, err := script.NewRecord("RunContext", map[string]any{
			"write": script.Func("write", w.write), "wait": script.Func("wait", w.wait),
		})
		if err != nil {
			return nil, err
		}
		args = append(args, ctx)
	}
	v, err := w.session.Call(w.ex.graph.fn, args...)
	if err != nil {
		return nil, err
	}
	return w.returned(v)
}

// config is the graph's second parameter (interface, section 5, item 5).
func (w *runWriter) config() (starlark.Value, error) {
	user, err := w.ex.user.record()
	if err != nil {
		return nil, err
	}
	configurable := map[string]any{
		"graph_auth_user": user,
		"thread_id":       w.ex.run.ThreadID, "run_id": w.ex.run.ID, "assistant_id": w.ex.run.AssistantID,
	}
	w.engine.config(configurable)
	return script.FromGo(map[string]any{"configurable": configurable, "metadata": w.ex.run.Metadata})
}

// returned reads what a graph may return: messages, one message, a text, {"messages": [...]}, or None.
func (w *runWriter) returned(v starlark.Value) ([]threads.Message, error) {
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
	var out []threads.Message
	for _, x := range list {
		m, err := w.message(x)
		if err != nil {
			return nil, fmt.Errorf("the graph returned something else than messages: %w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

func (w *runWriter) message(v any) (threads.Message, error) {
	if text, ok := v.(string); ok {
		v = map[string]any{"content": text}
	}
	m, err := parseMessage(v, "ai")
	if err != nil {
		return threads.Message{}, err
	}
	return m, w.take(m)
}

// take counts a message against the limit of the thread's state.
func (w *runWriter) take(m threads.Message) error {
	if w.room -= size(m.Fields()); w.room < 0 {
		return fmt.Errorf("the state of the thread has reached its limit of %d MiB: create a new thread", w.ex.rev.maxState>>20)
	}
	return nil
}

// write is ctx.write(message): the message is in the thread's state when it returns.
func (w *runWriter) write(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackArgs("write", args, kwargs, "message", &v); err != nil {
		return nil, err
	}
	data, err := script.ToGo(v)
	if err != nil {
		return nil, err
	}
	m, err := w.message(data)
	if err != nil {
		return nil, err
	}
	err = w.engine.store.AppendMessages(w.session.Context(), w.ex.run.ThreadID, w.ex.run.ID, []threads.Message{m})
	return starlark.None, err
}

// wait is ctx.wait(ms): it returns after that many milliseconds and never sooner, unless the run is stopped.
func (w *runWriter) wait(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var ms starlark.Value
	if err := starlark.UnpackArgs("wait", args, kwargs, "ms", &ms); err != nil {
		return nil, err
	}
	n, ok := starlark.AsFloat(ms)
	const longest = 1e12 // about thirty years; more does not fit a duration
	if !ok || n < 0 || n > longest {
		return nil, fmt.Errorf("wait expects a non-negative number of milliseconds, got %s", ms.Type())
	}
	return starlark.None, pause(w.session.Context(), time.Duration(n*float64(time.Millisecond)))
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// size is about how many bytes a JSON value takes.
func size(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case []any:
		for _, x := range v {
			n += size(x)
		}
	case map[string]any:
		for k, x := range v {
			n += len(k) + size(x)
		}
	}
	return n
}
