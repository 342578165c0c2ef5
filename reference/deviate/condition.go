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
type condition func(x *exchange) bool

// kinds are the kinds of values.
var kinds = map[string]func(value any, has bool) bool{
	"absent":  func(_ any, has bool) bool { return !has },
	"present": func(value any, has bool) bool { return has && value != nil },
	"null":    func(value any, has bool) bool { return has && value == nil },
	"empty":   func(value any, has bool) bool { return has && isEmpty(value) },
	"filled":  func(value any, has bool) bool { return has && value != nil && !isEmpty(value) },
	"text":    func(value any, _ bool) bool { _, is := value.(string); return is },
	"list":    func(value any, _ bool) bool { _, is := value.([]any); return is },
	"object":  func(value any, _ bool) bool { _, is := value.(map[string]any); return is },
	"number":  func(value any, _ bool) bool { _, is := value.(json.Number); return is },
	"integer": func(value any, _ bool) bool { _, err := strconv.Atoi(textOf(value)); return err == nil },
}

func isEmpty(value any) bool {
	return slices.Contains([]string{`""`, "[]", "{}"}, string(encoded(value)))
}

// comparisons compare a value with that of the row.
var comparisons = map[string]func(is, want any) bool{
	"=":       func(is, want any) bool { return textOf(is) == textOf(want) },
	"!=":      func(is, want any) bool { return textOf(is) != textOf(want) },
	"<":       numbers(func(is, want float64) bool { return is < want }),
	">":       numbers(func(is, want float64) bool { return is > want }),
	"<=":      numbers(func(is, want float64) bool { return is <= want }),
	">=":      numbers(func(is, want float64) bool { return is >= want }),
	"starts":  worded(strings.HasPrefix),
	"ends":    worded(strings.HasSuffix),
	"has":     worded(strings.Contains),
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

func (l *loader) condition(text string) (condition, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "not":
		inner, err := l.condition(rest)
		return func(x *exchange) bool { return !inner(x) }, err
	case "caller":
		who, known := callers[rest]
		if !known {
			return nil, fmt.Errorf("unknown caller %q", rest)
		}
		return who, nil
	case "after":
		_, err := Documents().named(rest)
		return func(x *exchange) bool { return !x.seen.doneAt(x, rest).IsZero() }, err
	case "within":
		span, operation, _ := strings.Cut(rest, " of ")
		d, err := time.ParseDuration(span)
		if err != nil {
			return nil, err
		}
		_, err = Documents().named(operation)
		return func(x *exchange) bool { return time.Since(x.seen.doneAt(x, operation)) < d }, err
	case "known":
		_, err := l.place("path." + rest)
		return func(x *exchange) bool { return of(x.seen, x.seen.ids, x.ids()[rest]) }, err
	case "nth", "every", "first":
		return l.nth(word, rest)
	case "count":
		at, rest, _ := strings.Cut(rest, " ")
		return l.comparing(at, rest, func(list any) any {
			all, is := list.([]any)
			if !is {
				return nil
			}
			return len(all)
		})
	}
	return l.comparing(word, rest, func(value any) any { return value })
}

// nth is of the exchanges of an object, or of all.
func (l *loader) nth(word, which string) (condition, error) {
	number, ofAll := strings.CutSuffix(which, " of all")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%q is no count", which)
	}
	key := l.newKey()
	return func(x *exchange) bool {
		object := x.object()
		if ofAll {
			object = ""
		}
		count := x.seen.count(key + object)
		return map[string]bool{"nth": count == n, "every": count%n == 0, "first": count <= n}[word]
	}, nil
}

// comparing is of what stands at a place, or of something that is taken from that.
func (l *loader) comparing(at, rest string, taken func(any) any) (condition, error) {
	p, err := l.place(at)
	if err != nil {
		return nil, err
	}
	operator, text, _ := strings.Cut(rest, " ")
	if operator == "is" {
		kind := kinds[text]
		if kind == nil {
			return nil, fmt.Errorf("unknown kind %q", text)
		}
		return func(x *exchange) bool { return kind(x.at(p, slot{})) }, nil
	}
	if rest == "= 2xx" && p.is("status") {
		return func(x *exchange) bool { return x.answer.Status < 300 }, nil
	}
	v, err := l.value(text)
	if err != nil {
		return nil, err
	}
	compare, known := comparisons[operator]
	if !known {
		return nil, fmt.Errorf("unknown comparison %q", operator)
	}
	if operator == "matches" {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		compare = func(is, _ any) bool { return pattern.MatchString(textOf(is)) }
	}
	return func(x *exchange) bool {
		found, has := x.at(p, slot{})
		return (has || operator == "!=") && compare(taken(found), v.in(x, slot{}))
	}, nil
}

// callers tell who sends a request.
var callers = map[string]func(x *exchange) bool{
	"anonymous": func(x *exchange) bool { return len(credentialsOf(x.r)) == 0 },
	"without-credentials": func(x *exchange) bool { // also with empty ones
		return !slices.ContainsFunc(carriers, func(name string) bool { return strings.TrimSpace(x.r.Header.Get(name)) != "" })
	},
	"first": func(x *exchange) bool { return sends(x, of(x.seen, x.seen.first, x.op.Side)) },
	"owner": func(x *exchange) bool { return sends(x, x.seen.owner(x)) },
	"maker": func(x *exchange) bool {
		return sends(x, of(x.seen, x.seen.owners, x.prefix()+of(x.seen, x.seen.homes, x.ids()["run_id"])))
	},
}

// carriers are the headers that say who sends a request.
var carriers = []string{"X-Api-Key", "X-Tenant-Id", "Authorization"}

func credentialsOf(r *http.Request) http.Header {
	h := http.Header{}
	for _, name := range carriers {
		if len(r.Header[name]) > 0 {
			h[name] = r.Header[name]
		}
	}
	return h
}

// sends tells whether the credentials of a request are these.
func sends(x *exchange, credentials http.Header) bool {
	return len(credentials) > 0 && maps.EqualFunc(credentials, credentialsOf(x.r), slices.Equal)
}
