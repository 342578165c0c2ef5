package outcome

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// Seen describes an answer in a few words for a person.
func Seen(a *client.Answer) string {
	text := strings.Join(strings.Fields(string(a.Body)), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + " ..."
	}
	if text == "" {
		return fmt.Sprintf("status %d with an empty body", a.Status)
	}
	return fmt.Sprintf("status %d with %s", a.Status, text)
}

// Shown describes a value of an answer.
func Shown(v gjson.Result) string {
	if !v.Exists() {
		return "nothing"
	}
	text := v.Raw
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + " ..."
	}
	return text
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
