package outcome

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// How much of a text is shown, and how much of that precedes the place where it differs.
const (
	maxShown = 200
	before   = 60
)

// CutAround shortens an expected and an actual text so that both keep the place where the actual text, which the
// expected one may quote, first differs from it. The first line of several stays: it is short.
func CutAround(expected, actual string) (string, string) {
	if first, rest, more := strings.Cut(actual, "\n"); more {
		return window(expected, 0), first + "\n" + window(rest, 0)
	}
	from, same := quotedIn(expected, actual)
	return window(expected, from+same), window(actual, same)
}

// quotedIn finds where the expected text begins to say what the actual one does, and for how long the two agree.
func quotedIn(expected, actual string) (from, same int) {
	const probe = 16
	skipped := 0
	from = strings.Index(expected, actual[:min(probe, len(actual))])
	if from < 0 && strings.HasPrefix(actual, `"`) { // a JSON text, which the expected one may say without the quotes
		skipped, actual = 1, actual[1:]
		from = strings.Index(expected, actual[:min(probe, len(actual))])
	}
	if from < 0 {
		return 0, 0
	}
	for same < len(actual) && from+same < len(expected) && actual[same] == expected[from+same] {
		same++
	}
	return from - skipped, same + skipped
}

// window is what is shown of a text: the beginning, or what surrounds a later place.
func window(s string, at int) string {
	if len(s) <= maxShown {
		return s
	}
	if at <= maxShown-before {
		return strings.ToValidUTF8(s[:maxShown], "") + " ..."
	}
	start := min(at-before, len(s)-maxShown)
	end := start + maxShown
	cut := "... " + strings.ToValidUTF8(s[start:end], "")
	if end < len(s) {
		cut += " ..."
	}
	return cut
}

// shortened cuts the texts among the arguments of a reason, which is one line.
func shortened(args []any) []any {
	short := make([]any, len(args))
	for i, arg := range args {
		if text, is := arg.(string); is {
			arg = window(firstLine(text), 0)
		}
		short[i] = arg
	}
	return short
}

// valueAt is the value at a JSON pointer into the body.
func valueAt(a *client.Answer, pointer string) gjson.Result {
	path := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range path {
		path[i] = gjson.Escape(path[i])
	}
	return gjson.GetBytes(a.Body, strings.Join(path, "."))
}

// nameOf is a JSON pointer as people write it: values.messages.
func nameOf(pointer string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}
