package agentserver

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// The keys of metadata in the steps.
const (
	ownerKey = "owner"        // the typical filter (section 5)
	markKey  = target.MarkKey // by which a scenario knows its own threads
)

// owners has the threads of two users.
type owners struct {
	*threadList
	namesOther bool          // the creation of the thread named another user as its owner
	others     *agent.Thread // the thread of the other user
	filter     string        // filter of the other user's list, as the step names it
}

// define registers the steps about threads of other users (section 5, items 6 and 7).
func (w *owners) define(r *common.Definitions) {
	r.Given(`a list of threads that shows their metadata`, w.requireListedMetadata)
	r.Given(refusedCallers+` was refused a thread in the name of the user`, w.requireRefusedThread)
	r.Given(`a thread of each of two users(, with an object in their metadata)?`, w.createThreadOfEach)
	r.Given(`a thread of the user that names the other user as owner`, w.createThreadForOther)
	r.When(`the other user's list from before its first thread is read`, w.readFirstList)
	r.When(`the other user lists the threads with the other listing endpoint`, w.otherUserListsAtOtherEndpoint)
	r.When(`the other user lists the threads with (no filter|an empty filter|metadata .+|the ids .+|the user as owner|an owner that is .+|`+
		`a status|no ids|no values|an order|the object .+)`,
		w.otherUserLists)
	r.When(`the other user lists the threads with a query (for a page|that names the user)`, w.otherUserListsByQuery)
	r.When(`the user creates a thread that names another owner`, w.userCreatesForOther)
	r.When(`the user creates a thread with metadata`, func(ctx context.Context) error {
		w.mark = w.target.Name("kept")
		return w.createThread(ctx, map[string]any{markKey: w.mark})
	})
	r.When(`the user creates a thread with metadata of each class of text`, w.userCreatesWithTexts)
	r.When(`the user creates a thread with metadata of each JSON type`, w.userCreatesWithTypes)
	r.Then(`the list does not hold that thread`, func() error {
		return judge.ListLacksRefused(w.listed(), markKey, w.mark)
	})
	r.Then(`the list holds no thread of the user`, w.listHoldsNoForeign)
	r.Then(`the list holds the thread of the other user`, w.listHoldsOwn)
	r.Then(`its metadata names the user as owner`, w.ownerIsUser)
	r.Then(`its metadata holds the keys that were sent`, func(ctx context.Context) error {
		return w.metadataHolds(ctx, markKey, w.mark, "the metadata")
	})
	r.Then(`its metadata holds these texts unchanged`, w.metadataHoldsTexts)
	r.Then(`its metadata holds these values unchanged`, w.metadataHoldsTypes)
}

// requireListedMetadata creates a thread with a mark and looks for the mark in the list.
func (w *owners) requireListedMetadata(ctx context.Context) error {
	w.mark = w.target.Name("shown")
	t, err := w.server.CreateThread(ctx, w.owner(), map[string]any{markKey: w.mark})
	if err != nil {
		return err
	}
	if t.ID == "" {
		return outcome.Inapplicable("thread metadata", "the target refuses metadata with a new thread: %s",
			outcome.Seen(t.Response))
	}
	if _, err := w.listNewest(ctx, w.owner(), nil, t); err != nil {
		return err
	}
	if !w.listed().HasMark(markKey, w.mark) {
		return outcome.Inapplicable("thread metadata", "the list of threads does not show metadata, so a thread that was "+
			"created in spite of the refusal cannot be found")
	}
	return nil
}

func (w *owners) requireRefusedThread(ctx context.Context, name string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	w.mark = w.target.Name("refused")
	t, err := w.server.CreateThread(ctx, who, map[string]any{markKey: w.mark, ownerKey: w.owner().User.Owner()})
	if err != nil {
		return err
	}
	return requireRefused(t.Response)
}

// createThreadOfEach creates a thread of each user, with the same mark. Each thread must be in its owner's list.
// Otherwise its absence from other lists would prove nothing.
func (w *owners) createThreadOfEach(ctx context.Context, nested string) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	w.mark, w.isNested = w.target.Name("listed"), nested != ""
	first, err := w.threadWith(ctx, w.owner(), w.metadata())
	if err != nil {
		return err
	}
	w.others, err = w.threadWith(ctx, other, w.metadata())
	if err != nil {
		return err
	}
	w.thread, err = w.listNewest(ctx, w.owner(), nil, first)
	if err != nil {
		return err
	}
	return w.listHoldsThread()
}

// readFirstList takes the thread of the shared run, which existed before the list was read.
func (w *owners) readFirstList(ctx context.Context) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	g, err := w.server.SharedCompletedRun(ctx)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	first, err := w.server.ListBeforeThreads(ctx, other)
	if err != nil {
		return err
	}
	if first.Response == nil {
		return outcome.Inconclusive("the list of the other user could not be read")
	}
	w.thread, w.rows, w.scene.Response = g.Thread, first.Rows, first.Response
	return nil
}

func (w *owners) otherUserLists(ctx context.Context, by string) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	w.filter = by
	if by != noFilter && !w.target.Searches() { // its list takes no filter
		list, a, err := w.server.List(ctx, other, agent.Filter{})
		if err != nil {
			return err
		}
		if list == nil {
			return outcome.Inapplicable("a second endpoint that lists threads",
				"GET /threads takes no filter, and POST /threads/search does not list threads: status %d", a.Status)
		}
	}
	f := map[string]agent.Filter{
		noFilter:            nil,
		"an empty filter":   {"metadata": map[string]any{}},
		bySharedMetadata:    {"metadata": map[string]any{markKey: w.mark}},
		bySharedIDs:         {"ids": []any{w.thread.Sent(), w.others.Sent()}},
		"the user as owner": {"metadata": map[string]any{ownerKey: w.owner().User.Owner()}},
		// Some databases interpret such an owner as an operator.
		"an owner that is an object": {"metadata": map[string]any{ownerKey: map[string]any{"$ne": "nobody"}}},
		"an owner that is a list":    {"metadata": map[string]any{ownerKey: []any{w.owner().User.Owner()}}},
		"an owner that is null":      {"metadata": map[string]any{ownerKey: nil}},
		// Some servers replace the filter of the handler with one of these.
		"a status":                              {"status": "idle"},
		"no values":                             {"values": map[string]any{}},
		"an order":                              {"sort_by": "created_at", "sort_order": "asc"},
		"no ids":                                {"ids": []any{}},
		"the object that both metadata contain": {"metadata": w.metadata()},
	}[by]
	if !slices.Contains(holdOwn, by) || w.isLossy() {
		return w.listUntil(ctx, other, f, nil) // the list may be empty
	}
	w.others, err = w.listNewest(ctx, other, f, w.others)
	return err
}

// otherUserListsByQuery lists the threads by GET with a query, which the interface does not define. Some servers handle
// pages with different code, or filter by the user in the query instead of the caller.
func (w *owners) otherUserListsByQuery(ctx context.Context, purpose string) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	query := url.Values{"limit": {"10"}, "offset": {"0"}}
	if purpose == "that names the user" {
		user := w.owner().User.Owner()
		query = url.Values{"owner": {user}, "user": {user}, "user_id": {user}, "identity": {user}}
	}
	a, err := w.server.ListByQuery(ctx, other, query)
	if err != nil {
		return err
	}
	if target.NotServed(a) {
		return outcome.Inapplicable("GET /threads", "the target does not serve GET /threads: status %d", a.Status)
	}
	w.rows, w.scene.Response = agent.ListingOf(a), a
	return nil
}

// Filters with a special judgement, as the steps name them.
const (
	noFilter         = "no filter"
	bySharedMetadata = "metadata that both threads have"
	bySharedIDs      = "the ids of both threads"
)

// holdOwn has the filters with which a list must contain the caller's own thread.
var holdOwn = []string{noFilter, "an empty filter", bySharedMetadata, bySharedIDs}

func (w *owners) listHoldsNoForeign() error {
	if w.scene.Response.IsRefused() {
		w.scene.Note(fmt.Sprintf("the filter is refused with status %d", w.scene.Response.Status))
	}
	return judge.ListLacksForeign(w.listed(), w.thread.ID, w.filterOfUser())
}

// filterOfUser returns the metadata by which threads of the user differ from those of the other user, or nil if the
// identity is unknown.
func (w *owners) filterOfUser() map[string]string {
	user := w.owner().User
	switch {
	case user.Identity == "":
		return nil
	case w.sameIdentity:
		return map[string]string{ownerKey: user.Identity, config.TeamField: user.Team()}
	}
	return map[string]string{ownerKey: user.Identity}
}

func (w *owners) listHoldsOwn() error {
	list := judge.FilteredList{List: w.listed(), Filtered: w.filter != noFilter, Lossy: w.isLossy()}
	return judge.ListHoldsOwn(list, created(w.others))
}

// isLossy reports whether the list is filtered by metadata that the response to the creation of the thread does not show.
func (w *owners) isLossy() bool {
	return w.filter == bySharedMetadata && w.others.Response.Get("metadata."+markKey).String() != w.mark
}

func (w *owners) userCreatesForOther(ctx context.Context) error {
	w.namesOther = true
	name := "agentconform-somebody-else"
	if len(w.target.Config.Users) > 1 {
		other, err := w.callerNamed(ctx, target.TheOtherUser)
		if err != nil {
			return err
		}
		name = other.User.Owner()
	}
	return w.createThread(ctx, map[string]any{ownerKey: name})
}

// createThreadForOther creates a thread that names the other user as owner, and completes a run on it.
func (w *owners) createThreadForOther(ctx context.Context) error {
	if err := w.userCreatesForOther(ctx); err != nil {
		return err
	}
	return w.completeAsCreated(ctx)
}

// ownerIsUser judges the owner in the metadata. It passes if the target refuses a thread that names another owner.
func (w *owners) ownerIsUser(ctx context.Context) error {
	if w.namesOther && w.thread.ID == "" && w.thread.Response.IsRefused() {
		if _, err := w.server.NewThread(ctx, w.owner()); err != nil {
			return outcome.AsPrecondition(err)
		}
		w.scene.Note("the target refuses a thread that names another owner: " + outcome.Seen(w.thread.Response))
		return nil
	}
	return w.metadataHolds(ctx, ownerKey, w.owner().User.Identity, "the owner")
}

// textKey returns the key of metadata with a text of [textClasses].
func textKey(i int) string { return "text_" + strconv.Itoa(i) }

// userCreatesWithTexts creates a thread whose metadata has a text of each class.
func (w *owners) userCreatesWithTexts(ctx context.Context) error {
	metadata := map[string]any{}
	for i, c := range textClasses {
		metadata[textKey(i)] = c.text
	}
	return w.createWithUnusual(ctx, metadata)
}

// createWithUnusual creates a thread with unusual metadata. The interface defines no limits, so the server may refuse it.
func (w *owners) createWithUnusual(ctx context.Context, metadata map[string]any) error {
	if err := w.createThread(ctx, metadata); err != nil {
		return err
	}
	if w.thread.ID == "" && w.thread.Response.IsRefused() {
		return outcome.Inapplicable("such metadata", "the target refuses such metadata: %s", outcome.Seen(w.thread.Response))
	}
	return nil
}

func (w *owners) metadataHoldsTexts(ctx context.Context) error {
	for i, c := range textClasses {
		if err := w.metadataHolds(ctx, textKey(i), c.text, "the text with "+c.name); err != nil {
			return err
		}
	}
	return nil
}

// metadataHolds reads the metadata of the new thread from the response to its creation, or else from the list.
func (w *owners) metadataHolds(ctx context.Context, key string, value any, what string) error {
	if err := w.thread.Usable(); err != nil {
		return outcome.AsPrecondition(err)
	}
	w.scene.Response = w.thread.Response
	metadata := w.scene.Response.Get("metadata")
	if !metadata.IsObject() {
		if err := w.listUntil(ctx, w.owner(), nil, w.thread); err != nil {
			return err
		}
		metadata = w.rows.Thread(w.thread.ID).Get("metadata")
	}
	return judge.MetadataHas(w.scene.Response, metadata, key, value, what)
}

// otherUserListsAtOtherEndpoint lists the threads as the other user. It first checks that this endpoint shows the user's
// thread to the user. Otherwise its absence from the other user's list would prove nothing.
func (w *owners) otherUserListsAtOtherEndpoint(ctx context.Context) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	made := 0
	err = w.retry(ctx, func() (bool, error) {
		// A list may show only the newest threads, and other scenarios create threads at the same time.
		if w.rows.Len() >= agent.LeastPage && made < mostNewest {
			made++
			w.thread, err = w.threadWith(ctx, w.owner(), w.metadata())
			if err != nil {
				return false, err
			}
		}
		if err := w.listAtOtherEndpoint(ctx, w.owner()); err != nil {
			return false, err
		}
		return w.rows.Thread(w.thread.ID).Exists() || w.rows == nil, nil
	})
	if err != nil {
		return err
	}
	if !w.rows.Thread(w.thread.ID).Exists() {
		return outcome.Inapplicable("a second endpoint that lists threads", "the other listing endpoint does not return the "+
			"user's own new thread, so it cannot return that of others")
	}
	return w.listAtOtherEndpoint(ctx, other)
}

func (w *owners) listAtOtherEndpoint(ctx context.Context, who target.Caller) error {
	a, err := w.listOther(ctx, who)
	if err == nil {
		w.rows, w.scene.Response = agent.ListingOf(a), a
	}
	return err
}
