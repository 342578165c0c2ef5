package agentserver

import (
	"cmp"
	"slices"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// list is GET /threads/{thread_id}/history: the states of a thread, newest first.
func (s states) list(x *exchange) (any, error) {
	query := x.r.URL.Query()
	body := queryNumbers(query, "limit")
	if query.Has("before") {
		body["before"] = query.Get("before")
	}
	return s.history(x, body)
}

// search is POST /threads/{thread_id}/history.
func (s states) search(x *exchange) (any, error) {
	body, err := s.server.body(x, true)
	if err != nil {
		return nil, err
	}
	return s.history(x, body)
}

func (s states) history(x *exchange, body map[string]any) (any, error) {
	err := bodyFields{fields: []string{"limit", "before", "metadata", "checkpoint"}, known: map[string]string{"select": "read whole states"}}.check(body)
	limit, errLimit := intField(body, "limit", 10, 1, 1000)
	before, errBefore := checkpointField(x, body, "before")
	metadata, errMetadata := objectField(body, "metadata")
	of, errOf := checkpointField(x, body, "checkpoint")
	if of != "" {
		errOf = invalid("checkpoint.checkpoint_id is not supported by this server: read one state with GET /threads/{thread_id}/state/{checkpoint_id}")
	}
	if err := cmp.Or(err, errLimit, errBefore, errMetadata, errOf); err != nil {
		return nil, err
	}
	t, _, err := s.server.visibleThread(x, "read", nil)
	if err != nil {
		return nil, err
	}
	states, err := s.server.store.History(x.r.Context(), x.threadID)
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	if before != "" {
		at := indexOf(states, before)
		if at < 0 {
			return nil, noCheckpoint(before)
		}
		states = states[at+1:]
	}
	out := []map[string]any{}
	for _, st := range states {
		seen := viewState(t, st)
		if len(out) < limit && contains(seen["metadata"], metadata) {
			out = append(out, seen)
		}
	}
	return out, nil
}

// update is POST /threads/{thread_id}/state: the messages are added at the end of the newest state, and no run follows.
// They stay when runs of the thread are deleted.
func (s states) update(x *exchange) (any, error) {
	body, err := s.server.body(x, false)
	if err != nil {
		return nil, err
	}
	err = bodyFields{fields: []string{"values", "as_node", "checkpoint", "checkpoint_id"}}.check(body)
	messages, errValues := updateValues(body)
	errNode := s.knownNode(body)
	at, errCheckpoint := checkpointField(x, body, "checkpoint")
	id, errID := stringField(body, "checkpoint_id")
	if err := cmp.Or(err, errValues, errNode, errCheckpoint, errID); err != nil {
		return nil, err
	}
	if _, _, err := s.server.visibleThread(x, "update", map[string]any{"values": body["values"]}); err != nil {
		return nil, err
	}
	state, err := s.server.store.UpdateState(x.r.Context(), x.threadID, func(now threads.State) ([]threads.Message, error) {
		for _, want := range []string{at, id} {
			if want != "" && want != now.Checkpoint {
				return nil, invalid("the checkpoint %q is not the newest of the thread, and a state cannot be forked: leave it out", want)
			}
		}
		return messages, s.fits(now.Messages, messages)
	})
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	checkpoint := checkpointOf(x.threadID, state.Checkpoint)
	return map[string]any{"checkpoint": checkpoint, "configurable": checkpoint, "checkpoint_id": state.Checkpoint}, nil
}

// updateValues reads the messages that an update adds.
func updateValues(body map[string]any) ([]threads.Message, error) {
	values, ok := body["values"].(map[string]any)
	if !ok {
		return nil, invalid("values is required: an object with messages")
	}
	for name := range values {
		if name != "messages" {
			return nil, invalid("values.%s cannot be updated: the state has messages only", name)
		}
	}
	list, ok := values["messages"].([]any)
	if message, one := values["messages"].(map[string]any); one {
		list, ok = []any{message}, true
	}
	if !ok || len(list) == 0 {
		return nil, invalid("values.messages is required: an array of at least one object with role and content")
	}
	var out []threads.Message
	for i, v := range list {
		m, err := parseMessage(v, "")
		if err != nil {
			return nil, invalid("values.messages[%d]: %s", i, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// knownNode refuses an update as a node that is not there. Each graph is one node, after which nothing is left to do: which
// of them an update is made as changes nothing.
func (s states) knownNode(body map[string]any) error {
	node, err := stringField(body, "as_node")
	if err != nil || node == "" {
		return err
	}
	if _, ok := s.server.rev.Load().app.graphs[node]; !ok {
		return invalid("as_node must be the name of a deployed graph, which is its only node: leave it out")
	}
	return nil
}

// fits refuses messages that cannot be added to those of a state.
func (s states) fits(have, added []threads.Message) error {
	room := s.server.opts.MaxState
	for _, m := range slices.Concat(have, added) {
		if room -= size(m.Fields()); room < 0 {
			return invalid("the state of the thread has reached its limit of %d MiB: create a new thread", s.server.opts.MaxState>>20)
		}
	}
	known := map[string]bool{}
	for _, m := range have {
		known[m.ID] = true
	}
	for i, m := range added {
		if known[m.ID] {
			return invalid("values.messages[%d].id is the id of another message, and messages cannot be replaced: leave it out", i)
		}
		known[m.ID] = true
	}
	return nil
}
