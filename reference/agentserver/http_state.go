package agentserver

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// states are the endpoints of the states of threads.
type states struct{ server *Server }

// get is GET /threads/{thread_id}/state (interface, section 2, "Thread state").
func (s states) get(x *exchange) (any, error) {
	t, _, err := s.server.visibleThread(x, "read", nil)
	if err := cmp.Or(err, stateQuery(x)); err != nil {
		return nil, err
	}
	state, err := s.server.store.State(x.r.Context(), x.threadID)
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	return viewState(t, state), nil
}

// stateQuery reads the options of a state in the query. There are no graphs within graphs, so subgraphs changes nothing.
func stateQuery(x *exchange) error {
	query := x.r.URL.Query()
	if query.Has("select") {
		return invalid("select is not supported by this server: read the whole state")
	}
	if _, err := strconv.ParseBool(cmp.Or(query.Get("subgraphs"), "false")); err != nil {
		return invalid("subgraphs must be true or false")
	}
	return nil
}

// viewState is a state as clients of the field expect it. What is left to do is one task, the graph of the run.
func viewState(t threads.Thread, state threads.State) map[string]any {
	metadata, at, next, tasks := map[string]any{}, t.CreatedAt, []string{}, []any{}
	if state.Checkpoint != "" {
		at = state.At
		metadata["source"], metadata["step"], metadata["parents"] = state.Source, json.Number(strconv.Itoa(state.Step)), map[string]any{}
	}
	if state.RunID != "" {
		metadata["run_id"], metadata["graph_id"] = state.RunID, state.Graph
	}
	if state.Next != "" {
		next = append(next, state.Next)
		task := map[string]any{"id": state.RunID, "name": state.Next, "error": nil, "interrupts": []any{}, "checkpoint": nil, "state": nil, "result": nil}
		if state.Error != "" {
			task["error"] = state.Error
		}
		tasks = append(tasks, task)
	}
	parent := any(nil)
	if state.Parent != "" {
		parent = checkpointOf(t.ID, state.Parent)
	}
	return map[string]any{
		"values": state.Values(), "next": next, "tasks": tasks, "interrupts": []any{},
		"checkpoint": checkpointOf(t.ID, state.Checkpoint), "parent_checkpoint": parent,
		"metadata": metadata, "created_at": at,
	}
}

// checkpointOf names a state of a thread; its id is null before the first message.
func checkpointOf(thread, id string) map[string]any {
	out := map[string]any{"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": nil}
	if id != "" {
		out["checkpoint_id"] = id
	}
	return out
}

// checkpointField reads the id of a checkpoint as clients write it: an object as states have it, a configuration with that
// object, or the id alone. Empty: none is given.
func checkpointField(x *exchange, body map[string]any, name string) (string, error) {
	v := body[name]
	if config, ok := v.(map[string]any); ok && config["configurable"] != nil {
		if err := (bodyFields{fields: []string{"configurable"}}).check(config); err != nil {
			return "", err
		}
		v = config["configurable"]
	}
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case map[string]any:
		err := bodyFields{fields: []string{"checkpoint_id", "thread_id"}, known: map[string]string{
			"checkpoint_ns":  "there are no graphs within graphs, send an empty string",
			"checkpoint_map": "there are no graphs within graphs, leave it out",
		}}.check(v)
		id, errID := stringField(v, "checkpoint_id")
		thread, errThread := uuidField(v, "thread_id")
		if err := cmp.Or(err, errID, errThread); err != nil {
			return "", err
		}
		if thread != "" && thread != x.threadID {
			return "", invalid("%s.thread_id is not the thread of the path", name)
		}
		return id, nil
	}
	return "", invalid("%s must be a checkpoint: an object with checkpoint_id", name)
}

func noCheckpoint(id string) error {
	return httpError(http.StatusNotFound, "Checkpoint %q not found: GET /threads/{thread_id}/history lists the checkpoints", id)
}

// at is the state of the thread at a checkpoint. Empty: the newest.
func (s states) at(x *exchange, id string) (any, error) {
	t, _, err := s.server.visibleThread(x, "read", nil)
	if err != nil {
		return nil, err
	}
	if id == "" {
		state, err := s.server.store.State(x.r.Context(), x.threadID)
		return viewState(t, state), orMissing(err, noThread(x.threadID))
	}
	states, err := s.server.store.History(x.r.Context(), x.threadID)
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	at := indexOf(states, id)
	if at < 0 {
		return nil, noCheckpoint(id)
	}
	return viewState(t, states[at]), nil
}

func indexOf(states []threads.State, checkpoint string) int {
	return slices.IndexFunc(states, func(st threads.State) bool { return strings.EqualFold(st.Checkpoint, checkpoint) })
}

// getAt is GET /threads/{thread_id}/state/{checkpoint_id}.
func (s states) getAt(x *exchange) (any, error) {
	if err := stateQuery(x); err != nil {
		return nil, err
	}
	return s.at(x, x.r.PathValue("checkpoint_id"))
}

// findAt is POST /threads/{thread_id}/state/checkpoint.
func (s states) findAt(x *exchange) (any, error) {
	body, err := s.server.body(x, false)
	if err != nil {
		return nil, err
	}
	err = bodyFields{
		fields: []string{"checkpoint", "subgraphs"}, known: map[string]string{"select": "read the whole state"},
	}.check(body)
	if _, ok := body["subgraphs"].(bool); !ok && body["subgraphs"] != nil {
		err = cmp.Or(err, invalid("subgraphs must be true or false"))
	}
	id, errCheckpoint := checkpointField(x, body, "checkpoint")
	if err := cmp.Or(err, errCheckpoint); err != nil {
		return nil, err
	}
	return s.at(x, id)
}
