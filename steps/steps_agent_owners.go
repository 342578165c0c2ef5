package steps

import (
	"context"
	"fmt"

	"github.com/tidwall/gjson"
)

// The keys of metadata that the sentences speak of.
const (
	ownerKey = "owner"        // the typical filter (section 5)
	markKey  = "agentconform" // by which a scenario knows its own threads
)

// defineOwners holds the sentences about what users may see and change (section 5, items 6 and 7).
func (w *World) defineOwners(b *book) {
	b.given(`a list of threads that shows what is known of them`, w.aTellingList)
	b.given(refusedCallers+` was refused a thread in the name of the user`, w.wasRefusedThread)
	b.given(`a thread each of two users`, w.aThreadEach)
	b.requires(`a list of threads that shows what is known of them`, anyway(w.aConfiguredUser))
	b.requires(`a thread each of two users`, anyway(w.aConfiguredOtherUser))
	b.when(`the other user lists the threads with (no filter|an empty filter|metadata that the threads of both have|the ids of both threads|the user as owner)`, w.otherUserLists)
	b.when(`the user creates a thread that names another owner`, w.userCreatesSpoofed)
	b.when(`the user creates a thread with metadata`, w.userCreatesWithMetadata)
	b.then(`the list does not hold that thread`, w.listLacksMarked)
	b.then(`the list holds no thread of the user`, w.listHoldsNoForeign)
	b.then(`the list holds the thread of the other user`, w.listHoldsOwn)
	b.then(`its metadata names the user as owner`, w.metadataNamesOwner)
	b.requires(`its metadata names the user as owner`, anyway(w.aConfiguredUser))
	b.then(`its metadata holds what was given`, w.metadataHoldsGiven)
}

// ownership is who owns which thread, and by which metadata both are known.
type ownership struct {
	mark          string
	users, others *thread
	filter        string
}

// aTellingList makes a thread with a mark and looks for the mark in the list.
func (w *World) aTellingList(ctx context.Context) error {
	who, err := w.run.caller(theUser)
	if err != nil {
		return err
	}
	mark := w.run.name("shown")
	t, err := w.agent.createThread(ctx, who, map[string]any{markKey: mark})
	if err != nil {
		return err
	}
	if t.id == "" {
		return inapplicable("the target takes no metadata with a new thread: %s", seen(t.answer))
	}
	shown := func(rows []gjson.Result) bool { return holds(rows, t.id) }
	if err := w.listUntil(ctx, who, nil, shown); err != nil {
		return err
	}
	if !w.listed.marked(mark) {
		return inapplicable("the target's list of threads does not show the metadata, so a thread that was refused cannot be looked for")
	}
	return nil
}

// marked tells whether a list shows a thread with the mark.
func (l listing) marked(mark string) bool {
	for _, row := range l.rows {
		if row.Get("metadata."+markKey).String() == mark {
			return true
		}
	}
	return false
}

func (w *World) wasRefusedThread(ctx context.Context, name string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	w.owned.mark = w.run.name("refused")
	t, err := w.agent.createThread(ctx, who, map[string]any{markKey: w.owned.mark, ownerKey: w.run.config.Users[0].Identity})
	if err != nil {
		return err
	}
	if t.answer.Status < 400 {
		return blocked("the attempt was not refused: %s", seen(t.answer))
	}
	return nil
}

func (w *World) listLacksMarked() error {
	if w.listed.rows == nil {
		return blocked("the threads cannot be listed: %s", seen(w.answer))
	}
	if w.listed.marked(w.owned.mark) {
		return violated(w.answer, "no thread that was refused", "one with the metadata %q", w.owned.mark)
	}
	return nil
}

// aThreadEach makes a thread of each user, with the same mark, and makes sure that the user's own list shows the
// user's: else its absence from other lists would say nothing.
func (w *World) aThreadEach(ctx context.Context) error {
	user, err := w.run.caller(theUser)
	if err != nil {
		return err
	}
	other, err := w.callerNamed(ctx, theOtherUser)
	if err != nil {
		return err
	}
	w.owned.mark = w.run.name("listed")
	for _, each := range []struct {
		who  caller
		into **thread
	}{{user, &w.owned.users}, {other, &w.owned.others}} {
		if *each.into, err = w.markedThread(ctx, each.who); err != nil {
			return err
		}
	}
	w.thread = w.owned.users
	if err := w.listUntil(ctx, user, nil, showing(w.thread)); err != nil {
		return err
	}
	return w.listHoldsThread(ctx)
}

// markedThread does without the mark where the target refuses metadata.
func (w *World) markedThread(ctx context.Context, who caller) (*thread, error) {
	t, err := w.agent.createThread(ctx, who, map[string]any{markKey: w.owned.mark})
	if err == nil && t.id == "" {
		return w.agent.newThread(ctx, who)
	}
	if err != nil {
		return nil, err
	}
	return t, t.usable()
}

func (w *World) otherUserLists(ctx context.Context, by string) error {
	other, err := w.callerNamed(ctx, theOtherUser)
	if err != nil {
		return err
	}
	if by != "no filter" && !w.run.searches() {
		if err := w.searchOperation(ctx, other); err != nil {
			return err
		}
	}
	w.owned.filter = by
	var f *filter
	switch by {
	case "an empty filter":
		f = &filter{metadata: map[string]any{}}
	case "metadata that the threads of both have":
		f = &filter{metadata: map[string]any{markKey: w.owned.mark}}
	case "the ids of both threads":
		f = &filter{ids: []any{w.owned.users.sent(), w.owned.others.sent()}}
	case "the user as owner":
		return w.listThreads(ctx, other, &filter{metadata: map[string]any{ownerKey: w.run.config.Users[0].Identity}})
	}
	if f != nil && f.metadata[markKey] != nil && !w.keepsMark() {
		return w.listThreads(ctx, other, f)
	}
	return w.listUntil(ctx, other, f, showing(w.owned.others))
}

// searchOperation looks whether the target has the search operation beside its list: only that takes filters.
func (w *World) searchOperation(ctx context.Context, who caller) error {
	_, a, err := w.agent.list(ctx, who, &filter{})
	if err == nil && (!a.OK() || !a.Get("@this").IsArray()) {
		return inapplicable("the plain list of threads takes no filter, and the target has no search operation that lists them: it answers %d", a.Status)
	}
	return err
}

// listHoldsNoForeign takes a refusal, too: what is not shown is not leaked.
func (w *World) listHoldsNoForeign() error {
	if w.answer.Refused() {
		w.noted(fmt.Sprintf("the target refuses the filter with status %d", w.answer.Status))
		return nil
	}
	if !w.answer.OK() {
		return blocked("the threads cannot be listed: %s", seen(w.answer))
	}
	foreign, identity := w.owned.users.id, w.run.config.Users[0].Identity
	for i, row := range w.listed.rows {
		if row.Get("thread_id").String() == foreign || row.Get("metadata."+ownerKey).String() == identity {
			return violated(w.answer, "threads of the other user only", "%s, which is the user's", shown(row)).at(fmt.Sprintf("/%d", i))
		}
	}
	return nil
}

// listHoldsOwn is what keeps a list that is always empty from passing.
func (w *World) listHoldsOwn(ctx context.Context) error {
	if w.answer.Refused() && w.owned.filter != "no filter" {
		return nil
	}
	if holds(w.listed.rows, w.owned.others.id) {
		return nil
	}
	if w.owned.filter == "metadata that the threads of both have" {
		if !w.keepsMark() {
			return inapplicable("the target does not show that it keeps the metadata of a thread, so a list that is filtered by it may be empty")
		}
	}
	return violated(w.answer, "a list with the other user's thread "+w.owned.others.id, "%s", w.listed).hinting(w.listingHint())
}

// keepsMark tells whether the target shows that it keeps the metadata of a thread.
func (w *World) keepsMark() bool {
	return w.owned.others.answer.Get("metadata."+markKey).String() == w.owned.mark
}

// createOwned needs a user: without a handler there is no owner.
func (w *World) createOwned(ctx context.Context, metadata map[string]any) error {
	if _, err := w.run.caller(theUser); err != nil {
		return err
	}
	return w.createThread(ctx, metadata)
}

func (w *World) userCreatesSpoofed(ctx context.Context) error {
	name := "agentconform-somebody-else"
	if len(w.run.config.Users) > 1 {
		name = w.run.config.Users[1].Identity
	}
	return w.createOwned(ctx, map[string]any{ownerKey: name})
}

func (w *World) userCreatesWithMetadata(ctx context.Context) error {
	w.owned.mark = w.run.name("kept")
	return w.createOwned(ctx, map[string]any{markKey: w.owned.mark})
}

// metadata returns what the target shows of the new thread: in the answer to its creation, else in the list.
func (w *World) metadata(ctx context.Context) (gjson.Result, error) {
	who, err := w.run.caller(theUser)
	if err != nil {
		return gjson.Result{}, err
	}
	if err := w.thread.usable(); err != nil {
		return gjson.Result{}, asPrecondition(err)
	}
	w.answer = w.thread.answer
	if found := w.answer.Get("metadata"); found.IsObject() {
		return found, nil
	}
	if err := w.listUntil(ctx, who, nil, showing(w.thread)); err != nil {
		return gjson.Result{}, err
	}
	for _, row := range w.listed.rows {
		if found := row.Get("metadata"); row.Get("thread_id").String() == w.thread.id && found.IsObject() {
			return found, nil
		}
	}
	return gjson.Result{}, inconclusive("the target shows no metadata of a thread")
}

func (w *World) metadataNamesOwner(ctx context.Context) error {
	metadata, err := w.metadata(ctx)
	if err != nil {
		return err
	}
	identity := w.run.config.Users[0].Identity
	if found := metadata.Get(ownerKey); found.String() != identity {
		return violated(w.answer, fmt.Sprintf("the owner %q", identity), "%s", shown(found)).at("/metadata/" + ownerKey)
	}
	return nil
}

func (w *World) metadataHoldsGiven(ctx context.Context) error {
	metadata, err := w.metadata(ctx)
	if err != nil {
		return err
	}
	if found := metadata.Get(markKey); found.String() != w.owned.mark {
		return violated(w.answer, fmt.Sprintf("the metadata %q", w.owned.mark), "%s", shown(found)).at("/metadata/" + markKey)
	}
	return nil
}
