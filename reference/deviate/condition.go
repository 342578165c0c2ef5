package deviate

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition tells whether an exchange deviates.
type condition struct {
	holds      func(x *exchange) bool
	afterwards bool // only the answer tells
	places     []place
}

// kinds are the kinds of values.
var kinds = map[string]func(value any, has bool) bool{
	"absent":  func(_ any, has bool) bool { return !has },
	"present": func(value any, has bool) bool { return has && value != nil },
	"null":    func(value any, has bool) bool { return has && value == nil },
	"empty": func(value any, has bool) bool {
		return has && slices.Contains([]string{`""`, "[]", "{}"}, string(encoded(value)))
	},
	"filled": func(value any, has bool) bool {
		return has && value != nil && !slices.Contains([]string{`""`, "[]", "{}"}, string(encoded(value)))
	},
	"text":    func(value any, _ bool) bool { _, is := value.(string); return is },
	"list":    func(value any, _ bool) bool { _, is := value.([]any); return is },
	"object":  func(value any, _ bool) bool { _, is := value.(map[string]any); return is },
	"number":  func(value any, _ bool) bool { _, is := value.(json.Number); return is },
	"integer": func(value any, _ bool) bool { _, err := strconv.Atoi(textOf(value)); return err == nil },
}

// comparisons compare a value with that of the row.
var comparisons = map[string]func(is, want any) bool{
	"=":      func(is, want any) bool { return textOf(is) == textOf(want) },
	"!=":     func(is, want any) bool { return textOf(is) != textOf(want) },
	"<":      numbers(func(is, want float64) bool { return is < want }),
	">":      numbers(func(is, want float64) bool { return is > want }),
	"<=":     numbers(func(is, want float64) bool { return is <= want }),
	">=":     numbers(func(is, want float64) bool { return is >= want }),
	"starts": worded(strings.HasPrefix),
	"ends":   worded(strings.HasSuffix),
	"has":    worded(strings.Contains),
	"alike":  worded(strings.EqualFold),
	"almost": worded(func(is, want string) bool { // all but the last character is equal
		return len(is) == len(want) && is != want && is[:len(is)-1] == want[:len(want)-1]
	}),
	"matches": nil, // the expression is compiled when the row is read
}

// worded compares with a text that is not empty.
func worded(compare func(is, want string) bool) func(is, want any) bool {
	return func(is, want any) bool { return textOf(want) != "" && compare(textOf(is), textOf(want)) }
}

func numbers(compare func(is, want float64) bool) func(is, want any) bool {
	return func(is, want any) bool {
		a, isA := numberOf(is)
		b, isB := numberOf(want)
		return isA && isB && compare(a, b)
	}
}

func (l *loader) condition(text string) (c condition, err error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "not":
		inner, err := l.condition(rest)
		return condition{func(x *exchange) bool { return !inner.holds(x) }, inner.afterwards, inner.places}, err
	case "caller":
		who, known := callers[rest]
		if !known {
			return c, fmt.Errorf("unknown caller %q", rest)
		}
		return condition{holds: who}, nil
	case "after":
		_, err := Documents().named(rest)
		return condition{holds: func(x *exchange) bool { return !x.seen.doneAt(x, rest).IsZero() }}, err
	case "within":
		span, operation, _ := strings.Cut(rest, " of ")
		d, err := time.ParseDuration(span)
		if err != nil {
			return c, err
		}
		_, err = Documents().named(operation)
		return condition{holds: func(x *exchange) bool { return time.Since(x.seen.doneAt(x, operation)) < d }}, err
	case "known":
		_, err := l.place("path." + rest)
		return condition{holds: func(x *exchange) bool { return x.seen.known(x.ids()[rest]) }}, err
	case "nth", "every", "first":
		number, ofAll := strings.CutSuffix(rest, " of all")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return c, fmt.Errorf("%q is no count", rest)
		}
		key := l.newKey()
		return condition{holds: func(x *exchange) bool {
			object := x.object()
			if ofAll {
				object = ""
			}
			count := x.seen.count(key + object)
			return map[string]bool{"nth": count == n, "every": count%n == 0, "first": count <= n}[word]
		}, afterwards: l.afterwards}, nil
	case "count":
		return l.counting(rest)
	}
	return l.comparing(word, rest)
}

// counting is "PLACE = N" of the number of items there.
func (l *loader) counting(text string) (c condition, err error) {
	fields := strings.Fields(text)
	if len(fields) != 3 || comparisons[fields[1]] == nil {
		return c, fmt.Errorf("count needs a place, a comparison and a number, not %q", text)
	}
	p, err := l.place(fields[0])
	if err != nil {
		return c, err
	}
	v, err := l.value(fields[2])
	return condition{func(x *exchange) bool {
		found, _ := x.at(p, slot{})
		list, is := found.([]any)
		return is && comparisons[fields[1]](strconv.Itoa(len(list)), v.in(x, slot{}))
	}, p.afterwards(), append(v.places, p)}, err
}

func (l *loader) comparing(at, rest string) (c condition, err error) {
	p, err := l.place(at)
	if err != nil {
		return c, err
	}
	operator, text, _ := strings.Cut(rest, " ")
	if operator == "is" {
		kind := kinds[text]
		if kind == nil {
			return c, fmt.Errorf("unknown kind %q", text)
		}
		return condition{func(x *exchange) bool { return kind(x.at(p, slot{})) }, p.afterwards(), []place{p}}, nil
	}
	if rest == "= 2xx" && p.is("status") {
		return condition{func(x *exchange) bool { return x.answer.Status < 300 }, true, []place{p}}, nil
	}
	v, err := l.value(text)
	if err != nil {
		return c, err
	}
	compare, known := comparisons[operator]
	if !known {
		return c, fmt.Errorf("unknown comparison %q", operator)
	}
	if operator == "matches" {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return c, err
		}
		compare = func(is, _ any) bool { return pattern.MatchString(textOf(is)) }
	}
	return condition{func(x *exchange) bool {
		found, has := x.at(p, slot{})
		return (has || operator == "!=") && compare(found, v.in(x, slot{}))
	}, p.afterwards() || slices.ContainsFunc(v.places, place.afterwards), append(v.places, p)}, nil
}

// callers tell who sends a request.
var callers = map[string]func(x *exchange) bool{
	"anonymous": func(x *exchange) bool { return len(credentialsOf(x.r)) == 0 },
	"without-credentials": func(x *exchange) bool { // also with empty ones
		return !slices.ContainsFunc(carriers, func(name string) bool { return strings.TrimSpace(x.r.Header.Get(name)) != "" })
	},
	"bearer-alone": func(x *exchange) bool { return onlyWith(x.r, "Authorization") },
	"tenant-alone": func(x *exchange) bool { return onlyWith(x.r, "X-Tenant-Id") },
	"empty-token":  func(x *exchange) bool { return emptyToken(x.r) },
	"token": func(x *exchange) bool {
		return strings.HasPrefix(x.r.Header.Get("Authorization"), "Bearer ") && !emptyToken(x.r)
	},
	"first": func(x *exchange) bool { return same(x.seen.firstOf(x.op.Side), credentialsOf(x.r)) },
	"owner": func(x *exchange) bool { return same(x.seen.owner(x), credentialsOf(x.r)) },
	"maker": func(x *exchange) bool {
		return same(x.seen.ownerOf(x.prefix()+x.seen.homeOf(x.ids()["run_id"])), credentialsOf(x.r))
	},
}

// carriers are the headers that say who sends a request.
var carriers = []string{"X-Api-Key", "X-Tenant-Id", "Authorization"}

func credentialsOf(r *http.Request) http.Header {
	h := http.Header{}
	for _, name := range carriers {
		if sends(r, name) {
			h[name] = r.Header[name]
		}
	}
	return h
}

func sends(r *http.Request, name string) bool { return len(r.Header[name]) > 0 }

func onlyWith(r *http.Request, name string) bool {
	return len(credentialsOf(r)) == 1 && r.Header.Get(name) != ""
}

func emptyToken(r *http.Request) bool {
	return strings.EqualFold(strings.TrimSpace(r.Header.Get("Authorization")), "bearer")
}

func same(a, b http.Header) bool {
	return len(a) > 0 && maps.EqualFunc(a, b, slices.Equal)
}
