package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// maxPointer bounds a pointer without its last segment, in bytes: the target can choose names of fields.
const maxPointer = 1 << 10

// pointerTo returns a location within a value as a JSON pointer.
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

// valueAt returns the value at a location within a value.
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

// escapePointer returns a segment of a pointer. It returns only the size of a very long segment, since a part of it could
// be a part of a secret.
func escapePointer(segment string) string {
	if len(segment) > maxPointer {
		return fmt.Sprintf("(a name of %d bytes)", len(segment))
	}
	return pointerEscaper.Replace(segment)
}
