package deviate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// verbs change a value. The argument follows the place in the row. A value whose type the verb does not expect does not
// change.
var verbs = map[string]func(value, argument any) any{
	"another": func(v, _ any) any { return another(v) },
	"null":    func(any, any) any { return nil },
	"text":    func(v, _ any) any { return textOf(v) },
	"number":  func(v, _ any) any { return json.Number(textOf(v)) },
	"add": func(v, by any) any {
		if n, err := strconv.Atoi(textOf(v)); err == nil {
			return json.Number(strconv.Itoa(n + intOf(by)))
		}
		return v
	},

	"first":  onList(func(all []any, n any) []any { return all[:min(intOf(n), len(all))] }),
	"append": onList(func(all []any, item any) []any { return append(all, item) }),
	"prepend": onList(func(all []any, item any) []any { // an item, or a list of items
		if some, ok := item.([]any); ok {
			return slices.Concat(some, all)
		}
		return slices.Insert(all, 0, item)
	}),
	"older": filtering(func(item map[string]any, age string) bool { // older PLACE AGE: items with at least this age
		least, _ := time.ParseDuration(age)
		created, err := time.Parse(time.RFC3339Nano, textOf(item["created_at"]))
		return err != nil || time.Since(created) >= least
	}),
	"except": filtering(func(item map[string]any, which string) bool { // except PLACE NAME VALUE: other items
		name, want, _ := strings.Cut(which, " ")
		return textOf(item[name]) != want
	}),
	"reverse": onList(func(all []any, _ any) []any {
		slices.Reverse(all)
		return all
	}),

	"upper":   onText(func(s, _ string) string { return strings.ToUpper(s) }),
	"lower":   onText(func(s, _ string) string { return strings.ToLower(s) }),
	"without": onText(func(s, what string) string { return strings.ReplaceAll(s, what, "") }),
	"trim":    onText(func(s, end string) string { return strings.TrimSuffix(strings.TrimSpace(s), end) }),
	"up-to":   onText(func(s, end string) string { s, _, _ = strings.Cut(s, end); return s }),
	"behind-last": onText(func(s, begin string) string {
		parts := strings.Split(s, begin)
		return parts[len(parts)-1]
	}),
	"replace": onText(func(s, words string) string { // replace PLACE WORD TEXT: the first occurrence
		word, with, _ := strings.Cut(words, " ")
		return strings.Replace(s, word, with, 1)
	}),
	"shift": onText(func(s, by string) string { // moves a time by a duration
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return s
		}
		d, _ := time.ParseDuration(by)
		return at.Add(d).Format(time.RFC3339Nano)
	}),

	"only": func(v, names any) any { // only PLACE NAMES: removes all other members
		object, ok := v.(map[string]any)
		if ok {
			maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(strings.Fields(textOf(names)), name) })
		}
		return v
	},
	"rename": func(v, names any) any { // rename PLACE FROM TO: renames a member
		from, to, _ := strings.Cut(textOf(names), " ")
		object, _ := v.(map[string]any)
		if value, has := object[from]; has {
			object[to] = value
			delete(object, from)
		}
		return v
	},
}

// withoutArgument lists the verbs that have no argument.
var withoutArgument = []string{"another", "null", "text", "number", "reverse", "upper", "lower"}

// onList returns a verb for lists. change receives a copy of the list.
func onList(change func(all []any, argument any) []any) func(value, argument any) any {
	return func(v, argument any) any {
		if all, ok := v.([]any); ok {
			return change(slices.Clone(all), argument)
		}
		return v
	}
}

// filtering returns a verb that keeps some items of a list.
func filtering(keeps func(item map[string]any, argument string) bool) func(value, argument any) any {
	return onList(func(all []any, argument any) []any {
		return slices.DeleteFunc(all, func(item any) bool {
			object, _ := item.(map[string]any)
			return !keeps(object, textOf(argument))
		})
	})
}

// onText returns a verb for texts.
func onText(change func(s, argument string) string) func(value, argument any) any {
	return func(v, argument any) any {
		if s, ok := v.(string); ok {
			return change(s, textOf(argument))
		}
		return v
	}
}

// intOf returns a value as an integer, or 0 if it is not an integer.
func intOf(value any) int {
	n, _ := strconv.Atoi(textOf(value))
	return n
}

// another returns a value of the same type that is slightly different.
func another(value any) any {
	switch v := value.(type) {
	case bool:
		return !v
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n + 1
		}
	case string:
		return anotherText(v)
	case []any:
		if len(v) > 0 {
			return v[:len(v)-1]
		}
	case map[string]any:
		return map[string]any{}
	}
	return value
}

// anotherText changes the last digit or lower-case letter of a text, so that an ID remains an ID and a time remains a time.
// Without these, it changes the last upper-case letter.
func anotherText(text string) string {
	at, other := strings.LastIndexAny(text, "0123456789abcdefghijklmnopqrstuvwxyz"), byte('a')
	if at < 0 {
		at, other = strings.LastIndexAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 'A'
	}
	if at < 0 {
		return text + "x"
	}
	if unicode.IsDigit(rune(text[at])) {
		other = '1'
	}
	if other == text[at] {
		other++
	}
	return text[:at] + string(other) + text[at+1:]
}
