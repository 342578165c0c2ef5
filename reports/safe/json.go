package safe

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// CutJSON returns compact JSON of at most limit characters, which must be at least 1. It omits whole members and elements,
// for which "…" stands: `{"offset":1,"resources":[{"id":"a",…},…]}`. Only a string that is the first value is cut itself. A
// text that is not valid JSON is shortened as [Ellipsis] does. The result is valid UTF-8, but may contain characters that
// [Visible] replaces.
func CutJSON(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(s)) != nil {
		return Ellipsis(s, limit)
	}
	text, _ := cutValue(gjson.Parse(compact.String()), limit, true)
	return text
}

// cutValue returns a value in at most room characters, and reports whether it is complete. first is set if no other value
// precedes it.
func cutValue(value gjson.Result, room int, first bool) (text string, whole bool) {
	if len(value.Raw) <= 4*room && utf8.RuneCountInString(value.Raw) <= room {
		return value.Raw, true
	}
	if value.Type == gjson.String && first {
		return cutString(value.Str, room), false
	}
	if !value.IsObject() && !value.IsArray() || room < 3 {
		return "…", false
	}
	var b strings.Builder
	b.WriteByte(value.Raw[0])
	room -= 2 // for the brackets
	isCut := false
	value.ForEach(func(name, element gjson.Result) bool {
		separator, prefix := "", ""
		if b.Len() > 1 {
			separator = ","
		}
		if value.IsObject() {
			prefix = name.Raw + ":"
		}
		part := "…"
		left := room - utf8.RuneCountInString(separator+prefix) - 2 // for ",…"
		if !isCut && left > 0 {
			part, whole = cutValue(element, left, first && b.Len() == 1)
			isCut = !whole
		}
		if part == "…" {
			b.WriteString(separator + "…")
			return false
		}
		b.WriteString(separator + prefix + part)
		room -= utf8.RuneCountInString(separator + prefix + part)
		return true
	})
	b.WriteByte(value.Raw[len(value.Raw)-1])
	return b.String(), false
}

// cutString returns the beginning of a string as JSON of at most room characters.
func cutString(s string, room int) string {
	s = Prefix(s, 4*room)
	for n := room - 2; n > 1; n-- { // escapes may make it longer
		var quoted strings.Builder
		encoder := json.NewEncoder(&quoted)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(Ellipsis(s, n))
		text := strings.TrimSuffix(quoted.String(), "\n")
		if err == nil && utf8.RuneCountInString(text) <= room {
			return text
		}
	}
	return "…"
}
