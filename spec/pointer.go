package spec

import (
	"strconv"
	"strings"
)

// maxPointer bounds a pointer, in bytes, but for its last segment: names of fields may be the target's.
const maxPointer = 1 << 10

// excerptKey is the beginning of a very long key.
func excerptKey(key string) string {
	if len(key) <= maxPointer {
		return key
	}
	return strings.ToValidUTF8(key[:maxPointer], "") + ellipsis
}

// resolve turns a location within a value into a pointer and what is there.
func resolve(value any, location []string) (pointer string, at any) {
	var b strings.Builder
	for _, step := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			if index, err := strconv.Atoi(step); err == nil && index < len(v) {
				value = v[index]
			}
		}
		if b.Len() <= maxPointer {
			b.WriteByte('/')
			b.WriteString(escapePointer(excerptKey(step)))
		}
	}
	return b.String(), value
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(segment string) string {
	if !strings.ContainsAny(segment, "~/") {
		return segment
	}
	return pointerEscaper.Replace(segment)
}
