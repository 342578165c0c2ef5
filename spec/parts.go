package spec

import (
	"maps"
	"strconv"
	"strings"
)

// window is how many items of an array are judged at once. No schema of the contract says anything about an array as a
// whole (a test sees to it), so that judging its parts is judging it.
const window = 1 << 12

// eachPart cuts the long arrays of a value into windows and visits the values that hold one window of each, until visit
// has enough. starts says for each depth of arrays in arrays where the windows of that depth start.
func eachPart(value any, visit func(part any, starts []int) (more bool)) {
	cutFrom(value, 0, nil, visit)
}

func cutFrom(value any, depth int, starts []int, visit func(any, []int) bool) bool {
	longest := longestAt(value, depth)
	if longest < 0 {
		return visit(value, starts)
	}
	starts = append(starts[:depth:depth], 0)
	if longest <= window {
		return cutFrom(value, depth+1, starts, visit)
	}
	for start := 0; start < longest; start += window {
		starts[depth] = start
		if !cutFrom(cut(value, depth, start), depth+1, starts, visit) {
			return false
		}
	}
	return true
}

// longestAt is the length of the longest array inside depth others, or -1 where there is none.
func longestAt(value any, depth int) int {
	longest := -1
	switch v := value.(type) {
	case map[string]any:
		for _, child := range v {
			longest = max(longest, longestAt(child, depth))
		}
	case []any:
		if depth == 0 {
			return len(v)
		}
		for _, child := range v {
			longest = max(longest, longestAt(child, depth-1))
		}
	}
	return longest
}

// cut keeps one window of each long array inside depth others. Of a long array that ends before the window one item stays,
// and short arrays stay as they are, so that every part has the shape of the whole.
func cut(value any, depth, start int) any {
	switch v := value.(type) {
	case map[string]any:
		if longestAt(v, depth) <= window {
			return v
		}
		fields := maps.Clone(v)
		for key, child := range fields {
			fields[key] = cut(child, depth, start)
		}
		return fields
	case []any:
		if depth == 0 {
			low, high := bounds(len(v), start)
			return v[low:high]
		}
		items := make([]any, len(v))
		for i, child := range v {
			items[i] = cut(child, depth-1, start)
		}
		return items
	}
	return value
}

func bounds(length, start int) (low, high int) {
	switch {
	case length <= window:
		return 0, length
	case start >= length:
		return 0, 1
	}
	return start, min(start+window, length)
}

// maxPointer bounds a pointer, in bytes, but for its last segment: names of fields may be the target's.
const maxPointer = 1 << 10

// excerptKey is the beginning of a very long key.
func excerptKey(key string) string {
	if len(key) <= maxPointer {
		return key
	}
	return strings.ToValidUTF8(key[:maxPointer], "") + ellipsis
}

// resolve turns a location within a part into the pointer and the value within the whole.
func resolve(value any, location []string, starts []int) (pointer string, at any) {
	var b strings.Builder
	depth := 0
	for _, step := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err == nil && depth < len(starts) {
				low, _ := bounds(len(v), starts[depth])
				index += low
			}
			if err == nil && index >= 0 && index < len(v) {
				value, step = v[index], strconv.Itoa(index)
			}
			depth++
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
