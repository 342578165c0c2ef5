package agentserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// maxIntroduction bounds the text that is looked through as JSON: the target decides how deep that is.
const maxIntroduction = 64 << 10

// reportsField reports whether a text that describes a user gives the field this value. The text is JSON that may stand
// between other words; where there is none, the value is looked for in the words themselves.
func reportsField(text, field, value string) bool {
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start >= 0 && end > start && end-start < maxIntroduction && json.Valid([]byte(text[start:end+1])) {
		return hasField(gjson.Parse(text[start:end+1]), field, value)
	}
	return strings.Contains(text, value)
}

// hasField looks for a field at any depth: a user object may have its custom fields in a nested object.
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

// containsText tells whether an answer's body contains the text: as it is, or within a string of its JSON.
func containsText(a *client.Answer, text string) bool {
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
