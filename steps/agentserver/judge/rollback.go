package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Prior is a run that a rollback removes.
type Prior struct {
	Run
	Shown *exchange.Response // a state with its first message; nil if the server shows no message before a run ends
	Until time.Time          // the earliest time of its natural end
	Ahead []Run              // the run that a pending run waits for, which the same rollback removes
}

// NoneRetrievable judges that a rollback has removed runs: GET returns an error status. Section 7 does not define the
// code. The first response is for the run that was in progress, and the second for the run that was ahead of it.
func NoneRetrievable(runs ...*exchange.Response) error {
	for i, a := range runs {
		if a.Status >= http.StatusBadRequest {
			continue
		}
		v := outcome.Violation{
			Kind:     outcome.NotRemoved,
			Summary:  "GET still returns a run that was rolled back",
			Expected: "400 or above", Check: outcome.Statuses("4XX", "5XX"),
		}
		if i > 0 {
			v.Class = "the run in front of it"
			v.Summary = "GET still returns the run ahead of a pending run that was rolled back"
			v.Expected = "400 or above, because the same rollback removes it"
		}
		return outcome.Fails(a, v)
	}
	return nil
}

// NoneRemains judges that a state shows no message of a run that was rolled back. later lists the runs that the thread
// accepted after it.
func NoneRemains(state *exchange.Response, prior Prior, later ...Run) error {
	all := messages.Of(state)
	left := prior.remaining(all, later)
	if len(left) == 0 {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.NotRemoved,
		Summary:  staysInThread,
		Expected: "no message of the run that was rolled back",
		Check:    lacksTexts(messagesAt(all, left), []Run{prior.Run}, later),
		Actual:   reports.Count(len(left), "message") + " of it, such as " + messages.Brief(all[left[0]:left[0]+1]),
		Pointer:  atMessages,
	}).Comparing(state, prior.Shown)
}

// HoldsNewRunOnly judges that a state contains only the messages of the new run of a rollback.
func HoldsNewRunOnly(state *exchange.Response, prior Prior, next Run) error {
	err := HoldsOnly(state, next)
	if err == nil {
		return nil
	}
	all := messages.Of(state)
	left := prior.remaining(all, []Run{next})
	owners := ownersOf(all, []Run{next}, []string{"the new run"})
	summary := staysInThread
	for _, at := range left {
		owners[at] = rolledBack
	}
	if len(left) == 0 {
		summary = aheadStaysInThread
	}
	for at, m := range all {
		for _, ahead := range prior.Ahead {
			if !slices.Contains(left, at) && ahead.isRepeatedBy(m) {
				owners[at] = "the run before the pending run"
				left = append(left, at)
			}
		}
	}
	if len(left) == 0 {
		return err
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.NotRemoved,
		Summary:  summary,
		Expected: fmt.Sprintf("the %s of the new run", reports.Count(len(next.Inputs)+next.Outputs, "message")),
		Check:    lacksTexts(messagesAt(all, left), append([]Run{prior.Run}, prior.Ahead...), []Run{next}),
		Actual:   messages.ShownBy(all, owners),
		Pointer:  atMessages,
	}).Comparing(state, next.Created)
}

// HoldsRemainingOnly judges that after several rollbacks a state contains only the messages of the remaining runs.
// removed lists the other runs.
func HoldsRemainingOnly(state *exchange.Response, remaining, removed []Run) error {
	err := HoldsOnly(state, remaining...)
	if err == nil {
		return nil
	}
	all := messages.Of(state)
	owners := ownersOf(all, remaining, namesOf(remaining))
	var left []messages.Message
	for i, m := range all {
		if slices.ContainsFunc(removed, func(r Run) bool { return r.isRepeatedBy(m) }) {
			owners[i] = rolledBack
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return err
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.NotRemoved,
		Summary:  staysInThread,
		Expected: messagesOf(remaining),
		Check:    lacksTexts(left, removed, remaining),
		Actual:   messages.ShownBy(all, owners),
		Pointer:  atMessages,
	})
}

// messagesAt returns the messages at the indices.
func messagesAt(all []messages.Message, indices []int) (some []messages.Message) {
	for _, i := range indices {
		some = append(some, all[i])
	}
	return some
}

// lacksTexts returns the check that a state has the inputs of the remaining runs and not those of the removed ones. It
// returns nil if a removed run wrote a message that does not repeat its input, because a script cannot tell which run
// wrote it.
func lacksTexts(left []messages.Message, removed, remaining []Run) *reports.Check {
	check := outcome.Statuses("2XX")
	for _, r := range remaining {
		check.Contains = append(check.Contains, r.Text())
	}
	for _, r := range removed {
		check.Lacks = append(check.Lacks, r.Text())
	}
	for _, m := range left {
		hasText := func(text string) bool { return strings.Contains(m.Text, text) }
		if !slices.ContainsFunc(check.Lacks, hasText) {
			return nil
		}
	}
	for _, kept := range check.Contains {
		hasText := func(text string) bool { return strings.Contains(kept, text) }
		if slices.ContainsFunc(check.Lacks, hasText) {
			return nil
		}
	}
	return check
}

// Texts about the messages of a run that was rolled back.
const (
	staysInThread      = "Messages of a rolled-back run stay in the thread"
	aheadStaysInThread = "After the rollback of a pending run, messages of the run ahead of it stay in the thread"
	rolledBack         = "the run that was rolled back"
)

// remaining returns the indices of the messages of the state that belong to the prior run: its inputs, and messages that
// it had written. A message with the same text belongs to a later run if that run is its writer, it does not contain the
// unique input of the prior run, and it has a different id.
func (p Prior) remaining(state []messages.Message, later []Run) (left []int) {
	var shown []messages.Message
	if p.Shown != nil {
		shown = p.Wrote(p.Shown)
	}
	writers := Writers(state, later)
	for i, m := range state {
		belongs := func(w messages.Message) bool {
			return w.Text == m.Text &&
				(writers[i] == NoWriter || strings.Contains(m.Text, p.Text()) || isSame(w, m, shown, state))
		}
		if slices.Contains(p.Inputs, m.Text) || slices.ContainsFunc(shown, belongs) {
			left = append(left, i)
		}
	}
	return left
}

// isSame reports whether two messages have the same id. It ignores ids that are short or not unique, because they may be
// positions or constants.
func isSame(a, b messages.Message, states ...[]messages.Message) bool {
	const shortest = 12
	if a.ID != b.ID || len(a.ID) < shortest {
		return false
	}
	for _, state := range states {
		count := 0
		for _, m := range state {
			if m.ID == a.ID {
				count++
			}
		}
		if count > 1 {
			return false
		}
	}
	return true
}

// RollbackIsAccepted judges the response to the creation of a run with rollback. id is the id of the run, or "" if the
// response has none.
func RollbackIsAccepted(a *exchange.Response, id string) error {
	if id != "" {
		return nil
	}
	if a.Status == http.StatusUnauthorized {
		return AcceptsCredentials(a)
	}
	v := noID(a, "run_id", "")
	v.Summary = fmt.Sprintf("A new run with rollback returns %d without a run_id", a.Status)
	return outcome.Fails(a, v).ByRequirement("AS-ROLLBACK-1")
}

// NewRunCompletes judges that the new run of a rollback completes. final is the last state that was read.
func NewRunCompletes(final *exchange.Response, next Run) error {
	if next.CompleteIn(final) {
		return nil
	}
	return outcome.Fails(final, outcome.Violation{
		Kind:     outcome.NotFinished,
		Summary:  "The new run of a rollback does not complete",
		Expected: messagesOf([]Run{next}),
		Actual:   messages.ShownBy(messages.Of(final), ownersOf(messages.Of(final), []Run{next}, namesOf([]Run{next}))),
	})
}

// NotStarted returns the violation for a run that did not start in time. a is the last response about the run.
func NotStarted(a *exchange.Response) error {
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.NotFinished,
		Summary:  "A run does not start in time",
		Expected: "a run that starts",
	})
}

// NewRunIsPrompt judges that the new run of a rollback completes before the natural end of the prior run. final is the
// state after the new run.
func NewRunIsPrompt(final *exchange.Response, next Run, prior Prior) error {
	if next.CompleteIn(final) && final.Ended().Before(prior.Until) {
		return nil
	}
	actual := "completed"
	if !next.CompleteIn(final) {
		actual = "not completed"
	}
	took := final.Ended().Sub(prior.Created.Sent).Round(time.Millisecond)
	return outcome.Fails(final, outcome.Violation{
		Kind:     outcome.NotFinished,
		Summary:  "The new run of a rollback waits for the run that it replaces",
		Expected: fmt.Sprintf("completed before %s, when the replaced run would end", prior.Hold),
		Actual:   fmt.Sprintf("%s after %s", actual, took),
	})
}

// RunStays judges that a run can be retrieved although another run was rolled back.
func RunStays(a *exchange.Response, r Run) error {
	if a.OK() {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.Changed,
		Summary:  fmt.Sprintf("GET returns %d for a run that was not rolled back", a.Status),
		Expected: "2xx, with run " + safe.ShortIDs(r.ID),
		Check:    outcome.Statuses("2XX"),
	}
	if a.Status >= http.StatusInternalServerError {
		v.Kind = outcome.ServerError
	}
	return outcome.Fails(a, v).Comparing(a, r.Created)
}

// Retrieved is a run that was started with rollback, with the response to its GET after all runs had ended.
type Retrieved struct {
	Run
	Response *exchange.Response
}

// OneRunRemains judges that exactly one of several runs with rollback can be retrieved. If inTurn is set, they were
// started one after the other, and the last must remain.
func OneRunRemains(runs []Retrieved, inTurn bool) error {
	var left []Retrieved
	for _, r := range runs {
		if r.Response.OK() {
			left = append(left, r)
		}
	}
	newest := runs[len(runs)-1]
	v := outcome.Violation{Expected: "exactly 1 run that can be retrieved"}
	switch {
	case len(left) == 0:
		v.Kind = outcome.MissingItem
		v.Summary = fmt.Sprintf("After %d rollbacks, GET returns none of the runs", len(runs))
		v.Actual = fmt.Sprintf("0 of %d runs", len(runs))
		return outcome.Fails(newest.Response, v)
	case len(left) > 1:
		v.Kind = outcome.NotRemoved
		v.Summary = fmt.Sprintf("After %d rollbacks, GET still returns %d of the runs", len(runs), len(left))
		v.Actual = fmt.Sprintf("%d of %d runs", len(left), len(runs))
		if inTurn {
			v.Check = outcome.Statuses("4XX", "5XX")
			return outcome.Fails(left[0].Response, v)
		}
		return outcome.Fails(left[len(left)-1].Response, v)
	case inTurn && left[0].ID != newest.ID:
		v.Kind = outcome.NotRemoved
		v.Summary = "After several rollbacks, GET returns an earlier run and not the last one"
		v.Expected = "run " + newest.ID
		v.Actual = "run " + left[0].ID
		return outcome.Fails(left[0].Response, v).Comparing(left[0].Response, newest.Created)
	}
	return nil
}

// PriorJoinReturns judges that a join of the prior run returns within the limit after the new run has completed.
func PriorJoinReturns(j Join, next Run, limit time.Duration) error {
	if !j.Unanswered {
		return nil
	}
	return unreturnedJoin(j, next.Created, outcome.Violation{
		Summary:  "The join of a run that was rolled back does not return",
		Expected: fmt.Sprintf("a response within %s after the new run completed", limit),
		Actual:   "no response",
	})
}
