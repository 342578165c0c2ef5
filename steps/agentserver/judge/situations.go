package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// StateEndsWith judges that a state ends with the input of the run and all that the run has written (section 2).
func StateEndsWith(state *exchange.Response, r Run) error {
	if err := HoldsAnswered(state, r); err != nil {
		return err
	}
	all := messages.Of(state)
	at := r.lastInputIn(all)
	after := len(all) - 1 - at
	if after == r.Outputs {
		return r.followsItsInputs(state, all[:at])
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.WrongOrder,
		Summary:  "The thread state does not end with the messages of the last run",
		Expected: fmt.Sprintf("%s after the input %q", reports.Count(r.Outputs, "message"), r.Text()),
		Actual:   fmt.Sprintf("%s after it, of %s", reports.Count(after, "message"), messages.Shown(all)),
		Pointer:  atMessages,
	}).Comparing(state, r.Created)
}

// followsItsInputs judges that the messages before the last input of the run end with its other inputs.
func (r Run) followsItsInputs(state *exchange.Response, before []messages.Message) error {
	inputs := r.Inputs[:len(r.Inputs)-1]
	var texts []string
	for _, m := range before[max(0, len(before)-len(inputs)):] {
		texts = append(texts, m.Text)
	}
	if slices.Equal(texts, inputs) {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  "The thread state lacks human messages of the last run",
		Expected: fmt.Sprintf("%s of the run before its input %q", reports.Count(len(inputs), "message"), r.Text()),
		Actual:   messages.Shown(messages.Of(state)),
		Pointer:  atMessages,
	}).Comparing(state, r.Created)
}

// KeepsTypes judges that messages that are in both states have the same type in both.
func KeepsTypes(before, after *exchange.Response) error {
	all := messages.Of(after)
	for i, m := range messages.Of(before) {
		if i < len(all) && all[i].Text == m.Text && all[i].Kind != m.Kind {
			return outcome.Fails(after, outcome.Violation{
				Kind:     outcome.WrongValue,
				Summary:  "A message of an earlier run has changed its type",
				Expected: fmt.Sprintf("message %d with the type %q", i+1, m.Kind),
				Actual:   fmt.Sprintf("the type %q", all[i].Kind),
				Pointer:  atMessages,
			}).Comparing(after, before)
		}
	}
	return nil
}

// lastInputIn returns the index of the last message with the text of the run's input, or -1.
func (r Run) lastInputIn(state []messages.Message) int {
	for i, m := range slices.Backward(state) {
		if m.Text == r.Text() {
			return i
		}
	}
	return -1
}

// HoldsInputOnce judges that a state has one message with the text of the input of a run, although another run with the
// same input was rolled back.
func HoldsInputOnce(state *exchange.Response, r Run) error {
	return inputIsOnce(state, r, outcome.NotRemoved, "A message of a rolled-back run with the same input stays in the thread")
}

// RepeatsNoInput judges that a rollback has not duplicated the input of a completed run. The state may lack it.
func RepeatsNoInput(state *exchange.Response, r Run) error {
	return inputIsOnce(state, r, outcome.WrongValue, "The thread state repeats a message of a completed run after a rollback")
}

// RepeatsNoCompletedInput judges that a state does not have the input of a completed run twice. It may lack it.
func RepeatsNoCompletedInput(state *exchange.Response, r Run) error {
	return inputIsOnce(state, r, outcome.WrongValue, "The thread state repeats a message of a completed run")
}

// RepeatsNoFailedInput judges that a state does not have the input of a failed run twice. It may lack it.
func RepeatsNoFailedInput(state *exchange.Response, r Run) error {
	return inputIsOnce(state, r, outcome.WrongValue, "The thread state repeats a message of a run that has failed")
}

func inputIsOnce(state *exchange.Response, r Run, kind outcome.Kind, summary string) error {
	all := messages.Of(state)
	found := 0
	for _, m := range all {
		if m.Text == r.Text() {
			found++
		}
	}
	if found < 2 {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     kind,
		Summary:  summary,
		Expected: fmt.Sprintf("1 message with the text %q", r.Text()),
		Actual:   fmt.Sprintf("%d such messages; the state has %s", found, messages.Shown(all)),
		Pointer:  atMessages,
	}).Comparing(state, r.Created)
}

// HoldsInOrder judges that a state contains the messages of the runs in the order of the runs (section 2). Other messages
// may be between them, such as those of a run that has failed.
func HoldsInOrder(state *exchange.Response, runs ...Run) error {
	all := messages.Of(state)
	from := 0
	for _, r := range runs {
		at := r.inputIn(all[from:])
		rest := len(all) - from - at - 1
		if at >= 0 && rest >= r.Outputs {
			from += at + 1 + r.Outputs
			continue
		}
		v := outcome.Violation{
			Kind:     outcome.MissingItem,
			Summary:  "The thread state lacks messages of an earlier run",
			Expected: fmt.Sprintf("the input %q and its answer, before those of later runs", r.Text()),
			Actual:   messages.ShownBy(all, ownersOf(all, runs, namesOf(runs))),
			Pointer:  atMessages,
		}
		if r.CompleteIn(state) {
			v.Kind, v.Summary = outcome.WrongOrder, "The thread state has the messages of the runs in the wrong order"
		}
		return outcome.Fails(state, v).Comparing(state, r.Created)
	}
	return nil
}

// HoldsNoMessages judges that the state of a thread without a run has no messages. The interface does not define how a
// server shows such a state. An error status below 500 passes.
func HoldsNoMessages(state *exchange.Response) error {
	all := messages.Of(state)
	if !state.OK() || len(all) == 0 {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.ExtraItem,
		Summary:  "The state of a new thread has messages",
		Expected: "no messages",
		Actual:   messages.Shown(all),
		Pointer:  atMessages,
	})
}

// ShowNothingOf judges that responses to the owner show neither the id nor the text of runs that were rolled back
// (section 3: they are completely deleted from storage). It ignores a text that a run in others has too. A response may
// repeat the id in the path of its request.
func ShowNothingOf(responses []*exchange.Response, removed, others []Run) error {
	for _, a := range responses {
		for _, r := range removed {
			isRepeated := slices.ContainsFunc(others, func(other Run) bool { return other.Text() == r.Text() })
			isEcho := strings.Contains(a.Request.Path, r.ID)
			showsID := a.Status < http.StatusBadRequest && len(r.ID) >= 12 && !isEcho && messages.ContainsText(a, r.ID)
			showsText := !isRepeated && a.Status < http.StatusBadRequest && messages.ContainsText(a, r.Text())
			if !showsID && !showsText {
				continue
			}
			shown := r.ID
			if !showsID {
				shown = r.Text()
			}
			return outcome.Fails(a, outcome.Violation{
				Kind:     outcome.NotRemoved,
				Summary:  nameOf(a.Request) + " shows a run that was rolled back",
				Expected: "nothing of run " + r.ID,
				Check:    &reports.Check{Statuses: []string{"2XX"}, Lacks: []string{shown}},
			})
		}
	}
	return nil
}
