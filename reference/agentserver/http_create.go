package agentserver

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// createRun is POST /threads/{thread_id}/runs, and POST /runs without a thread: it answers as soon as the run is on record
// (interface, sections 3 and 4).
func (s *Server) createRun(x *exchange) (any, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, err
	}
	ask, err := s.parseRun(body, runCall{threadID: x.threadID})
	if err != nil {
		return nil, err
	}
	ex, err := s.beginRun(x, ask, false)
	if err != nil {
		return nil, err
	}
	s.locate(x, ex.run.ID, "")
	return ex.run, nil
}

// createBatch is POST /runs/batch: an array of runs without a thread, of which all begin, or none.
func (s *Server) createBatch(x *exchange) (any, error) {
	v, err := s.decoded(x)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 || len(list) > maxBatch {
		return nil, invalid("The body must be an array of 1 to %d runs", maxBatch)
	}
	asks := make([]runRequest, len(list))
	for i, v := range list {
		body, ok := v.(map[string]any)
		if !ok {
			return nil, invalid("run %d of the batch must be an object", i)
		}
		// A client sends its own spelling of assistant_id too.
		if again, ok := body["assistantId"]; ok && equalJSON(again, body["assistant_id"]) {
			delete(body, "assistantId")
		}
		if asks[i], err = s.parseRun(body, runCall{}); err != nil {
			return nil, err
		}
	}
	runs := make([]threads.Run, len(asks))
	for i, ask := range asks {
		each := &exchange{w: x.w, r: x.r, user: x.user}
		ex, err := s.beginRun(each, ask, false)
		if err != nil {
			for _, begun := range runs[:i] {
				s.engine.deleteThread(begun.ThreadID)
			}
			return nil, err
		}
		runs[i] = ex.run
	}
	return runs, nil
}

// maxBatch bounds how many runs one request creates.
const maxBatch = 100

// createAttached begins the run of a client that stays connected, which follows it: unfollow it in the end. The client is told
// where it can go on if the connection breaks.
func (s *Server) createAttached(x *exchange, resume string) (*execution, runRequest, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, runRequest{}, err
	}
	ask, err := s.parseRun(body, runCall{threadID: x.threadID, attached: true})
	if err != nil {
		return nil, runRequest{}, err
	}
	ex, err := s.beginRun(x, ask, true)
	if err != nil {
		return nil, runRequest{}, err
	}
	x.runID = ex.run.ID
	s.locate(x, ex.run.ID, resume)
	return ex, ask, nil
}

// locate tells where a run is, and where its client may go on. Clients take Location as relative to the address of the server,
// so it has no BasePath.
func (s *Server) locate(x *exchange, runID, resume string) {
	at := "/threads/" + x.threadID + "/runs/" + runID
	x.w.Header().Set("Content-Location", strings.TrimSuffix(s.opts.BasePath, "/")+at)
	if resume != "" {
		x.w.Header().Set("Location", at+"/"+resume)
	}
}

// beginRun begins a run on the thread of the exchange. Without one, the run gets its own, which becomes that of the exchange.
func (s *Server) beginRun(x *exchange, ask runRequest, follow bool) (*execution, error) {
	rev := s.rev.Load()
	g, errGraph := rev.graph(ask.assistantID)
	stateless := x.threadID == ""
	created := false
	if stateless || ask.createThread {
		if errGraph != nil {
			return nil, errGraph
		}
		var err error
		if created, err = s.createThreadOf(x, ask, stateless && !ask.keepThread); err != nil {
			return nil, err
		}
	}
	ex, err := s.beginOn(x, ask, func(ex *execution) error {
		ex.rev, ex.graph, ex.temporary = rev, g, stateless && !ask.keepThread
		if follow {
			ex.followers = 1
		}
		return errGraph
	})
	if err != nil && created {
		s.engine.deleteThread(x.threadID)
	}
	return ex, err
}

// beginOn begins a run on a thread that there is, if the user may.
func (s *Server) beginOn(x *exchange, ask runRequest, prepare func(*execution) error) (*execution, error) {
	_, d, err := s.visibleThread(x, "create_run", map[string]any{
		"assistant_id": ask.assistantID, "multitask_strategy": ask.strategyName, "metadata": ask.metadata, "input": ask.rawInput,
	})
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	ex := &execution{user: x.user, input: ask.input, config: ask.config, modes: ask.modes, run: threads.Run{
		ID: threads.NewID(), ThreadID: x.threadID, AssistantID: ask.assistantID, CreatedAt: now, UpdatedAt: now,
		Status: threads.StatusPending, Metadata: d.metadataOf(ask.metadata), Strategy: ask.strategyName,
	}}
	if err := prepare(ex); err != nil {
		return nil, err
	}
	if err := s.engine.begin(x.r.Context(), ex, s.opts.Strategies[ask.strategyName]); err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	return ex, nil
}

// createThreadOf creates the thread of a run, if it is not there. It tells whether it has.
func (s *Server) createThreadOf(x *exchange, ask runRequest, temporary bool) (bool, error) {
	x.threadID = cmp.Or(x.threadID, threads.NewID())
	metadata := maps.Clone(ask.metadata)
	metadata["assistant_id"], metadata["graph_id"] = ask.assistantID, ask.assistantID
	d, err := s.allow(x, "create", map[string]any{"thread_id": x.threadID, "metadata": metadata})
	if err != nil {
		return false, err
	}
	now := time.Now().UTC()
	err = s.store.CreateThread(x.r.Context(), threads.Thread{
		ID: x.threadID, CreatedAt: now, UpdatedAt: now, Metadata: d.metadataOf(metadata), Status: "idle", Temporary: temporary,
	})
	if errors.Is(err, threads.ErrExists) {
		return false, nil // whether the user may use it is asked next
	}
	return err == nil, err
}

// graph finds the graph of an assistant.
func (r *revision) graph(assistantID string) (graph, error) {
	g, ok := r.app.graphs[assistantID]
	if !ok {
		return graph{}, httpError(http.StatusNotFound, "Assistant %q not found: the deployed graphs are %s", assistantID, strings.Join(r.app.Graphs(), ", "))
	}
	return g, nil
}

func (s *Server) parseRun(body map[string]any, call runCall) (out runRequest, err error) {
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
		return out, invalid("multitask_strategy must be one of %s", strings.Join(slices.Sorted(maps.Keys(s.opts.Strategies)), ", "))
	}
	if err := out.readInput(body); err != nil {
		return out, err
	}
	err = cmp.Or(knownOptions(body), out.readOptions(body, call), out.readConfig(body, call.threadID))
	return out, err
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
