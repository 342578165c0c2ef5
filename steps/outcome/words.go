package outcome

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// maxText bounds a text that quotes an answer, and twice that one that holds such a text. What people are shown of it
// is cut where it is known what differs.
const maxText = 64 << 10

// maxQuote is how much of a text of the target stands in the first line of what was seen, in bytes.
const maxQuote = 80

// Seen describes an answer for a person: in the first line what it is, with one short quote at most; below it the body
// as it was received, where the first line does not hold all of it. The text may be long: [CutAround] shortens it.
func Seen(a *exchange.Response) string { return seenAt(a, "") }

// seenAt is Seen with the value at a JSON pointer in the first line.
func seenAt(a *exchange.Response, pointer string) string {
	body := a.Wire()
	text := oneLine(string(body[:min(len(body), maxText)]))
	switch first := fmt.Sprintf("status %d with ", a.Status); {
	case text == "":
		return first + "an empty body"
	case len(text) <= maxQuote:
		return first + text
	case !gjson.ValidBytes(body):
		return first + quote(text) + "\n" + text
	case pointer != "" && !valueAt(a, pointer).Exists():
		return fmt.Sprintf("status %d without %s\n%s", a.Status, nameOf(pointer), text)
	case pointer != "" && !valueAt(a, pointer).IsArray():
		return first + nameOf(pointer) + " " + quote(valueAt(a, pointer).Raw) + "\n" + text
	default:
		return first + described(gjson.ParseBytes(body)) + "\n" + text
	}
}

// described says what a long body is.
func described(body gjson.Result) string {
	for _, path := range []string{"@this", "resources"} {
		if list := body.Get(path); list.IsArray() {
			otherwise := map[string]string{"@this": "item", "resources": "revision"}[path]
			return "a list of " + reports.Count(len(list.Array()), kindOf(list.Get("0"), otherwise))
		}
	}
	for _, path := range []string{"messages", "values.messages"} {
		if list := body.Get(path); list.IsArray() {
			return reports.Count(len(list.Array()), "message")
		}
	}
	if msg := body.Get("detail.0.msg"); msg.Type == gjson.String {
		var places []string
		for _, part := range body.Get("detail.0.loc").Array() {
			places = append(places, part.String())
		}
		return fmt.Sprintf("the error %s at %s", quote(msg.Raw), quote(strings.Join(places, ".")))
	}
	if detail := body.Get("detail"); detail.Type == gjson.String {
		return "the detail " + quote(detail.Raw)
	}
	if id := cmp.Or(body.Get("run_id").Str, body.Get("thread_id").Str, body.Get("id").Str); id != "" {
		return "the " + kindOf(body, "revision") + " " + quote(id)
	}
	return quote(oneLine(body.Raw[:min(len(body.Raw), 2*maxQuote)]))
}

// kindOf is what an object is, by a field that only its like have.
func kindOf(object gjson.Result, otherwise string) string {
	for _, k := range [][2]string{{"run_id", "run"}, {"thread_id", "thread"}, {"latest_revision_id", "deployment"}} {
		if object.Get(k[0]).Exists() {
			return k[1]
		}
	}
	return otherwise
}

// quote is the beginning of a text that is too long for one line.
func quote(s string) string {
	if len(s) <= maxQuote {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuote], "") + " ..."
}

// SeenShort describes an answer in one line.
func SeenShort(a *exchange.Response) string { return firstLine(Seen(a)) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func oneLine(s string) string { return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "") }

// Shown describes a value of an answer: an object or a list that is long by its beginning, and below it the whole. The
// text may be long: [CutAround] shortens it.
func Shown(v gjson.Result) string {
	if !v.Exists() {
		return "nothing"
	}
	raw := strings.ToValidUTF8(v.Raw[:min(len(v.Raw), maxText)], "")
	if v.IsObject() || v.IsArray() {
		if raw = oneLine(raw); len(raw) > maxQuote {
			return quote(raw) + "\n" + raw
		}
	}
	return raw
}

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
func valueAt(a *exchange.Response, pointer string) gjson.Result {
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
