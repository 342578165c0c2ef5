package outcome

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
)

// maxText is the maximum length in bytes of a body in a text. Expected and actual values may be twice as long. They are
// shortened after their first difference is known.
const maxText = 64 << 10

// maxQuote is the maximum length in bytes of a quote in the first line of a description.
const maxQuote = 80

// Seen describes a response in a sentence: "status 404 with {}". The first line has at most one short quote. If the quote
// is not the whole body, the next line has the body. The text may be long: [CutAround] shortens it.
func Seen(a *exchange.Response) string { return fmt.Sprintf("status %d %s", a.Status, content(a, "")) }

// Got describes a response for comparison with an expected one: "404, with {}". It has the same lines as [Seen].
func Got(a *exchange.Response) string { return gotAt(a, "") }

// gotAt is Got with the value at a JSON pointer in the first line.
func gotAt(a *exchange.Response, pointer string) string {
	return fmt.Sprintf("%d, %s", a.Status, content(a, pointer))
}

// content describes the body of a response, or the value at a JSON pointer: "with 20 revisions", "without offset".
func content(a *exchange.Response, pointer string) string {
	body := a.Wire()
	text := oneLine(string(body[:min(len(body), maxText)]))
	switch {
	case text == "":
		return "with an empty body"
	case len(text) <= maxQuote:
		return "with " + text
	case !gjson.ValidBytes(body):
		return "with " + quote(text) + "\n" + text
	case pointer != "" && !valueAt(a, pointer).Exists():
		return "without " + nameOf(pointer) + "\n" + text
	case pointer != "" && !valueAt(a, pointer).IsArray():
		return "with " + nameOf(pointer) + " " + quote(valueAt(a, pointer).Raw) + "\n" + text
	default:
		return "with " + described(gjson.ParseBytes(body)) + "\n" + text
	}
}

// described describes a JSON body that is too long for one line.
func described(body gjson.Result) string {
	if body.IsArray() {
		return describedList(body, "item")
	}
	if revisions := body.Get("resources"); revisions.IsArray() {
		return describedList(revisions, "revision")
	}
	for _, path := range []string{"messages", "values.messages"} {
		messages := body.Get(path)
		if messages.IsArray() {
			return reports.Count(len(messages.Array()), "message")
		}
	}
	if msg := body.Get("detail.0.msg"); msg.Type == gjson.String {
		var location []string
		for _, part := range body.Get("detail.0.loc").Array() {
			location = append(location, part.String())
		}
		return fmt.Sprintf("the error %s at %s", quote(msg.Raw), quote(strings.Join(location, ".")))
	}
	if detail := body.Get("detail"); detail.Type == gjson.String {
		return "the detail " + quote(detail.Raw)
	}
	name, idField := typeOf(body, "revision")
	if id := body.Get(idField).Str; id != "" {
		return "the " + name + " " + quote(id)
	}
	return quote(oneLine(body.Raw[:min(len(body.Raw), maxText)]))
}

// describedList describes a list by the number of its items and the type of the first one.
func describedList(list gjson.Result, byDefault string) string {
	name, _ := typeOf(list.Get("0"), byDefault)
	return reports.Count(len(list.Array()), name)
}

// typeOf returns the type of an object, according to a field that only objects of this type have. It also returns the
// name of its id field.
func typeOf(object gjson.Result, byDefault string) (name, idField string) {
	switch {
	case object.Get("run_id").Exists():
		return "run", "run_id"
	case object.Get("thread_id").Exists():
		return "thread", "thread_id"
	case object.Get("latest_revision_id").Exists():
		return "deployment", "id"
	}
	return byDefault, "id"
}

// quote shortens a text that is too long for one line. JSON is cut between members.
func quote(s string) string {
	switch {
	case len(s) <= maxQuote:
		return s
	case gjson.Valid(s):
		return safe.CutJSON(s, maxQuote)
	}
	return strings.ToValidUTF8(s[:maxQuote], "") + " ..."
}

// SeenShort describes a response in one line.
func SeenShort(a *exchange.Response) string { return firstLine(Seen(a)) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func oneLine(s string) string { return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "") }

// Shown describes a value of a response. For a long object or list, the first line has the beginning and the second line
// the whole text. The text may be long: [CutAround] shortens it.
func Shown(v gjson.Result) string {
	if !v.Exists() {
		return "nothing"
	}
	raw := strings.ToValidUTF8(v.Raw[:min(len(v.Raw), maxText)], "")
	if v.IsObject() || v.IsArray() {
		raw = oneLine(raw)
		if len(raw) > maxQuote {
			return quote(raw) + "\n" + raw
		}
	}
	return raw
}

// maxShown is the maximum length in bytes of a text in a report. Reports show only the beginning in one line, so the
// first difference must be near it. If it is not, the text is cut on the left, so that only a few bytes remain before the
// difference.
const (
	maxShown = 200
	within   = 90
	before   = 40
)

// CutAround shortens an expected and an actual text. Both keep the part around the first difference between the actual
// text and its quote in the expected text. If the actual text has several lines, its first line is short and is not cut.
// If the first lines would be equal, they begin near the first difference of the whole texts.
func CutAround(expected, actual string) (string, string) {
	first, rest, hasMore := strings.Cut(actual, "\n")
	from, same := quotedIn(expected, actual)
	shownExpected, shownActual := window(expected, from+same), window(actual, same)
	if hasMore {
		shownExpected, shownActual = window(expected, 0), first+"\n"+window(rest, 0)
	}
	if firstLine(shownExpected) != firstLine(shownActual) {
		return shownExpected, shownActual
	}
	at := samePrefix(expected, actual)
	if at == len(expected) && at == len(actual) {
		return shownExpected, first + ", which is equal only as text"
	}
	return window(oneLine(expected), at), window(oneLine(actual), at)
}

// samePrefix returns the length in bytes of the common beginning of two texts.
func samePrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// quotedIn returns the offset at which the expected text quotes the actual one, and the length of the quote in bytes.
func quotedIn(expected, actual string) (from, same int) {
	const probe = 16
	skipped := 0
	from = strings.Index(expected, actual[:min(probe, len(actual))])
	if from < 0 && strings.HasPrefix(actual, `"`) { // a JSON string, which the expected text may have without quotes
		skipped, actual = 1, actual[1:]
		from = strings.Index(expected, actual[:min(probe, len(actual))])
	}
	if from < 0 {
		return 0, 0
	}
	same = samePrefix(expected[from:], actual)
	return from - skipped, same + skipped
}

// window returns the part of a text that is shown: the beginning, or the part around a later offset.
func window(s string, at int) string {
	start := 0
	if at > within {
		start = max(0, min(at, len(s))-before)
	}
	cut := s[start:min(start+maxShown, len(s))]
	switch {
	case len(cut) == len(s):
		return s
	case at == 0 && gjson.Valid(s):
		return safe.CutJSON(s, maxShown)
	}
	cut = strings.ToValidUTF8(cut, "")
	if start > 0 {
		cut = "... " + cut
	}
	if start+maxShown < len(s) {
		cut += " ..."
	}
	return cut
}

// shortened returns the arguments of a reason with all texts cut, because a reason must fit in one line.
func shortened(args []any) []any {
	short := make([]any, len(args))
	for i, arg := range args {
		short[i] = arg
		text, isText := arg.(string)
		if isText {
			short[i] = window(firstLine(text), 0)
		}
	}
	return short
}

// valueAt returns the value at a JSON pointer in the body.
func valueAt(a *exchange.Response, pointer string) gjson.Result {
	path := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range path {
		path[i] = gjson.Escape(path[i])
	}
	return gjson.GetBytes(a.Body, strings.Join(path, "."))
}

// nameOf returns a JSON pointer with dots: "values.messages".
func nameOf(pointer string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}
