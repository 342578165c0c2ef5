package deviate

import (
	"encoding/json"
	"net/http"
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
	"add":     numbered(func(n, by int) int { return n + by }),
	"round":   numbered(func(n, to int) int { return n / max(to, 1) * max(to, 1) }), // down to a multiple

	"count":  listed(false, func(all []any, _ any) any { return json.Number(strconv.Itoa(len(all))) }),
	"first":  listed(true, func(all []any, n any) any { return all[:min(intOf(n), len(all))] }),
	"append": listed(true, func(all []any, item any) any { return append(slices.Clone(all), item) }),
	"prepend": listed(true, func(all []any, item any) any { // an item, or several
		if some, are := item.([]any); are {
			return slices.Concat(some, all)
		}
		return append([]any{item}, all...)
	}),
	"older": listed(true, func(all []any, age any) any { // older PLACE AGE: items that were created so long ago
		least, _ := time.ParseDuration(textOf(age))
		return slices.DeleteFunc(slices.Clone(all), func(item any) bool {
			object, _ := item.(map[string]any)
			created, err := time.Parse(time.RFC3339Nano, textOf(object["created_at"]))
			return err == nil && time.Since(created) < least
		})
	}),
	"reverse": {change: func(v, _ any) any { return reversed(v) }},                 // a list, or each part of an id
	"except":  listed(true, func(all []any, w any) any { return without(all, w) }), // except PLACE NAME VALUE: items without such a member

	"upper":       texted(false, func(s, _ string) string { return strings.ToUpper(s) }),
	"without":     texted(true, func(s, what string) string { return strings.ReplaceAll(s, what, "") }),
	"trim":        texted(true, func(s, end string) string { return strings.TrimSuffix(strings.TrimSpace(s), end) }),
	"up-to":       texted(true, func(s, end string) string { s, _, _ = strings.Cut(s, end); return s }),
	"behind-last": texted(true, func(s, begin string) string { return s[lastOf(s, begin, -len(begin))+len(begin):] }),
	"at-most":     texted(true, func(s, n string) string { r := []rune(s); return string(r[:min(intOf(n), len(r))]) }),
	"replace": texted(true, func(s, words string) string { // replace PLACE WORD TEXT: the first such word
		word, with, _ := strings.Cut(words, " ")
		return strings.Replace(s, word, with, 1)
	}),
	"shift": timed(true, func(at time.Time, by any) any { // by a duration
		d, _ := time.ParseDuration(textOf(by))
		return at.Add(d).Format(time.RFC3339Nano)
	}),
	"date":  timed(false, func(at time.Time, _ any) any { return at.UTC().Format(http.TimeFormat) }),
	"epoch": timed(false, func(at time.Time, _ any) any { return json.Number(strconv.FormatInt(at.Unix(), 10)) }),

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

func numbered(change func(n, argument int) int) verb {
	return verb{argument: true, change: func(v, argument any) any {
		n, err := strconv.Atoi(textOf(v))
		if err != nil {
			return v
		}
		return json.Number(strconv.Itoa(change(n, intOf(argument))))
	}}
}

func listed(argument bool, change func(all []any, argument any) any) verb {
	return verb{argument: argument, change: func(v, argument any) any {
		if all, is := v.([]any); is {
			return change(all, argument)
		}
		return v
	}}
}

func texted(argument bool, change func(s, argument string) string) verb {
	return verb{argument: argument, change: func(v, argument any) any {
		if s, is := v.(string); is {
			return change(s, textOf(argument))
		}
		return v
	}}
}

func timed(argument bool, change func(at time.Time, argument any) any) verb {
	return verb{argument: argument, change: func(v, argument any) any {
		at, err := time.Parse(time.RFC3339Nano, textOf(v))
		if err != nil {
			return v
		}
		return change(at, argument)
	}}
}

func intOf(value any) int {
	n, _ := strconv.Atoi(textOf(value)) // 0 where it is none
	return n
}

// lastOf is where a text occurs last, or what it is where it does not.
func lastOf(s, text string, none int) int {
	if at := strings.LastIndex(s, text); at >= 0 {
		return at
	}
	return none
}

func without(all []any, which any) []any {
	name, want, _ := strings.Cut(textOf(which), " ")
	return slices.DeleteFunc(slices.Clone(all), func(item any) bool {
		object, _ := item.(map[string]any)
		return textOf(object[name]) == want
	})
}

// reversed turns a list round, and each part of an id, so that it stays one.
func reversed(v any) any {
	if all, is := v.([]any); is {
		all = slices.Clone(all)
		slices.Reverse(all)
		return all
	}
	parts := strings.Split(textOf(v), "-")
	for i, part := range parts {
		digits := []byte(part)
		slices.Reverse(digits)
		parts[i] = string(digits)
	}
	return strings.Join(parts, "-")
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
	at := strings.LastIndexAny(text, "0123456789abcdefghijklmnopqrstuvwxyz")
	if at < 0 {
		at = strings.LastIndexAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	if at < 0 {
		return text + "x"
	}
	for _, other := range []byte("1aA") {
		digit := unicode.IsDigit(rune(text[at])) == unicode.IsDigit(rune(other))
		if digit && unicode.IsUpper(rune(text[at])) == unicode.IsUpper(rune(other)) {
			if text[at] == other {
				other++
			}
			return text[:at] + string(other) + text[at+1:]
		}
	}
	return text
}
