package agentserver

import (
	"context"
	"maps"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// unusualMetadata has values of metadata for POST /threads. Some servers do not combine such values with the owner that
// the handler sets. The interface does not require a server to accept them.
var unusualMetadata = map[string]any{
	"null as metadata":                       nil,
	"an empty object as metadata":            map[string]any{},
	"an object in its metadata":              map[string]any{markKey: map[string]any{"name": "nested"}},
	"null as the owner in metadata":          map[string]any{ownerKey: nil},
	"an empty text as the owner in metadata": map[string]any{ownerKey: ""},
	"a list as the owner in metadata":        map[string]any{ownerKey: []any{}},
}

// foreignThreads has a thread that the other user must not see.
type foreignThreads struct {
	*World
	mark string               // mark in the metadata of the thread
	seen []*exchange.Response // responses to the other user's creations with the id of the thread
}

// define registers the steps about the creation of threads that other users must not see.
func (w *foreignThreads) define(r *common.Definitions) {
	r.Given(`a thread of the user with ((?:null|an|a) .+)`, w.createUnusualThread)
	r.Given(`a completed run on a thread of the user with metadata`, w.completeOnMarked)
	r.When(`the other user creates threads with the id of the thread, and reads its state`, w.otherTakesID)
	r.Then(`no response shows the run or the metadata of the thread`, func() error {
		return judge.NoneShows(w.seen, w.current.Value(), w.mark)
	})
}

func (w *foreignThreads) createUnusualThread(ctx context.Context, name string) error {
	metadata, isKnown := unusualMetadata[name]
	if !isKnown {
		return outcome.SuiteError("unknown metadata %q", name)
	}
	t, err := w.server.TryThread(ctx, w.owner(), map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	w.thread = t
	return w.completeAsCreated(ctx)
}

// completeAsCreated completes a run on the new thread, so that the thread has a state. A server may refuse the run even
// to the owner, and then the thread has no state. If the server has refused the thread, the scenario is not applicable.
func (w *World) completeAsCreated(ctx context.Context) error {
	if w.thread.Response.IsRefused() {
		return outcome.Inapplicable("such metadata", "the target refuses a thread with such metadata: %s",
			outcome.Seen(w.thread.Response))
	}
	if err := w.thread.Usable(); err != nil {
		return err
	}
	err := w.nextRun(ctx, agent.Order{})
	if outcome.Is(err, reports.Failed) {
		return nil
	}
	return err
}

func (w *foreignThreads) completeOnMarked(ctx context.Context) (err error) {
	w.mark = w.target.Name("taken")
	w.thread, err = w.threadWith(ctx, w.owner(), map[string]any{markKey: w.mark})
	if err != nil {
		return err
	}
	return w.nextRun(ctx, agent.Order{})
}

// otherTakesID creates threads with the id of an existing thread, as clients of some servers do. The interface does not
// define such requests. The server may refuse them, ignore the id, or create a thread of the other user.
func (w *foreignThreads) otherTakesID(ctx context.Context) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	for _, more := range []map[string]any{nil, {"if_exists": "raise"}, {"if_exists": "do_nothing"}} {
		body := map[string]any{"thread_id": w.thread.Sent()}
		maps.Copy(body, more)
		t, err := w.server.TryThread(ctx, other, body)
		if err != nil {
			return err
		}
		state, err := w.server.State(ctx, other, w.thread)
		if err != nil {
			return err
		}
		w.seen = append(w.seen, t.Response, state)
	}
	return nil
}

// typedValues are values that a faulty server could drop or convert to strings. They do not include null, because the
// interface does not distinguish null from an absent value.
var typedValues = []struct {
	key, name string
	value     any
}{
	{"type_object", "the object", map[string]any{"name": "nested", "list": []any{"a", map[string]any{"b": 1.0}}}},
	{"type_list", "the list", []any{"a", 2.0, true, []any{}}},
	{"type_empty_list", "the empty list", []any{}},
	{"type_integer", "the integer", 7.0},
	{"type_zero", "the number 0", 0.0},
	{"type_fraction", "the number with a fraction", 12.5},
	{"type_true", "the value true", true},
	{"type_false", "the value false", false},
}

func (w *owners) userCreatesWithTypes(ctx context.Context) error {
	metadata := map[string]any{}
	for _, v := range typedValues {
		metadata[v.key] = v.value
	}
	return w.createWithUnusual(ctx, metadata)
}

// metadataHoldsTypes also judges the metadata in the list, because a server may echo the request and store something
// else. A list need not show the metadata of a client. If it shows one of the values, it must show all.
func (w *owners) metadataHoldsTypes(ctx context.Context) error {
	for _, v := range typedValues {
		if err := w.metadataHolds(ctx, v.key, v.value, v.name); err != nil {
			return err
		}
	}
	if err := w.listUntil(ctx, w.owner(), nil, w.thread); err != nil {
		return err
	}
	listed := w.rows.Thread(w.thread.ID).Get("metadata")
	isShown := false
	for _, v := range typedValues {
		isShown = isShown || listed.Get(v.key).Exists()
	}
	if !isShown {
		return nil
	}
	for _, v := range typedValues {
		if err := judge.MetadataHas(w.scene.Response, listed, v.key, v.value, v.name); err != nil {
			return err
		}
	}
	return nil
}
