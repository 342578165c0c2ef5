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

// condition reports whether a change applies to an exchange.
type condition func(x *exchange) bool

// kinds contains the tests of "PLACE is KIND".
var kinds = map[string]func(value any, has bool) bool{
	"absent":  func(_ any, has bool) bool { return !has },
	"present": func(value any, has bool) bool { return has && value != nil },
	"null":    func(value any, has bool) bool { return has && value == nil },
	"empty":   func(value any, has bool) bool { return has && isEmpty(value) },
	"filled":  func(value any, has bool) bool { return has && value != nil && !isEmpty(value) },
	"text":    func(value any, _ bool) bool { _, ok := value.(string); return ok },
	"list":    func(value any, _ bool) bool { _, ok := value.([]any); return ok },
	"object":  func(value any, _ bool) bool { _, ok := value.(map[string]any); return ok },
	"number":  func(value any, _ bool) bool { _, ok := value.(json.Number); return ok },
	"integer": func(value any, _ bool) bool { _, err := strconv.Atoi(textOf(value)); return err == nil },
}

// isEmpty reports whether a value is an empty text, list or object.
func isEmpty(value any) bool {
	return slices.Contains([]string{`""`, "[]", "{}"}, string(encoded(value)))
}

// comparisons compare the value at a place with the value of the row.
var comparisons = map[string]func(got, want any) bool{
	"=":      func(got, want any) bool { return textOf(got) == textOf(want) },
	"!=":     func(got, want any) bool { return textOf(got) != textOf(want) },
	"<":      onNumbers(func(got, want float64) bool { return got < want }),
	">":      onNumbers(func(got, want float64) bool { return got > want }),
	"<=":     onNumbers(func(got, want float64) bool { return got <= want }),
	">=":     onNumbers(func(got, want float64) bool { return got >= want }),
	"starts": onTexts(strings.HasPrefix),
	"ends":   onTexts(strings.HasSuffix),
	"has":    onTexts(strings.Contains),
}

// onTexts returns a comparison of texts. It is false if the text of the row is empty.
func onTexts(compare func(got, want string) bool) func(got, want any) bool {
	return func(got, want any) bool { return textOf(want) != "" && compare(textOf(got), textOf(want)) }
}

// onNumbers returns a comparison of numbers or times. It is false for other values.
func onNumbers(compare func(got, want float64) bool) func(got, want any) bool {
	return func(got, want any) bool {
		a, isA := numberOf(got)
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
		return func(x *exchange) bool { return !x.memory.lastSuccess(x, rest).IsZero() }, err
	case "within":
		span, operation, _ := strings.Cut(rest, " of ")
		d, err := time.ParseDuration(span)
		if err != nil {
			return nil, err
		}
		_, err = Documents().named(operation)
		return func(x *exchange) bool { return time.Since(x.memory.lastSuccess(x, operation)) < d }, err
	case "known":
		_, err := l.place("path." + rest)
		return func(x *exchange) bool { return lookup(x.memory, x.memory.ids, x.ids()[rest]) }, err
	case "nth", "every", "first":
		return l.nth(word, rest)
	case "count":
		at, rest, _ := strings.Cut(rest, " ")
		return l.comparing(at, rest, func(list any) any {
			all, ok := list.([]any)
			if !ok {
				return nil
			}
			return len(all)
		})
	}
	return l.comparing(word, rest, func(value any) any { return value })
}

// nth reads a condition that counts exchanges of an object, or of all objects.
func (l *loader) nth(word, which string) (condition, error) {
	number, ofAll := strings.CutSuffix(which, " of all")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("invalid count %q: write a number from 1 on, such as %s 2", which, word)
	}
	key := l.newKey()
	return func(x *exchange) bool {
		object := x.object()
		if ofAll {
			object = ""
		}
		count := x.memory.count(key + object)
		switch word {
		case "nth":
			return count == n
		case "every":
			return count%n == 0
		default:
			return count <= n
		}
	}, nil
}

// comparing reads a comparison of the value at a place. derive computes the compared value from it.
func (l *loader) comparing(at, rest string, derive func(any) any) (condition, error) {
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
	if rest == "= 2xx" && p.hasRoot("status") {
		return func(x *exchange) bool { return x.response.Status < 300 }, nil
	}
	if operator == "matches" {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		return func(x *exchange) bool {
			found, has := x.at(p, slot{})
			return has && pattern.MatchString(textOf(derive(found)))
		}, nil
	}
	v, err := l.value(text)
	if err != nil {
		return nil, err
	}
	compare, known := comparisons[operator]
	if !known {
		return nil, fmt.Errorf("unknown comparison %q", operator)
	}
	return func(x *exchange) bool {
		found, has := x.at(p, slot{})
		return (has || operator == "!=") && compare(derive(found), v.in(x, slot{}))
	}, nil
}

// callers contains the tests of "caller WHO".
var callers = map[string]func(x *exchange) bool{
	"anonymous": func(x *exchange) bool { return len(credentialsOf(x.r)) == 0 },
	"without-credentials": func(x *exchange) bool { // missing or empty credentials
		return !slices.ContainsFunc(carriers, func(name string) bool { return strings.TrimSpace(x.r.Header.Get(name)) != "" })
	},
	"gone":  func(x *exchange) bool { return x.r.Context().Err() != nil }, // a caller that has closed the connection
	"first": func(x *exchange) bool { return sends(x, lookup(x.memory, x.memory.first, x.op.Side)) },
	"owner": func(x *exchange) bool { return sends(x, x.memory.owner(x)) },
	"maker": func(x *exchange) bool {
		return sends(x, lookup(x.memory, x.memory.owners, x.basePath()+lookup(x.memory, x.memory.homes, x.ids()["run_id"])))
	},
}

// carriers are the headers that carry credentials.
var carriers = []string{"X-Api-Key", "X-Tenant-Id", "Authorization"}

// credentialsOf returns the headers of a request that carry credentials.
func credentialsOf(r *http.Request) http.Header {
	h := http.Header{}
	for _, name := range carriers {
		if len(r.Header[name]) > 0 {
			h[name] = r.Header[name]
		}
	}
	return h
}

func sends(x *exchange, credentials http.Header) bool {
	return len(credentials) > 0 && maps.EqualFunc(credentials, credentialsOf(x.r), slices.Equal)
}
