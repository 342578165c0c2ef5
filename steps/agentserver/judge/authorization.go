package judge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// ListLacksRefused judges that a list shows no thread that was refused. The metadata of such a thread has the value at
// the key.
func ListLacksRefused(l List, key, value string) error {
	if !l.IsList {
		return outcome.Blocked("the threads cannot be listed: %s", outcome.Seen(l.Response))
	}
	if !l.HasMark(key, value) {
		return nil
	}
	return outcome.Fails(l.Response, outcome.Violation{
		Kind:     outcome.Changed,
		Summary:  "A refused request creates a thread",
		Expected: "no thread of the refused request",
		Actual:   fmt.Sprintf("a thread with its metadata %q", value),
	})
}

// ListLacksForeign judges that a list does not show the given thread of another user, nor a thread whose metadata has all
// values of the filter. An empty filter matches no thread. If the list is refused, there is nothing to judge.
func ListLacksForeign(l List, thread string, filter map[string]string) error {
	if l.Response.IsRefused() {
		return nil
	}
	if !l.Response.OK() {
		return outcome.Blocked("the threads cannot be listed: %s", outcome.Seen(l.Response))
	}
	for i, row := range l.Rows {
		isOwned := len(filter) > 0
		for key, value := range filter {
			isOwned = isOwned && row.Get("metadata."+key).String() == value
		}
		if !exchange.SameID(row.Get("thread_id").String(), thread) && !isOwned {
			continue
		}
		return outcome.Fails(l.Response, outcome.Violation{
			Kind:     outcome.Leak,
			Summary:  filteredName(l.Response.Request) + " shows a thread of another user",
			Expected: "only threads of " + cmp.Or(l.Response.Request.Caller.Name, "the caller"),
			Actual:   foreignThread(row),
			Pointer:  fmt.Sprintf("/%d", i),
			Check:    &reports.Check{Statuses: []string{"2XX", "4XX"}, Lacks: []string{row.Get("thread_id").String()}, IDs: true},
		})
	}
	return nil
}

// filteredName names a request for a list with its filter: "The list of threads with metadata.owner".
func filteredName(r exchange.Request) string {
	var names []string
	add := func(name string) {
		if name != "limit" && name != "offset" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	query, err := url.ParseQuery(r.Query)
	if err == nil {
		for _, name := range slices.Sorted(maps.Keys(query)) {
			add(name)
		}
	}
	gjson.ParseBytes(r.Body).ForEach(func(name, value gjson.Result) bool {
		members := value.Map()
		for _, member := range slices.Sorted(maps.Keys(members)) {
			add(name.String() + "." + member)
		}
		if len(members) == 0 {
			add(name.String())
		}
		return true
	})
	const list = "The list of threads"
	if len(names) == 0 {
		return list
	}
	return list + " with " + safe.Ellipsis(strings.Join(names, ", "), 30)
}

// foreignThread describes a thread in the list of another user by its id and its metadata. The second line has all of it.
func foreignThread(row gjson.Result) string {
	text := "thread " + safe.ShortIDs(row.Get("thread_id").String())
	if metadata := row.Get("metadata"); len(metadata.Map()) > 0 {
		text += " with the metadata " + safe.CutJSON(metadata.Raw, 70)
	}
	return text + "\n" + row.Raw
}

// FilteredList describes the filter of a list.
type FilteredList struct {
	List
	Filtered bool // it has a filter, which the server may refuse
	Lossy    bool // the server does not show the metadata of the filter, so the list may be empty
}

// ListHoldsOwn judges that a list shows the caller's own thread, so that an empty list does not pass. It blocks if the
// threads cannot be listed (AS-THREAD-2). It does not apply to a lossy filter.
func ListHoldsOwn(l FilteredList, own Thread) error {
	isRefused := l.Filtered && l.Response.IsRefused()
	switch {
	case !l.IsList && !isRefused:
		return outcome.Blocked("the threads cannot be listed (AS-THREAD-2): %s", outcome.Seen(l.Response)).
			ByRequirement("AS-THREAD-2")
	case isRefused || l.Has(own.ID):
		return nil
	case l.Lossy:
		return outcome.Inapplicable("thread metadata",
			"the target does not show the metadata of a thread, so a list filtered by it may be empty")
	}
	return listLacks(l.List, own)
}

// MetadataHas judges that the metadata of a thread in a response has the value at the key. what describes the value: "the
// owner". The value is a text, or a result of [gjson.Result.Value]. MetadataHas is inconclusive if the server shows no
// metadata.
func MetadataHas(a *exchange.Response, metadata gjson.Result, key string, value any, what string) error {
	if !metadata.IsObject() {
		return outcome.Inconclusive("the target shows no metadata of a thread")
	}
	found := metadata.Get(key)
	if found.String() == value || reflect.DeepEqual(found.Value(), value) {
		return nil
	}
	expected := fmt.Sprintf("%s %q", what, value)
	if _, isText := value.(string); !isText {
		sent, err := json.Marshal(value)
		if err != nil {
			return err
		}
		expected = fmt.Sprintf("%s %s", what, sent)
	}
	v := outcome.Violation{
		Kind: outcome.WrongValue,
		Summary: fmt.Sprintf("A thread shows the %s %s in its metadata instead of %s", key, safe.Ellipsis(found.Raw, 14),
			safe.Ellipsis(strings.TrimPrefix(expected, what+" "), 14)),
		Expected: expected,
		Actual:   outcome.Shown(found),
		Pointer:  "/metadata/" + key,
	}
	if !found.Exists() {
		v.Kind = outcome.Missing
		v.Summary = fmt.Sprintf("A thread shows no %s in its metadata", key)
	}
	return outcome.Fails(a, v)
}

// MayHoldRun reports whether a response to the join of another user's run must be compared with the response to the join
// of an unknown run: it has a 2xx status and content, but not the text of the run.
func MayHoldRun(a *exchange.Response, r Run) bool {
	return a.Status < http.StatusBadRequest && !hasNoContent(a) && !messages.ContainsText(a, r.Text())
}

// HoldsNothingOfRun judges that a response to the join of another user's run contains nothing of the run. joined is the
// id in the request. Some servers return 200 with an error if they do not find a run. unknown is such a response to the
// join of unknownID, or nil.
func HoldsNothingOfRun(a *exchange.Response, r Run, joined string, unknown *exchange.Response, unknownID string) error {
	hasText := messages.ContainsText(a, r.Text())
	if !hasText {
		if !MayHoldRun(a, r) {
			return nil
		}
		renamed := bytes.ReplaceAll(a.Body, []byte(joined), []byte(unknownID))
		if unknown != nil && bytes.Equal(renamed, unknown.Body) {
			return nil
		}
	}
	leak := leaksRun(a, "")
	if hasText {
		leak.Violations[0].Check = &reports.Check{Statuses: []string{"4XX", "5XX"}, Lacks: []string{r.Text()}}
	}
	return leak
}

// NoneShows judges that no response to another user contains the text of a run, or the mark in the metadata of its
// thread.
func NoneShows(responses []*exchange.Response, r Run, mark string) error {
	for _, a := range responses {
		for _, text := range []string{r.Text(), mark} {
			if !a.OK() || !messages.ContainsText(a, text) {
				continue
			}
			return outcome.Fails(a, outcome.Violation{
				Kind:     outcome.Leak,
				Summary:  nameOf(a.Request) + " shows a thread to a user who created a thread with the same id",
				Expected: "400 or above, or nothing of the thread",
				Check:    &reports.Check{Statuses: []string{"4XX", "5XX"}, Lacks: []string{text}},
			})
		}
	}
	return nil
}

// hasNoContent reports whether the body is empty, null, or an object that is empty or has only an error.
func hasNoContent(a *exchange.Response) bool {
	body := bytes.TrimSpace(a.Body)
	if len(body) == 0 || string(body) == "null" {
		return true
	}
	members := a.Get("@this").Map()
	delete(members, "__error__")
	return a.Get("@this").IsObject() && len(members) == 0
}

// leaksRun returns the violation for a response that shows a run to a caller who must not see it.
func leaksRun(a *exchange.Response, class string) *outcome.Outcome {
	to := "to another user"
	if a.Request.Caller.Invalid {
		to = "without valid credentials"
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.Leak,
		Class:    class,
		Summary:  nameOf(a.Request) + a.Request.WithHeaders() + " shows the run " + to,
		Expected: "400 or above, or no data of the run",
	})
}
