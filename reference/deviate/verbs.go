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

// verbs are the changes of a value, by the argument that the row has after the place. What is of another type than a verb
// is for stays as it is.
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

	"first":  listed(func(all []any, n any) []any { return all[:min(intOf(n), len(all))] }),
	"append": listed(func(all []any, item any) []any { return append(all, item) }),
	"prepend": listed(func(all []any, item any) []any { // an item, or several
		if some, are := item.([]any); are {
			return slices.Concat(some, all)
		}
		return slices.Insert(all, 0, item)
	}),
	"older": filtered(func(item map[string]any, age string) bool { // older PLACE AGE: items that were created so long ago
		least, _ := time.ParseDuration(age)
		created, err := time.Parse(time.RFC3339Nano, textOf(item["created_at"]))
		return err != nil || time.Since(created) >= least
	}),
	"except": filtered(func(item map[string]any, which string) bool { // except PLACE NAME VALUE: items without such a member
		name, want, _ := strings.Cut(which, " ")
		return textOf(item[name]) != want
	}),
	"reverse": listed(func(all []any, _ any) []any {
		slices.Reverse(all)
		return all
	}),

	"upper":   texted(func(s, _ string) string { return strings.ToUpper(s) }),
	"lower":   texted(func(s, _ string) string { return strings.ToLower(s) }),
	"without": texted(func(s, what string) string { return strings.ReplaceAll(s, what, "") }),
	"trim":    texted(func(s, end string) string { return strings.TrimSuffix(strings.TrimSpace(s), end) }),
	"up-to":   texted(func(s, end string) string { s, _, _ = strings.Cut(s, end); return s }),
	"behind-last": texted(func(s, begin string) string {
		parts := strings.Split(s, begin)
		return parts[len(parts)-1]
	}),
	"replace": texted(func(s, words string) string { // replace PLACE WORD TEXT: the first such word
		word, with, _ := strings.Cut(words, " ")
		return strings.Replace(s, word, with, 1)
	}),
	"shift": texted(func(s, by string) string { // a time by a duration
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return s
		}
		d, _ := time.ParseDuration(by)
		return at.Add(d).Format(time.RFC3339Nano)
	}),

	"only": func(v, names any) any { // the members with these names
		object, is := v.(map[string]any)
		if is {
			maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(strings.Fields(textOf(names)), name) })
		}
		return v
	},
	"rename": func(v, names any) any { // rename PLACE FROM TO: a member
		from, to, _ := strings.Cut(textOf(names), " ")
		object, _ := v.(map[string]any)
		if value, has := object[from]; has {
			object[to] = value
			delete(object, from)
		}
		return v
	},
}

// alone are the verbs without an argument.
var alone = []string{"another", "null", "text", "number", "reverse", "upper", "lower"}

// listed is a change of a list, of which it gets a copy.
func listed(change func(all []any, argument any) []any) func(value, argument any) any {
	return func(v, argument any) any {
		if all, is := v.([]any); is {
			return change(slices.Clone(all), argument)
		}
		return v
	}
}

// filtered keeps some of the items of a list.
func filtered(keeps func(item map[string]any, argument string) bool) func(value, argument any) any {
	return listed(func(all []any, argument any) []any {
		return slices.DeleteFunc(all, func(item any) bool {
			object, _ := item.(map[string]any)
			return !keeps(object, textOf(argument))
		})
	})
}

func texted(change func(s, argument string) string) func(value, argument any) any {
	return func(v, argument any) any {
		if s, is := v.(string); is {
			return change(s, textOf(argument))
		}
		return v
	}
}

func intOf(value any) int {
	n, _ := strconv.Atoi(textOf(value)) // 0 where it is none
	return n
}

// another is a value of the same type that is a little different.
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

// anotherText changes the last digit or small letter, so that an id stays an id and a time a time; else a capital.
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
