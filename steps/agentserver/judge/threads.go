package judge

import (
	"cmp"
	"fmt"
	"iter"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// List is the list of threads that a caller received.
type List struct {
	Response *exchange.Response           // its last page
	IsList   bool                         // at least one page is an array of threads
	Rows     iter.Seq2[int, gjson.Result] // the threads, each with its position in its page
	Partial  bool                         // a thread that is missing may be on a page that was not read
	Hint     string                       // remedy if a thread is missing
}

// Has reports whether the list shows a thread.
func (l List) Has(thread string) bool {
	for _, row := range l.Rows {
		if exchange.SameID(row.Get("thread_id").String(), thread) {
			return true
		}
	}
	return false
}

// HasMark reports whether the list shows a thread whose metadata has the value at the key.
func (l List) HasMark(key, value string) bool {
	for _, row := range l.Rows {
		if row.Get("metadata."+key).String() == value {
			return true
		}
	}
	return false
}

// size describes how many different threads the list shows.
func (l List) size() string {
	shown := map[string]bool{}
	for _, row := range l.Rows {
		shown[cmp.Or(exchange.IDKey(row.Get("thread_id").String()), row.Raw)] = true
	}
	return reports.Count(len(shown), "thread")
}

// Thread is a thread that a list must show.
type Thread struct {
	ID      string
	Created *exchange.Response
}

// ThreadIsNew judges the response to the creation of a thread. id is the id of the thread, or "" if the response has
// none. again means that another thread has the same id (AS-THREAD-1).
func ThreadIsNew(a *exchange.Response, id string, again bool) error {
	isUnauthorized := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden // the credentials may be wrong
	switch {
	case id == "" && isUnauthorized:
		return outcome.Fails(a, noID(a, "thread_id", ""))
	case id == "":
		return outcome.Fails(a, noID(a, "thread_id", "")).ByRequirement("AS-THREAD-1")
	case again:
		return outcome.Fails(a, outcome.Violation{
			Kind:     outcome.WrongValue,
			Summary:  nameOf(a.Request) + " returns the thread_id of another thread",
			Expected: "a new thread_id",
			Actual:   id + ", which another thread has",
		}).ByRequirement("AS-THREAD-1")
	}
	return nil
}

// ThreadsDiffer judges that two creations return different ids (section 4). It blocks if no thread was created.
func ThreadsDiffer(first, second Thread) error {
	for _, t := range []Thread{first, second} {
		if t.ID == "" {
			return outcome.Blocked("no thread was created: %s", outcome.Seen(t.Created))
		}
	}
	if !exchange.SameID(first.ID, second.ID) {
		return nil
	}
	return outcome.Fails(second.Created, outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  "The second thread has the thread_id of the first",
		Expected: "two different values of thread_id",
		Actual:   first.ID + " twice",
		Pointer:  "/thread_id",
	}).Comparing(second.Created, first.Created)
}

// ListHolds judges that a list shows a thread (section 4). If the user's own credentials are refused, it blocks.
func ListHolds(l List, t Thread) error {
	if l.Has(t.ID) {
		return nil
	}
	if l.Response.Request.Trusted {
		if err := AcceptsCredentials(l.Response); err != nil {
			return err
		}
	}
	if l.IsList {
		return listLacks(l, t)
	}
	v := outcome.Violation{
		Kind:     outcome.WrongForm,
		Summary:  "The list of threads is not an array",
		Expected: "an array of threads",
		Hint:     l.Hint,
	}
	if !l.Response.OK() {
		v.Kind = notServed(l.Response)
		v.Summary = fmt.Sprintf("The list of threads returns %d", l.Response.Status)
	}
	return outcome.Fails(l.Response, v).Comparing(l.Response, t.Created)
}

// listLacks returns the outcome for a thread that is missing from a list.
func listLacks(l List, t Thread) error {
	if l.Partial {
		return outcome.Inconclusive("the server returned %s without thread %s; the list may be one page of several",
			l.size(), t.ID)
	}
	return outcome.Fails(l.Response, outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  filteredName(l.Response.Request) + " lacks a thread of the caller",
		Expected: "a list with thread " + t.ID,
		Actual:   "a list of " + l.size() + ", without it",
		Check:    &reports.Check{Statuses: []string{"2XX"}, Requires: []string{t.ID}, IDs: true},
		Hint:     l.Hint,
	}).Comparing(l.Response, t.Created)
}
