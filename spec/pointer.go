package spec

import (
	"strconv"
	"strings"
)

// maxPointer bounds a pointer, in bytes, but for its last segment: names of fields may be the target's.
const maxPointer = 1 << 10

// pointerTo writes a location within a value as a JSON pointer.
func pointerTo(location []string) string {
	var b strings.Builder
	for _, step := range location {
		if b.Len() <= maxPointer {
			b.WriteByte('/')
			b.WriteString(escapePointer(step))
		}
	}
	return b.String()
}

// valueAt is what is at a location within a value.
func valueAt(value any, location []string) any {
	for _, step := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			if index, err := strconv.Atoi(step); err == nil && index < len(v) {
				value = v[index]
			}
		}
	}
	return value
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// escapePointer writes a segment of a pointer; of a very long one the beginning.
func escapePointer(segment string) string {
	if len(segment) > maxPointer {
		segment = strings.ToValidUTF8(segment[:maxPointer], "") + ellipsis
	}
	return pointerEscaper.Replace(segment)
}
