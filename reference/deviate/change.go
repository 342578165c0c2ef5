package deviate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// act is one thing that a row does.
type act struct {
	apply      func(x *exchange)
	afterwards bool // changes the answer
	places     []place
	request    bool // changes the request
}

// flags say how a request is served.
type flags struct {
	unserved bool // it never arrives
	beside   bool // the changed one is served too, and its answer is not sent
	twice    bool // it arrives twice
	asOwner  bool // with the credentials of the owner
	hang     bool // no answer
	delay    time.Duration
}

// verbs change a value; the argument is what the row says after the place.
var verbs = map[string]func(value any, argument any) any{
	"add": func(v any, by any) any {
		n, _ := strconv.ParseInt(textOf(v), 10, 64)
		more, _ := strconv.ParseInt(textOf(by), 10, 64)
		return json.Number(strconv.FormatInt(n+more, 10))
	},
	"round": func(v any, to any) any { // down to a multiple
		n, _ := strconv.Atoi(textOf(v))
		step, _ := strconv.Atoi(textOf(to))
		return json.Number(strconv.Itoa(n / max(step, 1) * max(step, 1)))
	},
	"count": func(v any, _ any) any {
		all, _ := v.([]any)
		return json.Number(strconv.Itoa(len(all)))
	},
	"number":  func(v any, _ any) any { return json.Number(textOf(v)) },
	"first":   func(v any, n any) any { return part(v, n, func(all []any, n int) []any { return all[:n] }) },
	"last":    func(v any, n any) any { return part(v, n, func(all []any, n int) []any { return all[len(all)-n:] }) },
	"reverse": func(v any, _ any) any { return reversed(v) },
	"rotate": func(v any, _ any) any {
		all, _ := v.([]any)
		if len(all) == 0 {
			return v
		}
		return slices.Concat(all[1:], all[:1])
	},
	"append": func(v any, item any) any {
		all, _ := v.([]any)
		return append(slices.Clone(all), item)
	},
	"at-most": func(v any, n any) any { // characters of a text
		count, _ := strconv.Atoi(textOf(n))
		return textOf(v)[:min(count, len(textOf(v)))]
	},
	"shift": func(v any, by any) any { // a time
		at, err := time.Parse(time.RFC3339Nano, textOf(v))
		d, _ := time.ParseDuration(textOf(by))
		if err != nil {
			return v
		}
		return at.Add(d).Format(time.RFC3339Nano)
	},
	"trim": func(v any, end any) any { return strings.TrimSuffix(strings.TrimSpace(textOf(v)), textOf(end)) },
	"replace": func(v any, texts any) any { // the first of a word, by the text after it
		from, to, _ := strings.Cut(textOf(texts), " ")
		with := parseValue(to)
		return strings.Replace(textOf(v), from, textOf(with.constant), 1)
	},
	"epoch": func(v any, _ any) any { // a time as a number of seconds
		at, err := time.Parse(time.RFC3339Nano, textOf(v))
		if err != nil {
			return v
		}
		return json.Number(strconv.FormatInt(at.Unix(), 10))
	},
	"upper":   func(v any, _ any) any { return strings.ToUpper(textOf(v)) },
	"lower":   func(v any, _ any) any { return strings.ToLower(textOf(v)) },
	"text":    func(v any, _ any) any { return textOf(v) },
	"without": func(v any, what any) any { return strings.ReplaceAll(textOf(v), textOf(what), "") },
	"up-to": func(v any, end any) any { // cuts a text before the first of the argument
		text, _, _ := strings.Cut(textOf(v), textOf(end))
		return text
	},
	"up-to-last": func(v any, end any) any {
		text := textOf(v)
		if at := strings.LastIndex(text, textOf(end)); at >= 0 {
			return text[:at]
		}
		return text
	},
	"after": func(v any, from any) any { // cuts a text behind the last of the argument
		text, begin := textOf(v), textOf(from)
		return text[strings.LastIndex(text, begin)+len(begin):]
	},
	"null":    func(any, any) any { return nil },
	"another": func(v any, _ any) any { return another(v) },
	"only": func(v any, names any) any {
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
	},
	"except": func(v any, which any) any { // the items without such a member: except PLACE NAME VALUE
		all, is := v.([]any)
		name, want, _ := strings.Cut(textOf(which), " ")
		if !is {
			return v
		}
		return slices.DeleteFunc(slices.Clone(all), func(item any) bool {
			object, _ := item.(map[string]any)
			return textOf(object[name]) == want
		})
	},
	"rename": func(v any, names any) any {
		if object, is := v.(map[string]any); is {
			from, to, _ := strings.Cut(textOf(names), " ")
			object[to] = object[from]
			delete(object, from)
		}
		return v
	},
}

func part(v, n any, cut func(all []any, n int) []any) any {
	all, is := v.([]any)
	count, _ := strconv.Atoi(textOf(n))
	if !is {
		return v
	}
	return slices.Clone(cut(all, min(count, len(all))))
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

// act reads one change.
func (l *loader) act(text string, f *flags) (a act, err error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "unserved":
		f.unserved = true
		return a, nil
	case "beside":
		f.beside = true
		return a, nil
	case "twice":
		f.twice = true
		return a, nil
	case "hang":
		f.hang = true
		return a, nil
	case "delay":
		f.delay, err = time.ParseDuration(rest)
		return a, err
	case "as":
		f.asOwner = true
		return act{apply: func(x *exchange) {
			for _, name := range carriers {
				x.r.Header.Del(name)
			}
			for name, values := range x.seen.owner(x) {
				x.r.Header[name] = values
			}
			delete(x.parts, "header")
		}}, nil
	case "refuse":
		return refusing(rest)
	case "plain":
		v := parseValue(rest)
		return act{apply: func(x *exchange) {
			x.parts["body"] = textOf(v.in(x, slot{}))
			x.contentType("text/plain; charset=utf-8")
		}, afterwards: true, places: v.places}, err
	case "drop":
		p, err := l.place(rest)
		if err != nil {
			return a, err
		}
		return changing(p, func(_ *exchange, s slot) { delete(s.object, s.name) }), nil
	}
	if verb, recall := verbs[word], recalls[word]; verb != nil || recall != nil {
		return l.verb(word, rest)
	}
	return l.assigning(word, rest)
}

// refusing is "STATUS TEXT": an error whose detail is the text, or what it is as YAML.
func refusing(text string) (a act, err error) {
	number, detail, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	if err != nil {
		return a, fmt.Errorf("%q is no status", number)
	}
	v := parseValue(detail)
	return act{apply: func(x *exchange) {
		x.parts["status"] = json.Number(strconv.Itoa(status))
		x.parts["answer"] = map[string]any{"detail": v.in(x, slot{})}
		x.contentType("application/json")
	}, afterwards: true, places: v.places}, err
}

func (l *loader) verb(word, rest string) (a act, err error) {
	at, argument, _ := strings.Cut(rest, " ")
	p, err := l.place(at)
	if err != nil {
		return a, err
	}
	if word == "foreign" && p.is("path") {
		a = changing(p, func(x *exchange, s slot) {
			if other := x.seen.otherID(x, p[1]); other != "" {
				s.set(other)
			}
		})
		return a, nil
	}
	if recall := recalls[word]; recall != nil {
		key := l.newKey()
		return changing(p, func(x *exchange, s slot) { recall(x.seen.pastOf(key), s) }), nil
	}
	v := parseValue(argument)
	return changing(p, func(x *exchange, s slot) {
		if s.has() && s.value() != nil {
			s.set(verbs[word](s.value(), v.in(x, s)))
		}
	}), err
}

// changing is a change of whatever stands at a place.
func changing(p place, change func(x *exchange, s slot)) act {
	return act{
		apply:      func(x *exchange) { x.each(p, func(s slot) { change(x, s) }) },
		afterwards: p.afterwards(), places: []place{p}, request: p.is("query", "header", "path", "request", "method"),
	}
}

// assigning is "PLACE = VALUE", or "PLACE ?= VALUE" where there is no value yet.
func (l *loader) assigning(at, rest string) (a act, err error) {
	operator, text, _ := strings.Cut(rest, " ")
	if operator != "=" && operator != "?=" {
		return a, fmt.Errorf("unknown change %q", at)
	}
	p, err := parsePlace(at) // it may be a new one
	if err != nil {
		return a, err
	}
	l.made = append(l.made, p.String())
	v := parseValue(text)
	places := append(v.places, p)
	if p.is("kept", "common") {
		// The value is taken when the rest of the change is made, and kept when the object is known: with an answer.
		afterwards := l.afterwards || slices.ContainsFunc(v.places, place.afterwards)
		return act{apply: func(x *exchange) {
			value := v.in(x, slot{})
			keep := func() {
				object := ""
				if p.is("kept") {
					object = x.object()
				}
				x.seen.keep(object, p[1], value, operator == "=")
				delete(x.parts, p[0])
			}
			if x.answer == nil {
				x.later = append(x.later, keep)
				return
			}
			keep()
		}, afterwards: afterwards, places: places}, nil
	}
	if len(p) == 1 {
		return act{apply: func(x *exchange) {
			x.load(p[0])
			x.parts[p[0]] = v.in(x, slot{})
			if p.is("answer") {
				x.contentType("application/json")
			}
		}, afterwards: p.afterwards(), places: places, request: !p.afterwards()}, nil
	}
	a = changing(p, func(x *exchange, s slot) {
		if operator == "=" || !s.has() || s.value() == nil {
			s.set(v.in(x, s))
		}
	})
	a.places = places
	return a, nil
}

func (x *exchange) contentType(is string) {
	x.parts["answer-header"].(map[string]any)["Content-Type"] = is
}

// each visits what stands at a place.
func (x *exchange) each(p place, visit func(s slot)) {
	x.load(p[0])
	owner := x.r.URL.RequestURI()
	if slices.Contains(p, "*") { // an item has an id of its own, and is the same in each page
		owner = x.r.URL.Path
	}
	for _, s := range slots(x.parts, p, owner) {
		visit(s)
	}
}
