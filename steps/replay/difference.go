package replay

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d`)

// mostDifferences bounds what is told of one answer.
const mostDifferences = 20

// differences compares two bodies: JSON by place, anything else as it is. Times do not count.
func differences(was, is string) []string {
	var a, b any
	if json.Unmarshal([]byte(was), &a) != nil || json.Unmarshal([]byte(is), &b) != nil {
		if was == is {
			return nil
		}
		return []string{fmt.Sprintf("body: was %s, is now %s", short(was), short(is))}
	}
	var found []string
	compare("", a, b, &found)
	if len(found) > mostDifferences {
		found = append(found[:mostDifferences], fmt.Sprintf("and %d more", len(found)-mostDifferences))
	}
	return found
}

func compare(at string, was, is any, found *[]string) {
	switch a := was.(type) {
	case map[string]any:
		if b, ok := is.(map[string]any); ok {
			compareObjects(at, a, b, found)
			return
		}
	case []any:
		if b, ok := is.([]any); ok && len(a) == len(b) {
			for i := range a {
				compare(at+"/"+strconv.Itoa(i), a[i], b[i], found)
			}
			return
		}
	case string:
		b, ok := is.(string)
		if ok && (a == b || dateTime.MatchString(a) && dateTime.MatchString(b)) {
			return
		}
	default:
		if was == is {
			return
		}
	}
	*found = append(*found, fmt.Sprintf("%s: was %s, is now %s", at, text(was), text(is)))
}

func compareObjects(at string, a, b map[string]any, found *[]string) {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var sorted []string
	for k := range keys {
		sorted = append(sorted, k)
	}
	slices.Sort(sorted)
	for _, k := range sorted {
		was, had := a[k]
		is, has := b[k]
		switch {
		case !had:
			*found = append(*found, fmt.Sprintf("%s/%s: was not there, is now %s", at, k, text(is)))
		case !has:
			*found = append(*found, fmt.Sprintf("%s/%s: was %s, is gone", at, k, text(was)))
		default:
			compare(at+"/"+k, was, is, found)
		}
	}
}

func text(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return short(string(encoded))
}

func short(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " ..."
}
