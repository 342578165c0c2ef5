// Package messages reads the messages of a thread's state, and what they say, leniently: whether they have the right
// form is one requirement's concern.
package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
)

// The kinds of messages that the interface shows (section 2).
const (
	Human = "human"
	AI    = "ai"
	Tool  = "tool"
)

// Message is a message of a thread's state.
type Message struct {
	Kind string // "" if the state does not show it as the interface requires
	Text string
	ID   string // a string or a number, or "": the interface shows no ids of messages
}

// Of reads the messages of a state. A thread without a run may have no values at all.
func Of(a *exchange.Response) []Message {
	var all []Message
	for _, m := range a.Get("values.messages").Array() {
		kind := ""
		if t := m.Get("type"); t.Type == gjson.String {
			kind = t.Str
		}
		id := ""
		if t := m.Get("id"); t.Type == gjson.String || t.Type == gjson.Number {
			id = t.String()
		}
		all = append(all, Message{Kind: kind, Text: textOf(m.Get("content")), ID: id})
	}
	return all
}

// textOf is the text of a message's content: a string, or an array of parts that are strings or have a text.
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

// Shown describes messages for a person: how many and of which kinds in the first line, then each in a line of its own.
// One is described in one line.
func Shown(all []Message) string {
	if len(all) < 2 {
		return Brief(all)
	}
	lines := []string{Brief(all)}
	for _, m := range all[:min(len(all), maxShown)] {
		lines = append(lines, Brief([]Message{m}))
	}
	if more := len(all) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// maxShown is how many messages are shown of a state.
const maxShown = 6

// Brief is the first line of [Shown].
func Brief(all []Message) string {
	switch len(all) {
	case 0:
		return "no message"
	case 1:
		text := all[0].Text
		if len(text) > 60 {
			text = strings.ToValidUTF8(text[:60], "") + "..."
		}
		return fmt.Sprintf("%s %q", cmp.Or(all[0].Kind, "(no kind)"), text)
	}
	var kinds []string
	for _, m := range all[:min(len(all), maxShown)] {
		kinds = append(kinds, cmp.Or(m.Kind, "(no kind)"))
	}
	if len(all) > maxShown {
		kinds = append(kinds, "...")
	}
	return fmt.Sprintf("%d messages: %s", len(all), strings.Join(kinds, ", "))
}

// maxIntroduction bounds the text that is looked through as JSON: the target decides how deep that is.
const maxIntroduction = 64 << 10

// ReportsField reports whether a text that describes a user gives the field this value. The text is JSON that may stand
// between other words; where there is none, the value is looked for in the words themselves. An object may have more
// than the value has, and a field that is null may be missing.
func ReportsField(text, field string, value any) bool {
	wanted := InJSON(value)
	if user := userIn(text); user.Exists() {
		return hasField(user, field, func(item gjson.Result) bool { return holds(item, gjson.Parse(wanted)) }) ||
			value == nil && !hasField(user, field, func(gjson.Result) bool { return true })
	}
	return strings.Contains(text, gjson.Parse(wanted).String())
}

// InJSON is a value of a configuration as JSON: "author" in quotes, 3 without.
func InJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value))
	}
	return string(text)
}

// holds tells whether a value is the wanted one, of the same type; a number or a boolean may be wanted as text.
func holds(value, wanted gjson.Result) bool {
	switch {
	case wanted.IsObject():
		all := value.IsObject()
		wanted.ForEach(func(key, item gjson.Result) bool {
			is := value.Get(gjson.Escape(key.Str))
			all = all && (holds(is, item) || item.Type == gjson.Null && !is.Exists())
			return all
		})
		return all
	case wanted.IsArray():
		return value.IsArray() && slices.EqualFunc(value.Array(), wanted.Array(), holds)
	case wanted.Type == gjson.Number:
		return value.Type == gjson.Number && sameNumber(value.Raw, wanted.Raw)
	}
	if wanted.Type == gjson.String && value.Type != gjson.String { // a configuration may quote a number
		return !value.IsObject() && !value.IsArray() && value.Raw == wanted.Str
	}
	return value.Type == wanted.Type && value.Str == wanted.Str && value.Exists()
}

func sameNumber(a, b string) bool {
	m, errM := strconv.ParseInt(a, 10, 64)
	n, errN := strconv.ParseInt(b, 10, 64)
	if errM == nil && errN == nil {
		return m == n
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// DescribesUser tells whether a text holds a JSON object, as one that describes a user does.
func DescribesUser(text string) bool { return userIn(text).Exists() }

func userIn(text string) (user gjson.Result) {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start >= 0 && end > start && end-start < maxIntroduction && json.Valid([]byte(text[start:end+1])) {
		user = gjson.Parse(text[start : end+1])
	}
	return user
}

// hasField looks for a field at any depth: a user object may have its custom fields in a nested object.
func hasField(object gjson.Result, field string, is func(gjson.Result) bool) bool {
	for way, item := range exchange.Values(object) {
		if way[len(way)-1] == field && is(item) {
			return true
		}
	}
	return false
}

// ContainsText tells whether an answer's body contains the text: as it is, or within a string of its JSON.
func ContainsText(a *exchange.Response, text string) bool {
	if strings.Contains(string(a.Body), text) {
		return true
	}
	whole := a.Get("@this")
	return strings.Contains(whole.Str, text) || evidence.PointerTo(whole, text) != ""
}
