// Package spelling suggests a known name for a misspelled one, and joins names in words.
package spelling

import (
	"slices"
	"strings"
	"unicode"
)

// DidYouMean returns a question that precedes other advice, "did you mean a? ", or "" if name is empty.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "did you mean " + name + "? "
}

// Either joins names in words: "a, b or c".
func Either(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Nearest returns the known name that is at most two edits away, or else the first one that contains all words of the
// name, or "".
func Nearest(name string, known []string) string {
	near := Within(2, name, known)
	if near != "" {
		return near
	}
	words := wordsOf(name)
	for _, k := range known {
		others := wordsOf(k)
		isMissing := func(word string) bool { return !slices.Contains(others, word) }
		if len(words) > 0 && !slices.ContainsFunc(words, isMissing) {
			return k
		}
	}
	return ""
}

// wordsOf splits a name such as limit-101-is-served, users.0.token or @section-4.
func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Within returns the first of the known texts with the fewest edits, if these are at most most, or "".
func Within(most int, text string, known []string) string {
	best, at := "", most+1
	for _, k := range known {
		d := distance(text, k)
		if d < at {
			best, at = k, d
		}
	}
	return best
}

// distance returns the edit distance of two names, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			substitute := previous[j]
			if a[i] != b[j] {
				substitute++
			}
			row[j+1] = min(row[j]+1, previous[j+1]+1, substitute)
		}
	}
	return row[len(b)]
}
