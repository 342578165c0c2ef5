// Package messages reads the messages of a thread's state. It accepts messages in a wrong form, because one requirement
// judges the form and the others need the texts.
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

// system is the kind of a message that some servers add. The interface does not define it.
const system = "system"

// Message is a message of a thread's state.
type Message struct {
	Kind string // the field type, or "" if it is not a string
	Text string
	ID   string // the field id if it is a string or a number, or "": the interface does not define it
}

// Of returns the messages of a state. It omits a system message at the start, which some servers write into each thread.
// The state of a thread without a run may have no values.
func Of(a *exchange.Response) []Message {
	var all []Message
	for i, item := range a.Get("values.messages").Array() {
		m := Message{Text: textOf(item.Get("content"))}
		kind, id := item.Get("type"), item.Get("id")
		if kind.Type == gjson.String {
			m.Kind = kind.Str
		}
		if id.Type == gjson.String || id.Type == gjson.Number {
			m.ID = id.String()
		}
		if i == 0 && m.Kind == system {
			continue
		}
		all = append(all, m)
	}
	return all
}

// textOf returns the text of a content, which is a string, or an array of strings and objects with a text.
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

// Shown describes messages in readable form. The first line has their number and kinds, and each message has a further
// line. A single message is described in one line.
func Shown(all []Message) string {
	if len(all) < 2 {
		return Brief(all)
	}
	lines := []string{Brief(all)}
	for _, m := range all[:min(len(all), maxShown)] {
		lines = append(lines, Brief([]Message{m}))
	}
	if len(all) > maxShown {
		lines = append(lines, fmt.Sprintf("and %d more", len(all)-maxShown))
	}
	return strings.Join(lines, "\n")
}

// ShownBy is [Shown] with the owner of each message: "4 messages: human, ai of run 1, then human, ai of run 2".
func ShownBy(all []Message, owners []string) string {
	if len(all) == 0 {
		return Brief(all)
	}
	first := fmt.Sprintf("%d messages: ", len(all))
	if len(all) == 1 {
		first = "1 message: "
	}
	var lines []string
	for i, m := range all[:min(len(all), maxShown)] {
		switch {
		case i > 0 && owners[i] != owners[i-1]:
			first += " of " + owners[i-1] + ", then "
		case i > 0:
			first += ", "
		}
		first += cmp.Or(m.Kind, "(no kind)")
		lines = append(lines, Brief([]Message{m}))
	}
	first += " of " + owners[min(len(all), maxShown)-1]
	if len(all) > maxShown {
		first += ", ..."
		lines = append(lines, fmt.Sprintf("and %d more", len(all)-maxShown))
	}
	return first + "\n" + strings.Join(lines, "\n")
}

// maxShown is the maximum number of messages in a description.
const maxShown = 6

// Brief returns the first line of [Shown].
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

// maxUser is the maximum length in bytes of a JSON object that describes a user. It limits the depth that a hostile
// target can make the suite parse.
const maxUser = 64 << 10

// ReportsField reports whether a text that describes a user has this value for the field. The text is a JSON object,
// perhaps with other words around it. Without an object, the text itself must contain the value. Objects in the value may
// have further fields, and fields that are null may be missing.
func ReportsField(text, field string, value any) bool {
	want := gjson.Parse(InJSON(value))
	user := userIn(text)
	if !user.Exists() {
		return strings.Contains(text, want.String())
	}
	isPresent := false
	for way, item := range exchange.Values(user) { // at any depth: custom fields may be in a nested object
		if way[len(way)-1] != field {
			continue
		}
		if matches(item, want) {
			return true
		}
		isPresent = true
	}
	return value == nil && !isPresent
}

// ReportedField returns the first value of a field, as JSON, in a text that describes a user, or "".
func ReportedField(text, field string) string {
	for way, item := range exchange.Values(userIn(text)) {
		if way[len(way)-1] == field {
			return item.Raw
		}
	}
	return ""
}

// InJSON returns a value of a configuration as JSON: "author" in quotes, 3 without.
func InJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value))
	}
	return string(text)
}

// matches reports whether a value equals the wanted one and has the same type. A number or a boolean also equals the
// text that shows it, because a configuration may quote it.
func matches(value, want gjson.Result) bool {
	switch {
	case want.IsObject():
		return value.IsObject() && hasFields(value, want)
	case want.IsArray():
		return value.IsArray() && slices.EqualFunc(value.Array(), want.Array(), matches)
	case want.Type == gjson.Number:
		return value.Type == gjson.Number && isSameNumber(value.Raw, want.Raw)
	case want.Type == gjson.String && value.Type != gjson.String:
		return !value.IsObject() && !value.IsArray() && value.Raw == want.Str
	}
	return value.Type == want.Type && value.Str == want.Str && value.Exists()
}

// hasFields reports whether an object has all wanted fields. A field whose wanted value is null may be missing.
func hasFields(object, want gjson.Result) bool {
	hasAll := true
	want.ForEach(func(key, item gjson.Result) bool {
		value := object.Get(gjson.Escape(key.Str))
		isMissingNull := item.Type == gjson.Null && !value.Exists()
		hasAll = isMissingNull || matches(value, item)
		return hasAll
	})
	return hasAll
}

// isSameNumber reports whether two JSON numbers are equal: integers exactly, others as floating-point numbers.
func isSameNumber(a, b string) bool {
	m, errM := strconv.ParseInt(a, 10, 64)
	n, errN := strconv.ParseInt(b, 10, 64)
	if errM == nil && errN == nil {
		return m == n
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// DescribesUser reports whether a text contains a JSON object, as the description of a user does.
func DescribesUser(text string) bool { return userIn(text).Exists() }

// userIn returns the JSON object in a text, which may have other words around it.
func userIn(text string) gjson.Result {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start < 0 || end < start || end-start >= maxUser {
		return gjson.Result{}
	}
	object := text[start : end+1]
	if !json.Valid([]byte(object)) {
		return gjson.Result{}
	}
	return gjson.Parse(object)
}

// ContainsText reports whether the body of a response contains the text, either literally or in a string of its JSON.
func ContainsText(a *exchange.Response, text string) bool {
	if strings.Contains(string(a.Body), text) {
		return true
	}
	whole := a.Get("@this")
	return strings.Contains(whole.Str, text) || evidence.PointerTo(whole, text) != ""
}
