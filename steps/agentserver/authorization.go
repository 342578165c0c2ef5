package agentserver

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// The keys of metadata that the sentences speak of.
const (
	ownerKey = "owner"        // the typical filter (section 5)
	markKey  = target.MarkKey // by which a scenario knows its own threads
)

// defineOwners registers the sentences about whose threads are seen and changed (section 5, items 6 and 7).
func (w *World) defineOwners(r *common.Definitions) {
	r.Given(`a list of threads that shows their metadata`, w.aListWithMetadata)
	r.Given(refusedCallers+` was refused a thread in the name of the user`, w.wasRefusedThread)
	r.Given(`a thread of each of two users`, w.aThreadEach)
	r.Given(`a thread of the user that names the other user as owner`, w.aThreadForOther)
	r.When(`the other user lists the threads with the other listing endpoint`, w.otherUserListsAtOtherEndpoint)
	r.When(`the other user lists the threads with (no filter|an empty filter|metadata .+|the ids .+|the user as owner)`,
		w.otherUserLists)
	r.When(`the user creates a thread that names another owner`, w.userCreatesForOther)
	r.When(`the user creates a thread with metadata`, func(ctx context.Context) {
		w.mark = w.target.Name("kept")
		w.createThread(ctx, map[string]any{markKey: w.mark})
	})
	r.When(whileInProgress, w.otherJoinsInTime)
	r.Then(`the list does not hold that thread`, w.listLacksMarked)
	r.Then(`the list holds no thread of the user`, w.listHoldsNoForeign)
	r.Then(`the list holds the thread of the other user`, w.listHoldsOwn)
	r.Then(`its metadata names the user as owner`, w.ownerIsUser)
	r.Then(`its metadata holds the keys that were sent`, func(ctx context.Context) error {
		return w.metadataHolds(ctx, markKey, w.mark, "the metadata")
	})
	r.Then(`the answer holds nothing of the run`, w.holdsNothingOfRun)
	r.Then(`the join is refused, or answered before the end of the run`, w.joinDoesNotWait)
	r.Then(`the join of another user's run is answered with an HTTP error status`, w.joinIsRefused)
}

// aListWithMetadata makes a thread with a mark and looks for the mark in the list.
func (w *World) aListWithMetadata(ctx context.Context) error {
	w.mark = w.target.Name("shown")
	t := common.Must(w.server.CreateThread(ctx, w.owner(), map[string]any{markKey: w.mark}))
	if t.ID == "" {
		return outcome.Inapplicable("thread metadata", "the target refuses metadata with a new thread: %s",
			outcome.Seen(t.Answer))
	}
	w.listNewest(ctx, w.owner(), t)
	if !w.isMarked() {
		return outcome.Inapplicable("thread metadata", "the list of threads does not show metadata, so a thread that was "+
			"created in spite of the refusal cannot be found")
	}
	return nil
}

func (w *World) wasRefusedThread(ctx context.Context, name string) error {
	who := w.callerNamed(ctx, name)
	w.mark = w.target.Name("refused")
	t := common.Must(w.server.CreateThread(ctx, who, map[string]any{markKey: w.mark, ownerKey: w.owner().User.Owner()}))
	return mustBeRefused(t.Answer)
}

func (w *World) listLacksMarked() error {
	if w.rows == nil {
		return outcome.Blocked("the threads cannot be listed: %s", outcome.Seen(w.scene.Answer))
	}
	if w.isMarked() {
		return outcome.Violated(w.scene.Answer, "no thread of the refused request", "a thread with the metadata %q", w.mark)
	}
	return nil
}

// aThreadEach makes a thread of each user, with the same mark, and makes sure that the user's own list shows the
// user's: else its absence from other lists would say nothing.
func (w *World) aThreadEach(ctx context.Context) error {
	other := w.callerNamed(ctx, target.TheOtherUser)
	w.mark = w.target.Name("listed")
	first := w.markedThread(ctx, w.owner())
	w.othersThread = w.markedThread(ctx, other)
	w.thread = w.listNewest(ctx, w.owner(), first)
	return w.listHoldsThread()
}

func (w *World) otherUserLists(ctx context.Context, by string) {
	other := w.callerNamed(ctx, target.TheOtherUser)
	if w.filter = by; by == noFilter {
		w.othersThread = w.listNewest(ctx, other, w.othersThread)
		return
	}
	if !w.target.Searches() { // its list takes no filter
		list, a, err := w.server.List(ctx, other, agent.Filter{})
		common.Check(err)
		if list == nil {
			common.Check(outcome.Inapplicable("a second endpoint that lists threads",
				"GET /threads takes no filter, and POST /threads/search does not list threads: status %d", a.Status))
		}
	}
	f := map[string]agent.Filter{
		"an empty filter":         {"metadata": map[string]any{}},
		bySharedMetadata:          {"metadata": map[string]any{markKey: w.mark}},
		"the ids of both threads": {"ids": []any{w.thread.Sent(), w.othersThread.Sent()}},
		"the user as owner":       {"metadata": map[string]any{ownerKey: w.owner().User.Owner()}},
	}[by]
	awaited := w.othersThread
	if by == "the user as owner" || by == bySharedMetadata && !w.keepsMark() {
		awaited = nil
	}
	w.listUntil(ctx, other, f, awaited)
}

// The filters of a list that are judged otherwise than others, as the sentences name them.
const (
	noFilter         = "no filter"
	bySharedMetadata = "metadata that both threads have"
)

// listHoldsNoForeign takes a refusal, too: what is not shown is not leaked.
func (w *World) listHoldsNoForeign() error {
	if w.scene.Answer.IsRefused() {
		w.scene.Note(fmt.Sprintf("the filter is refused with status %d", w.scene.Answer.Status))
		return nil
	}
	if !w.scene.Answer.OK() {
		return outcome.Blocked("the threads cannot be listed: %s", outcome.Seen(w.scene.Answer))
	}
	foreign, owner := w.thread.ID, w.owner().User.Identity
	for i, row := range w.rows.All() {
		if row.Get("thread_id").String() == foreign || owner != "" && row.Get("metadata."+ownerKey).String() == owner {
			return outcome.Violated(w.scene.Answer, "only threads of the other user", "a thread of the user, %s",
				outcome.Shown(row)).At(fmt.Sprintf("/%d", i))
		}
	}
	return nil
}

// listHoldsOwn is what keeps a list that is always empty from passing.
func (w *World) listHoldsOwn() error {
	switch {
	case w.rows == nil && !(w.scene.Answer.IsRefused() && w.filter != noFilter):
		return outcome.Blocked("the threads cannot be listed (AS-THREAD-2): %s", outcome.Seen(w.scene.Answer)).
			ByRequirement("AS-THREAD-2")
	case w.rows.Thread(w.othersThread.ID).Exists(), w.scene.Answer.IsRefused() && w.filter != noFilter:
		return nil
	case w.filter == bySharedMetadata && !w.keepsMark():
		return outcome.Inapplicable("thread metadata",
			"the target does not show the metadata of a thread, so a list filtered by it may be empty")
	}
	return w.lacks(w.othersThread)
}

// keepsMark tells whether the target shows that it keeps the metadata of a thread.
func (w *World) keepsMark() bool {
	return w.othersThread.Answer.Get("metadata."+markKey).String() == w.mark
}

func (w *World) userCreatesForOther(ctx context.Context) {
	w.namesOtherOwner = true
	name := "agentconform-somebody-else"
	if len(w.target.Config.Users) > 1 {
		name = w.callerNamed(ctx, target.TheOtherUser).User.Owner()
	}
	w.createThread(ctx, map[string]any{ownerKey: name})
}

// aThreadForOther has a completed run, so that it has a state, unless even its owner is refused one.
func (w *World) aThreadForOther(ctx context.Context) error {
	w.userCreatesForOther(ctx)
	if w.scene.Answer.IsRefused() {
		return outcome.Inapplicable("an owner that is sent", "the target refuses a thread that names another owner: %s",
			outcome.Seen(w.scene.Answer))
	}
	common.Check(w.thread.Usable())
	err := common.Try(func() { w.nextRun(ctx, agent.Order{}) })
	if outcome.Is(err, reports.Failed) {
		return nil
	}
	return err
}

// ownerIsUser also passes if the target refuses the other owner: then nobody can name one.
func (w *World) ownerIsUser(ctx context.Context) error {
	if w.namesOtherOwner && w.thread.ID == "" && w.thread.Answer.IsRefused() {
		common.Given(w.server.NewThread(ctx, w.owner()))
		w.scene.Note("the target refuses a thread that names another owner: " + outcome.Seen(w.thread.Answer))
		return nil
	}
	return w.metadataHolds(ctx, ownerKey, w.owner().User.Identity, "the owner")
}

// metadataHolds looks at what the target shows of the new thread: in the answer to its creation, else in the list.
func (w *World) metadataHolds(ctx context.Context, key, value, what string) error {
	common.Requires(w.thread.Usable())
	w.scene.Answer = w.thread.Answer
	metadata := w.scene.Answer.Get("metadata")
	if !metadata.IsObject() {
		w.listUntil(ctx, w.owner(), nil, w.thread)
		metadata = w.rows.Thread(w.thread.ID).Get("metadata")
	}
	if !metadata.IsObject() {
		return outcome.Inconclusive("the target shows no metadata of a thread")
	}
	if found := metadata.Get(key); found.String() != value {
		return outcome.Violated(w.scene.Answer, fmt.Sprintf("%s %q", what, value), "%s", outcome.Shown(found)).
			At("/metadata/" + key)
	}
	return nil
}

// otherUserListsAtOtherEndpoint makes sure that the user's thread would be seen if the list were everybody's.
func (w *World) otherUserListsAtOtherEndpoint(ctx context.Context) error {
	other := w.callerNamed(ctx, target.TheOtherUser)
	common.Retry(ctx, w.target, func() bool {
		w.listOther(ctx, w.owner())
		return w.rows.Thread(w.thread.ID).Exists() || w.rows == nil
	})
	if !w.rows.Thread(w.thread.ID).Exists() {
		return outcome.Inapplicable("a second endpoint that lists threads", "the other listing endpoint does not return the "+
			"user's own new thread, so it cannot return that of others")
	}
	w.listOther(ctx, other)
	return nil
}

// otherJoinsInTime gives the run more time where the answer came after its end: it may be slow, and not wait.
func (w *World) otherJoinsInTime(ctx context.Context, operation string) {
	w.race(ctx, func(ctx context.Context) bool {
		w.callerTries(ctx, target.TheOtherUser, operation)
		return w.joinDoesNotWait() == nil
	})
}

func (w *World) joinDoesNotWait() error {
	a, end := w.scene.Answer, w.prior.Until()
	switch {
	case a.Status >= 400 || a.Ended().Before(end):
		return nil
	case !a.Sent.Before(end):
		return outcome.Inconclusive("the target is too slow to judge whether the join waited for the run")
	}
	return outcome.Violated(a, "an HTTP error status, or an answer before the end of the run",
		"an answer after %s, for a run of %s", a.Took.Round(time.Millisecond), w.prior.Order.Hold)
}

// holdsNothingOfRun takes the answer that the join of an unknown run gets too for one that holds nothing: servers in
// the field answer the join of a run that they do not find with 200 and an error.
func (w *World) holdsNothingOfRun(ctx context.Context) error {
	a := w.scene.Answer
	if !messages.ContainsText(a, w.current.Text()) {
		if a.Status >= 400 || saysNothing(a) {
			return nil
		}
		unknown := unlike(w.joins.ID)
		who := w.callerNamed(ctx, w.attempted)
		other, err := w.server.JoinCompleted(ctx, who, &agent.GraphRun{ID: unknown, Thread: w.joins.Thread})
		if err != nil || bytes.Equal(bytes.ReplaceAll(a.Body, []byte(w.joins.ID), []byte(unknown)), other.Body) {
			return err
		}
	}
	return nothingOfTheRun(a)
}

// saysNothing tells whether the body is empty, null, or an object that is empty or has only an error.
func saysNothing(a *exchange.Response) bool {
	body := bytes.TrimSpace(a.Body)
	if len(body) == 0 || string(body) == "null" {
		return true
	}
	members := a.Get("@this").Map()
	delete(members, "__error__")
	return a.Get("@this").IsObject() && len(members) == 0
}

// joinIsRefused leaves an answer that tells of the run to the requirement about that.
func (w *World) joinIsRefused(ctx context.Context) error {
	wrong := outcome.Want(w.scene.Answer.Status >= 400, w.scene.Answer, "a status of 400 or above")
	return outcome.Unless(ctx, wrong, w.holdsNothingOfRun)
}
