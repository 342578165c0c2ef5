package outcome

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// maxText bounds a text that quotes an answer. What people are shown of it is cut where it is known what differs.
const maxText = 64 << 10

// Seen describes an answer for a person, as it was received. The text may be long: [CutAround] shortens it.
func Seen(a *client.Answer) string {
	body := a.Wire()
	text := oneLine(string(body[:min(len(body), maxText)]))
	if text == "" {
		return fmt.Sprintf("status %d with an empty body", a.Status)
	}
	return fmt.Sprintf("status %d with %s", a.Status, text)
}

// bounded cuts a text that holds one of the target where that exceeds all bounds.
func bounded(s string) string {
	if len(s) <= 2*maxText {
		return s
	}
	return strings.ToValidUTF8(s[:2*maxText], "")
}

// SeenShort describes an answer in a few words.
func SeenShort(a *client.Answer) string { return window(Seen(a), 0) }

func oneLine(s string) string { return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "") }

// Shown describes a value of an answer. The text may be long: [CutAround] shortens it.
func Shown(v gjson.Result) string {
	if !v.Exists() {
		return "nothing"
	}
	return strings.ToValidUTF8(v.Raw[:min(len(v.Raw), maxText)], "")
}

// Quoted lists texts, each in quotation marks.
func Quoted(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strconv.Quote(w)
	}
	return strings.Join(all, ", ")
}
