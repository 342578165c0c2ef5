// Package story describes how a finding came about: the requests that led to it as numbered sentences, and the wrong data
// as a table. People read it instead of the recorded exchanges. It sends no requests and judges nothing. If the requests
// do not show which value is wrong, no value is marked. Start with [Of].
//
// Objects have names. The runs of a story are run A, B and so on. The users have the names of the configuration, or else
// are Alice, Bob and so on. Revisions are numbered in the order of their first appearance. Ids are shortened to their
// last characters, because UUIDs of version 7 that were created at the same time begin with the same ones.
package story

import (
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Story is the story of one finding. All texts are on one line and passed through [safe.Line].
type Story struct {
	Steps    []Step
	Users    []User    // users whose names are in the steps; empty if there is only one
	Messages []Message // messages in the wrong response; empty unless it contains the messages of a thread
	Items    []Item    // items of the list in the wrong response or, after a write, in the next list; empty if there is no list
	Field    *Field    // the wrong value, or nil if the finding is not about one value
	More     int       // number of messages or items that are omitted
}

// Step is one request, or several similar requests in a row.
type Step struct {
	Number   int    // counts from 1
	Exchange int    // id of the exchange, of the last one if there are several
	Text     string // sentence without a period: "Start run A, which takes 1.2 s"
	Request  string // "POST /threads/…001f/runs → run A …9e7b"
	Status   int    // status of the response; 0: there was none
	Wrong    bool   // the response shows the violation
	Repeat   int    // number of requests, at least 1
}

// User is a user of the agent server in the steps.
type User struct {
	Name string // "Alice"
	Key  string // key in the configuration: "users.0"
}

// Message is a message of a thread.
type Message struct {
	Run     string // "run A"; empty if the message belongs to no run of the story
	Note    string // about the run: "rolled back", "refused", or empty
	Type    string // "human", "ai"
	Text    string
	Wrong   bool
	Missing bool // the response must contain it and does not
}

// Item is an item of a list.
type Item struct {
	Name    string // "revision 3"; empty if the story has no name for it
	ID      string // short: "…9e7b"
	Details string // "DEPLOYED, repo_ref main", or empty
	Note    string // "missing", "repeated" or another mistake, "new" after a write, or empty
	Wrong   bool
	number  int // number of a revision
}

// Field is the value that the finding is about.
type Field struct {
	Name   string // "source_config.build_on_push"
	Before string // JSON, or empty if the story has no other value
	After  string // JSON, or empty if the response does not have the field
	Step   int    // number of the step with the value before
	Sent   bool   // the value before is from a request
}

// Limits of the texts, in characters, and of the tables.
const (
	maxText  = 160
	maxValue = 300
	maxRows  = 12
)

// Of returns the story of a finding of r. It is empty if the finding has no exchanges.
func Of(r *reports.Result, f *reports.Finding) Story {
	t := newTeller(r, f)
	field, before := t.field()
	groups := t.condense(before)
	s := Story{Users: t.users(), Field: field}
	for i, g := range groups {
		step := t.step(i+1, g)
		if step.Wrong && field != nil {
			step.Text = safe.Ellipsis(t.sentenceWith(g, field), maxText)
		}
		if after := returnsAfter(groups, i); after > i {
			step.Text += fmt.Sprintf(" (it returns after step %d)", after+1)
		}
		s.Steps = append(s.Steps, step)
		if field != nil && before != nil && g.contains(before) {
			field.Step = i + 1
		}
	}
	if t.shown != nil && t.shown.isOK() {
		messages, moreMessages := limited(t.messages(), func(m Message) bool { return m.Wrong })
		items, moreItems := limited(t.items(), func(item Item) bool { return item.Wrong })
		s.Messages, s.Items, s.More = messages, items, moreMessages+moreItems
	}
	return safe.Copy(s, safe.Line)
}

// Requests returns a sentence about each request of a finding, by the id of its exchange, and the users in them. The
// sentences do not mention times and responses, so they are also true for requests that are sent again.
func Requests(r *reports.Result, f *reports.Finding) (sentences map[int]string, users []User) {
	t := newTeller(r, f)
	sentences = map[int]string{}
	for _, e := range t.events {
		sentences[e.ID] = safe.Line(safe.Ellipsis(t.request(e)+strategyOf(e)+parametersOf(e), maxText))
	}
	return sentences, t.users()
}

// returnsAfter returns the index of the last group whose requests were sent before a wait returned, or i if the requests
// of group i are not a wait.
func returnsAfter(groups []group, i int) int {
	wait := groups[i].last()
	if !isWait[wait.Operation] {
		return i
	}
	const margin = 5 // in milliseconds, because times are rounded
	end := wait.AtMS + int64(wait.MS) - margin
	last := i
	for at := i + 1; at < len(groups) && groups[at][0].AtMS < end; at++ {
		last = at
	}
	return last
}

// limited returns at most maxRows rows of a table: the wrong ones and those next to the first of them. It also returns the
// number of omitted rows.
func limited[T any](rows []T, isWrong func(T) bool) ([]T, int) {
	if len(rows) <= maxRows {
		return rows, 0
	}
	first := slices.IndexFunc(rows, isWrong)
	var order []int
	for i := range rows {
		order = append(order, i)
	}
	distance := func(i int) int {
		if isWrong(rows[i]) {
			return 0
		}
		return max(i-first, first-i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return distance(a) - distance(b) })
	var kept []T
	for _, i := range slices.Sorted(slices.Values(order[:maxRows])) {
		kept = append(kept, rows[i])
	}
	return kept, len(rows) - maxRows
}
