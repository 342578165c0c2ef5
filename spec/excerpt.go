package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// excerptLimit is the maximum number of runes that a violation quotes of a value.
const excerptLimit = 80

const ellipsis = "…"

// excerpt returns the beginning of a value as JSON. It stops at the limit, so that large values cost no more.
func excerpt(value any) string {
	var e excerpter
	e.value(value)
	return clip(e.String())
}

// excerptText returns the quoted beginning of a text that is not JSON.
func excerptText(s string) string { return clip(quote(s)) }

func excerptBytes(body []byte) string {
	if len(body) == 0 {
		return "no body"
	}
	return excerptText(string(body[:min(len(body), 4*excerptLimit)]))
}

// excerptAt returns the quoted text at an offset, with some text before it.
func excerptAt(body []byte, offset int) string {
	if offset >= len(body) {
		return "the end"
	}
	part := body[max(0, offset-16):min(len(body), offset+32)]
	return quote(strings.ToValidUTF8(string(part), "")) // without incomplete characters at its ends
}

// quote returns a quoted text with control characters escaped, so that the text of a target is safe to print.
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

// manyFields is the size above which only the number of fields is written, since their keys would have to be sorted.
const manyFields = 64

type excerpter struct{ strings.Builder }

// next begins member i of an object or an array. It reports false at the limit.
func (e *excerpter) next(i int) bool {
	if i > 0 {
		e.WriteByte(',')
	}
	return e.Len() <= 4*excerptLimit
}

func (e *excerpter) value(value any) {
	switch v := value.(type) {
	case nil:
		e.WriteString("null")
	case string:
		e.WriteString(quote(v))
	case map[string]any:
		if len(v) > manyFields {
			fmt.Fprintf(e, "{%d fields}", len(v))
			return
		}
		e.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if !e.next(i) {
				break
			}
			e.WriteString(quote(key) + ":")
			e.value(v[key])
		}
		e.WriteByte('}')
	case []any:
		e.WriteByte('[')
		for i, item := range v {
			if !e.next(i) {
				break
			}
			e.value(item)
		}
		e.WriteByte(']')
	default: // bool, int64, float64
		fmt.Fprint(e, v)
	}
}
