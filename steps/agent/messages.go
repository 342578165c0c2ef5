package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// The kinds of messages that the interface shows (section 2).
const (
	Human = "human"
	AI    = "ai"
	Tool  = "tool"
)

// Message is one of a thread's state. Its kind is "" where the state does not tell it as the interface wants.
type Message struct{ Kind, Text string }

// MessagesOf reads the messages of a state, leniently: whether they have the right form is one requirement's
// concern, and must not fail all that look for something else. A thread without a run may have no values at all.
func MessagesOf(a *client.Answer) []Message {
	var all []Message
	for _, m := range a.Get("values.messages").Array() {
		kind := ""
		if t := m.Get("type"); t.Type == gjson.String {
			kind = t.Str
		}
		all = append(all, Message{kind, textOf(m.Get("content"))})
	}
	return all
}

// textOf is the text of a message's content: a text, or a list of parts that are texts or have one.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var b strings.Builder
	for _, part := range content.Array() {
		if part.IsObject() {
			part = part.Get("text")
		}
		b.WriteString(part.String())
	}
	return b.String()
}

// HoldsOnly says what is wrong with a state that is to hold the inputs of the runs, each with its answer, in this
// order, and nothing else. It asks for no kinds: they are another requirement's concern.
func HoldsOnly(state *client.Answer, runs ...*GraphRun) error {
	all := MessagesOf(state)
	expected := "the messages of exactly " + reports.Count(len(runs), "run")
	at := 0
	for _, g := range runs {
		for _, input := range g.Inputs {
			if at >= len(all) || all[at].Text != input {
				return outcome.Violated(state, expected, "%s", ShownMessages(all)).At("/values/messages")
			}
			at++
		}
		at += g.outputs()
	}
	if at != len(all) {
		return outcome.Violated(state, expected, "%s", ShownMessages(all)).At("/values/messages")
	}
	return nil
}

// HoldsAnswered says what is wrong with a state that is to hold the run's input and its answer, whatever else it
// holds.
func HoldsAnswered(state *client.Answer, g *GraphRun) error {
	rest, found := g.After(MessagesOf(state))
	if !found || len(rest) < g.outputs() {
		return outcome.Violated(state, fmt.Sprintf("the input %q and the answer to it", g.Text()), "%s", ShownMessages(MessagesOf(state))).At("/values/messages")
	}
	return nil
}

// ShownMessages describes messages for a person.
func ShownMessages(all []Message) string {
	if len(all) == 0 {
		return "no message"
	}
	var b strings.Builder
	for i, m := range all {
		if i == 6 {
			fmt.Fprintf(&b, "; and %d more", len(all)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		text := m.Text
		if len(text) > 60 {
			text = strings.ToValidUTF8(text[:60], "") + "..."
		}
		fmt.Fprintf(&b, "%s %q", orUnknown(m.Kind), text)
	}
	return b.String()
}

func orUnknown(kind string) string {
	if kind == "" {
		return "(no kind)"
	}
	return kind
}

// maxIntroduction bounds the text that is looked through as JSON: the target decides how deep that is.
const maxIntroduction = 64 << 10

// Tells reports whether a text that describes a user gives the field this value. The text is JSON that may stand
// between other words; where there is none, the value is looked for in the words themselves.
func Tells(text, field, value string) bool {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start >= 0 && end > start && end-start < maxIntroduction && json.Valid([]byte(text[start:end+1])) {
		return hasField(gjson.Parse(text[start:end+1]), field, value)
	}
	return strings.Contains(text, value)
}

// hasField looks for a field at any depth: a user object may have its custom fields in an object of their own.
func hasField(object gjson.Result, field, value string) bool {
	found := false
	object.ForEach(func(key, item gjson.Result) bool {
		switch {
		case key.Type == gjson.String && key.Str == field && item.String() == value:
			found = true
		case item.IsObject() || item.IsArray():
			found = found || hasField(item, field, value)
		}
		return !found
	})
	return found
}

// SaysText tells whether an answer's body carries the text: as it is, or as a text within its JSON.
func SaysText(a *client.Answer, text string) bool {
	if strings.Contains(string(a.Body), text) {
		return true
	}
	var value any
	return json.Unmarshal(a.Body, &value) == nil && holdsText(value, text)
}

func holdsText(value any, text string) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, text)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return holdsText(v, text) })
	case map[string]any:
		for _, v := range value {
			if holdsText(v, text) {
				return true
			}
		}
	}
	return false
}
