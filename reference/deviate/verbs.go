package deviate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// verb changes a value. The argument is what the row says after the place; a verb without one has none.
type verb struct {
	change   func(value, argument any) any
	argument bool
}

// verbs are the changes of a value. What is of another type than a verb is for stays as it is.
var verbs = map[string]verb{
	"another": {change: func(v, _ any) any { return another(v) }},
	"null":    {change: func(any, any) any { return nil }},
	"text":    {change: func(v, _ any) any { return textOf(v) }},
	"number":  {change: func(v, _ any) any { return json.Number(textOf(v)) }},
	"add": {argument: true, change: func(v, by any) any {
		if n, err := strconv.Atoi(textOf(v)); err == nil {
			return json.Number(strconv.Itoa(n + intOf(by)))
		}
		return v
	}},

	"first":  listed(func(all []any, n any) any { return all[:min(intOf(n), len(all))] }),
	"append": listed(func(all []any, item any) any { return append(slices.Clone(all), item) }),
	"prepend": listed(func(all []any, item any) any { // an item, or several
		if some, are := item.([]any); are {
			return slices.Concat(some, all)
		}
		return append([]any{item}, all...)
	}),
	"older": listed(func(all []any, age any) any { // older PLACE AGE: items that were created so long ago
		least, _ := time.ParseDuration(textOf(age))
		return slices.DeleteFunc(slices.Clone(all), func(item any) bool {
			object, _ := item.(map[string]any)
			created, err := time.Parse(time.RFC3339Nano, textOf(object["created_at"]))
			return err == nil && time.Since(created) < least
		})
	}),
	"except": listed(func(all []any, which any) any { // except PLACE NAME VALUE: items without such a member
		name, want, _ := strings.Cut(textOf(which), " ")
		return slices.DeleteFunc(slices.Clone(all), func(item any) bool {
			object, _ := item.(map[string]any)
			return textOf(object[name]) == want
		})
	}),
	"reverse": {change: func(v, _ any) any {
		all, is := v.([]any)
		if !is {
			return v
		}
		all = slices.Clone(all)
		slices.Reverse(all)
		return all
	}},

	"upper":   {change: func(v, _ any) any { return strings.ToUpper(textOf(v)) }},
	"lower":   {change: func(v, _ any) any { return strings.ToLower(textOf(v)) }},
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
	"shift": {argument: true, change: func(v, by any) any { // a time by a duration
		at, err := time.Parse(time.RFC3339Nano, textOf(v))
		d, _ := time.ParseDuration(textOf(by))
		if err != nil {
			return v
		}
		return at.Add(d).Format(time.RFC3339Nano)
	}},

	"only": {argument: true, change: func(v, names any) any { // the members with these names
		object, is := v.(map[string]any)
		if !is {
			return v
		}
		kept := map[string]any{}
		for _, name := range strings.Fields(textOf(names)) {
			if value, has := object[name]; has {
				kept[name] = value
			}
		}
		return kept
	}},
	"rename": {argument: true, change: func(v, names any) any { // rename PLACE FROM TO: a member
		from, to, _ := strings.Cut(textOf(names), " ")
		object, _ := v.(map[string]any)
		if value, has := object[from]; has {
			object[to] = value
			delete(object, from)
		}
		return v
	}},
}

func listed(change func(all []any, argument any) any) verb {
	return verb{argument: true, change: func(v, argument any) any {
		if all, is := v.([]any); is {
			return change(all, argument)
		}
		return v
	}}
}

func texted(change func(s, argument string) string) verb {
	return verb{argument: true, change: func(v, argument any) any {
		if s, is := v.(string); is {
			return change(s, textOf(argument))
		}
		return v
	}}
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
