package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Prior is a run that a rollback removes.
type Prior struct {
	Run
	Shown *exchange.Response // a state with its first message; nil if the server shows no message before a run ends
	Until time.Time          // the earliest time of its natural end
}

// NoneRetrievable judges that a rollback has removed runs: GET returns an error status (section 7: the exact code is
// not shown). The first response is about the run that was in progress, a second one about the run that it was
// waiting for.
func NoneRetrievable(runs ...*exchange.Response) error {
	for i, a := range runs {
		if a.Status >= http.StatusBadRequest {
			continue
		}
		v := outcome.Violation{
			Kind:     outcome.NotRemoved,
			Summary:  "GET returns the run that was rolled back",
			Expected: "a status of 400 or above for a run that was rolled back",
			Check:    outcome.Statuses("4XX", "5XX"),
		}
		if i > 0 {
			v.Class = "the run in front of it"
			v.Summary = "GET returns the run that the rolled-back run was waiting for"
			v.Expected = "a status of 400 or above for that run, which the same rollback removes"
		}
		return outcome.Fails(a, v)
	}
	return nil
}

// NoneRemains judges that a state shows no message of a run that was rolled back. later lists the runs that the thread
// accepted after it.
func NoneRemains(state *exchange.Response, prior Prior, later ...Run) error {
	left := prior.remaining(messages.Of(state), later)
	if len(left) == 0 {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.NotRemoved,
		Summary:  stillContains(left),
		Expected: "no message of the prior run",
		Check:    lacksTexts(left, []Run{prior.Run}, later),
		Actual:   "one of them, " + messages.Brief(left[:1]),
		Pointer:  atMessages,
	}).Comparing(state, prior.Shown)
}

// HoldsNewRunOnly judges that a state holds the messages of the new run of a rollback, and nothing else.
func HoldsNewRunOnly(state *exchange.Response, prior Prior, next Run) error {
	err := HoldsOnly(state, next)
	if err == nil {
		return nil
	}
	all := messages.Of(state)
	left := prior.remaining(all, []Run{next})
	if len(left) == 0 {
		return err
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.NotRemoved,
		Summary:  stillContains(left),
		Expected: "exactly the messages of the new run",
		Check:    lacksTexts(left, []Run{prior.Run}, []Run{next}),
		Actual:   messages.Shown(all),
		Pointer:  atMessages,
	}).Comparing(state, next.Created)
}

// HoldsRemainingOnly judges that after several rollbacks a state holds the messages of the remaining runs, and nothing
// else. removed lists the other runs.
func HoldsRemainingOnly(state *exchange.Response, remaining, removed []Run) error {
	err := HoldsOnly(state, remaining...)
	if err == nil {
		return nil
	}
	all := messages.Of(state)
	var left []messages.Message
	for _, m := range all {
		isLeft := func(r Run) bool { return strings.Contains(m.Text, r.Text()) }
		if slices.ContainsFunc(removed, isLeft) {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return err
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.NotRemoved,
		Summary:  stillContains(left),
		Expected: "exactly the messages of " + reports.Count(len(remaining), "run"),
		Check:    lacksTexts(left, removed, remaining),
		Actual:   messages.Shown(all),
		Pointer:  atMessages,
	})
}

// lacksTexts returns the check that a state has the inputs of the remaining runs and not those of the removed ones. It
// returns nil if a removed run wrote a message without its input, because a script cannot tell whose it is.
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

func stillContains(left []messages.Message) string {
	return fmt.Sprintf("The thread still contains %s of the run that was rolled back", reports.Count(len(left), "message"))
}

// remaining returns the messages of the state that belong to the prior run: its inputs, and messages that it had
// written. A later run may write the same text. Such a message belongs to the later run if that is its writer, it
// does not contain the unique input of the prior run, and it has another id.
func (p Prior) remaining(state []messages.Message, later []Run) (left []messages.Message) {
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
			left = append(left, m)
		}
	}
	return left
}

// isSame reports whether two messages have the same id. Ids that are short or not unique do not count: they may be
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

// RollbackIsAccepted judges the response to the creation of a run with rollback, whose id is empty if it has none.
func RollbackIsAccepted(a *exchange.Response, id string) error {
	if id != "" {
		return nil
	}
	v := noID(a, "run_id", "", "")
	v.Summary = fmt.Sprintf("The new run with rollback returns %d without a run_id", a.Status)
	v.Expected = "a new run with rollback to be accepted"
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
		Expected: "the new run to complete",
		Actual:   messages.Shown(messages.Of(final)),
	})
}

// NotStarted returns the violation for a run that did not start in time. a is the last response about it.
func NotStarted(a *exchange.Response) error {
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.NotFinished,
		Summary:  "A run does not start in time",
		Expected: "the run to start",
	})
}

// NewRunIsPrompt judges that the new run of a rollback completes before the natural end of the prior run. final is the
// state after the new run.
func NewRunIsPrompt(final *exchange.Response, next Run, prior Prior) error {
	if next.CompleteIn(final) && final.Ended().Before(prior.Until) {
		return nil
	}
	took := final.Ended().Sub(prior.Created.Sent).Round(time.Millisecond)
	return outcome.Fails(final, outcome.Violation{
		Kind:     outcome.NotFinished,
		Summary:  "The new run does not complete before the natural end of the prior run",
		Expected: "the new run to complete before the natural end of the prior run",
		Actual:   fmt.Sprintf("its ai message %s after the start of the prior run, which takes %s", took, prior.Hold),
	})
}

// RunStays judges that a run can be retrieved which a rollback must not remove.
func RunStays(a *exchange.Response, r Run) error {
	if a.OK() {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.Changed,
		Summary:  fmt.Sprintf("GET returns %d for a run that was not rolled back", a.Status),
		Expected: "the run " + r.ID,
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
// started one after the other, and it is the last.
func OneRunRemains(runs []Retrieved, inTurn bool) error {
	var left []Retrieved
	for _, r := range runs {
		if r.Response.OK() {
			left = append(left, r)
		}
	}
	newest := runs[len(runs)-1]
	v := outcome.Violation{Expected: "exactly one run that can be retrieved"}
	switch {
	case len(left) == 0:
		v.Kind = outcome.MissingItem
		v.Summary = fmt.Sprintf("None of %d runs with rollback can be retrieved", len(runs))
		v.Actual = fmt.Sprintf("none of %d", len(runs))
		return outcome.Fails(newest.Response, v)
	case len(left) > 1:
		v.Kind = outcome.NotRemoved
		v.Summary = fmt.Sprintf("%d of %d runs with rollback can be retrieved", len(left), len(runs))
		v.Actual = fmt.Sprintf("%d of %d", len(left), len(runs))
		if inTurn {
			v.Check = outcome.Statuses("4XX", "5XX")
			return outcome.Fails(left[0].Response, v)
		}
		return outcome.Fails(left[len(left)-1].Response, v)
	case inTurn && left[0].ID != newest.ID:
		v.Kind = outcome.NotRemoved
		v.Summary = "GET returns an earlier run in place of the last one"
		v.Expected = "the run " + newest.ID
		v.Actual = "the run " + left[0].ID
		return outcome.Fails(left[0].Response, v).Comparing(left[0].Response, newest.Created)
	}
	return nil
}

// PriorJoinReturns judges that a join on the prior run returns, at the latest within the limit after the new run has
// completed.
func PriorJoinReturns(j Join, next Run, limit time.Duration) error {
	if !j.Unanswered {
		return nil
	}
	return outcome.Fails(next.Created, outcome.Violation{
		Kind:     outcome.NoResponse,
		Summary:  "The join on the run that was rolled back does not return",
		Expected: "the join on the prior run to return",
		Actual:   fmt.Sprintf("no response within %s after the new run completed", limit),
	})
}
