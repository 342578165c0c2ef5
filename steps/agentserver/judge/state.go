// Package judge has the judgements about the agent server: functions of values (responses, messages, what was
// configured) that return nil, a violation, or an inconclusive outcome. They send nothing, so that a table test reaches
// each of them. One file per feature; start with [HoldsOnly].
package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// atMessages is the pointer to the messages of a state.
const atMessages = "/values/messages"

// graphHint is for a violation that a wrong graph can cause.
const graphHint = "correct the graph that assistant_id names (agentconform graph writes a correct one)"

// StateIsServed judges that the state of a thread of the user returns 2xx.
func StateIsServed(a *exchange.Response) error {
	if err := AcceptsCredentials(a); err != nil {
		return err
	}
	if a.OK() {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     notServed(a),
		Summary:  fmt.Sprintf("GET of the thread state returns %d while a run is in progress", a.Status),
		Expected: "2xx", Check: outcome.Statuses("2XX"),
	})
}

// EachShows judges the states that were read during the second run of a thread. Each must show a message of the first
// run, which had completed, or of the second one. Refused reads are not judged.
func EachShows(states []*exchange.Response, first, second Run) error {
	served := 0
	for _, a := range states {
		if !a.OK() {
			continue
		}
		served++
		all := messages.Of(a)
		if slices.ContainsFunc(all, first.isRepeatedBy) || slices.ContainsFunc(all, second.isRepeatedBy) {
			continue
		}
		return outcome.Fails(a, outcome.Violation{
			Kind:     outcome.MissingItem,
			Summary:  "The thread state shows neither the completed run nor the one in progress",
			Expected: fmt.Sprintf("a message that contains %q or %q", first.Text(), second.Text()),
			Actual:   messages.Shown(all),
			Pointer:  atMessages,
		}).Comparing(a, second.Created)
	}
	if served == 0 {
		return outcome.Inapplicable("states during a run", "the server returns no state during a run (AS-STATE-6)")
	}
	return nil
}

// HasMessages judges that a state has a non-empty array of messages (section 2).
func HasMessages(a *exchange.Response) error {
	list := a.Get("values.messages")
	if a.OK() && list.IsArray() && len(list.Array()) > 0 {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.Missing,
		Summary:  "The thread state has no messages",
		Expected: "a non-empty array in values.messages",
		Pointer:  atMessages,
	})
}

// HaveForm judges that each message of a state has a type and a content (section 2). The content is a string or an
// array of parts.
func HaveForm(a *exchange.Response) error {
	for i, m := range a.Get("values.messages").Array() {
		kind, content := m.Get("type"), m.Get("content")
		switch {
		case kind.Type != gjson.String || kind.Str == "":
			return wrongForm(a, m, i, "type", "a non-empty string in type")
		case content.Type != gjson.String && !content.IsArray():
			return wrongForm(a, m, i, "content", "a string or an array in content")
		}
	}
	return nil
}

func wrongForm(a *exchange.Response, m gjson.Result, i int, field, expected string) error {
	v := outcome.Violation{
		Kind:     outcome.WrongForm,
		Summary:  fmt.Sprintf("The %s of message %d has the wrong form", field, i+1),
		Expected: expected,
		Actual:   outcome.Shown(m.Get(field)),
		Pointer:  fmt.Sprintf("%s/%d/%s", atMessages, i, field),
	}
	if !m.Get(field).Exists() {
		v.Kind = outcome.Missing
		v.Summary = fmt.Sprintf("Message %d has no %s", i+1, field)
	}
	return outcome.Fails(a, v)
}

// HoldsKinds judges that the messages of a state have the types, in this order: "human, ai" (section 2).
func HoldsKinds(a *exchange.Response, kinds string) error {
	return areOfKinds(a, messages.Of(a), kinds)
}

// EndsWithKinds judges that the last messages of a state have the types in kinds.
func EndsWithKinds(a *exchange.Response, kinds string) error {
	all := messages.Of(a)
	return areOfKinds(a, all[max(0, len(all)-len(strings.Split(kinds, ", "))):], kinds)
}

func areOfKinds(a *exchange.Response, all []messages.Message, kinds string) error {
	var found []string
	for _, m := range all {
		found = append(found, m.Kind)
	}
	if strings.Join(found, ", ") == kinds {
		return nil
	}
	wanted := strings.Split(kinds, ", ")
	v := outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  "The messages of the thread state have the wrong types",
		Expected: fmt.Sprintf("%s: %s", reports.Count(len(wanted), "message"), kinds),
		Actual:   messages.Shown(all),
		Pointer:  atMessages,
		Hint:     "correct the messages of the state, or " + graphHint,
	}
	slices.Sort(wanted)
	slices.Sort(found)
	switch {
	case len(found) < len(wanted):
		v.Kind = outcome.MissingItem
		v.Summary = "The thread state lacks " + reports.Count(len(wanted)-len(found), "message")
	case len(found) > len(wanted):
		v.Kind = outcome.ExtraItem
		v.Summary = fmt.Sprintf("The thread state has %s too many", reports.Count(len(found)-len(wanted), "message"))
	case slices.Equal(found, wanted):
		v.Kind = outcome.WrongOrder
		v.Summary = "The messages of the thread state have the wrong order"
	}
	return outcome.Fails(a, v)
}

// HumansAreInput judges that the human messages of a state are the inputs of the run, in order (section 2). classes are
// the classes of the first inputs.
func HumansAreInput(a *exchange.Response, r Run, classes ...string) error {
	var humans []string
	for _, m := range messages.Of(a) {
		if m.Kind == messages.Human {
			humans = append(humans, m.Text)
		}
	}
	if slices.Equal(humans, r.Inputs) {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  "The thread state lacks human messages that were sent",
		Expected: reports.Count(len(r.Inputs), "human message"),
		Actual:   reports.Count(len(humans), "human message"),
		Pointer:  atMessages,
	}
	if len(humans) > len(r.Inputs) {
		v.Kind = outcome.ExtraItem
		v.Summary = "The thread state has human messages that were not sent"
	}
	for i := range min(len(r.Inputs), len(humans)) {
		if r.Inputs[i] == humans[i] {
			continue
		}
		class := ""
		if i < len(classes) {
			v.Class = classes[i]
			class = " (" + v.Class + ")"
		}
		v.Kind = outcome.WrongValue
		v.Summary = fmt.Sprintf("Human message %d%s is not stored as it was sent", i+1, class)
		v.Expected, v.Actual = quoted(r.Inputs[i], humans[i])
		break
	}
	return outcome.Fails(a, v).Comparing(a, r.Created)
}

// quoted returns two texts in quotes. Texts that differ in characters beyond ASCII or in combining marks may look alike, so
// their characters are escaped.
func quoted(expected, actual string) (string, string) {
	e, a := []rune(expected), []rune(actual)
	at := 0
	for at < len(e) && at < len(a) && e[at] == a[at] {
		at++
	}
	isBeyond := func(text []rune) bool { return at < len(text) && text[at] > unicode.MaxASCII }
	isMark := func(r rune) bool { return unicode.Is(unicode.Mn, r) }
	if isBeyond(e) && isBeyond(a) || strings.ContainsFunc(expected+actual, isMark) {
		return strconv.QuoteToASCII(expected), strconv.QuoteToASCII(actual)
	}
	return strconv.Quote(expected), strconv.Quote(actual)
}

// HasAllHumans judges that a state has a human message for each input of the run. Its text is not compared, because a
// server may have replaced or removed characters.
func HasAllHumans(a *exchange.Response, r Run) error {
	count := 0
	all := messages.Of(a)
	for _, m := range all {
		if m.Kind == messages.Human {
			count++
		}
	}
	if count >= len(r.Inputs) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  "The thread state lacks a human message that was sent",
		Expected: reports.Count(len(r.Inputs), "human message"),
		Actual:   fmt.Sprintf("%d in %s", count, messages.Shown(all)),
		Pointer:  atMessages,
	}).Comparing(a, r.Created)
}

// LastRepeats judges that the last message of a state repeats the last input of the run, as the conformance graph does.
func LastRepeats(a *exchange.Response, r Run) error {
	last := ""
	if all := messages.Of(a); len(all) > 0 {
		last = all[len(all)-1].Text
	}
	if strings.Contains(last, r.Text()) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  "The last message of the thread does not repeat the input",
		Expected: "an answer that repeats " + strconv.Quote(r.Text()),
		Actual:   strconv.Quote(last),
		Pointer:  atMessages,
		Hint:     graphHint,
	})
}

// HoldsAnswered judges that a state contains the input of the run and its answer. Further messages are allowed.
func HoldsAnswered(state *exchange.Response, r Run) error {
	if r.CompleteIn(state) {
		return nil
	}
	all, wrote := messages.Of(state), len(r.Wrote(state))
	summary := "The thread state lacks the answer of the run"
	expected := fmt.Sprintf("the input %q and its answer", r.Text())
	if r.Outputs > 1 {
		expected = fmt.Sprintf("the input %q and the %d messages that the run wrote", r.Text(), r.Outputs)
	}
	var check *reports.Check
	switch {
	case wrote > 0: // any message may be missing, such as the message of a tool
		summary = fmt.Sprintf("The thread state lacks %d of the %d messages that the run wrote", r.Outputs-wrote, r.Outputs)
	case r.inputIn(all) < 0:
		summary = "The thread state lacks the input of the run"
		if !messages.ContainsText(state, r.Text()) {
			check = &reports.Check{Statuses: []string{"2XX"}, Requires: []string{r.Text()}}
		}
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  summary,
		Expected: expected,
		Actual:   messages.ShownBy(all, ownersOf(all, []Run{r}, namesOf([]Run{r}))),
		Pointer:  atMessages,
		Check:    check,
	}).Comparing(state, r.Created)
}

// HoldsOnly judges that a state contains the inputs of the runs, each followed by its answer, in this order, and nothing
// else. It ignores the types of the messages, which another requirement judges.
func HoldsOnly(state *exchange.Response, runs ...Run) error {
	all := messages.Of(state)
	kind, summary := difference(all, runs)
	if kind == "" {
		return nil
	}
	o := outcome.Fails(state, outcome.Violation{
		Kind:     kind,
		Summary:  summary,
		Expected: messagesOf(runs),
		Actual:   messages.ShownBy(all, ownersOf(all, runs, namesOf(runs))),
		Pointer:  atMessages,
	})
	if len(runs) > 0 {
		o = o.Comparing(state, runs[len(runs)-1].Created)
	}
	return o
}

// AreOnly reports whether messages are the inputs of the runs, each followed by its answer, in this order, and nothing
// else.
func AreOnly(all []messages.Message, runs ...Run) bool {
	kind, _ := difference(all, runs)
	return kind == ""
}

// difference returns the first difference between messages and those of the runs, or "".
func difference(all []messages.Message, runs []Run) (kind outcome.Kind, summary string) {
	at := 0
	for _, r := range runs {
		for _, input := range r.Inputs {
			isInput := func(m messages.Message) bool { return m.Text == input }
			more := slices.IndexFunc(all[min(at, len(all)):], isInput)
			switch {
			case more > 0:
				return outcome.ExtraItem, fmt.Sprintf("The thread state has %s too many before an input",
					reports.Count(more, "message"))
			case more < 0 && slices.ContainsFunc(all, isInput):
				return outcome.MissingItem, "The thread state lacks a message before an input"
			case more < 0:
				return outcome.MissingItem, "The thread state lacks an input of a run"
			}
			at++
		}
		at += r.Outputs
	}
	switch {
	case at > len(all):
		last, missing := runs[len(runs)-1].Outputs, at-len(all)
		if missing < last {
			return outcome.MissingItem, fmt.Sprintf("The thread state lacks %d of the %d messages that a run wrote", missing, last)
		}
		return outcome.MissingItem, "The thread state lacks the answer of a run"
	case at < len(all):
		return outcome.ExtraItem, fmt.Sprintf("The thread state has %s too many at its end", reports.Count(len(all)-at, "message"))
	}
	return "", ""
}

// Kept has the runs whose messages a thread must keep.
type Kept struct {
	Foreign  string // the text of a request that was refused, or ""
	Add      bool   // runs add their messages to those of earlier runs, which is a SHOULD (AS-STATE-3)
	Complete bool   // all of the runs are known to have completed
}

// HoldsKept judges that a state contains only the messages of the user's runs (section 5). If runs do not add to the
// messages of earlier runs, a different state proves nothing, unless it shows the foreign text or a run is not complete.
func HoldsKept(state *exchange.Response, k Kept, runs ...Run) error {
	err := HoldsOnly(state, runs...)
	if err == nil {
		return nil
	}
	all := messages.Of(state)
	isForeign := func(m messages.Message) bool { return k.Foreign != "" && strings.Contains(m.Text, k.Foreign) }
	if slices.ContainsFunc(all, isForeign) {
		owners := ownersOf(all, runs, namesOf(runs))
		for i, m := range all {
			if isForeign(m) {
				owners[i] = "the refused request"
			}
		}
		return outcome.Fails(state, outcome.Violation{
			Kind:     outcome.Leak,
			Summary:  "The thread state shows a message of a refused request",
			Expected: messagesOf(runs),
			Actual:   messages.ShownBy(all, owners),
			Pointer:  atMessages,
		}).Comparing(state, runs[len(runs)-1].Created)
	}
	if k.Add || !k.Complete {
		return err
	}
	return nil
}
