package spec

import (
	"fmt"
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

// escapePointer writes a segment of a pointer; of a very long one only its size, since a part of it could be a part of a
// secret.
func escapePointer(segment string) string {
	if len(segment) > maxPointer {
		return fmt.Sprintf("(a name of %d bytes)", len(segment))
	}
	return pointerEscaper.Replace(segment)
}
