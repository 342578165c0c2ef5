package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// excerptLimit is how many runes of a value a violation quotes.
const excerptLimit = 80

const ellipsis = "…"

// excerpt writes a value as JSON and stops when enough is written, however large the value is.
func excerpt(value any) string {
	var e excerpter
	e.value(value)
	return clip(e.b.String())
}

// excerptText quotes a text that is not JSON.
func excerptText(s string) string { return clip(quote(s)) }

func excerptBytes(body []byte) string {
	if len(body) == 0 {
		return "no body"
	}
	return excerptText(string(body[:min(len(body), 4*excerptLimit)]))
}

// excerptAt quotes the text at an offset, with some text before it.
func excerptAt(body []byte, offset int) string {
	if offset >= len(body) {
		return "the end"
	}
	low, high := max(0, offset-16), min(len(body), offset+32)
	for low < offset && !utf8.RuneStart(body[low]) {
		low++
	}
	for high < len(body) && high > offset+1 && !utf8.RuneStart(body[high]) {
		high--
	}
	return quote(strings.ToValidUTF8(string(body[low:high]), "\uFFFD"))
}

// quote escapes control characters, so that no text of a target can do harm where it is shown.
func quote(s string) string {
	if len(s) > 4*excerptLimit {
		s = s[:4*excerptLimit]
	}
	return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD"))
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= excerptLimit {
		return s
	}
	runes := []rune(s)
	return string(runes[:excerptLimit-1]) + ellipsis
}

type excerpter struct{ b strings.Builder }

func (e *excerpter) full() bool { return e.b.Len() > 4*excerptLimit }

// manyFields is the size above which an object is only counted: its keys would have to be sorted first.
const manyFields = 64

func (e *excerpter) value(value any) {
	switch v := value.(type) {
	case nil:
		e.b.WriteString("null")
	case string:
		e.b.WriteString(quote(v))
	case map[string]any:
		e.object(v)
	case []any:
		e.array(v)
	default: // bool, int64, float64
		fmt.Fprint(&e.b, v)
	}
}

func (e *excerpter) object(fields map[string]any) {
	if len(fields) > manyFields {
		fmt.Fprintf(&e.b, "{%d fields}", len(fields))
		return
	}
	e.b.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(fields)) {
		if e.full() {
			break
		}
		if i > 0 {
			e.b.WriteByte(',')
		}
		e.b.WriteString(quote(key))
		e.b.WriteByte(':')
		e.value(fields[key])
	}
	e.b.WriteByte('}')
}

func (e *excerpter) array(items []any) {
	e.b.WriteByte('[')
	for i, item := range items {
		if e.full() {
			break
		}
		if i > 0 {
			e.b.WriteByte(',')
		}
		e.value(item)
	}
	e.b.WriteByte(']')
}
