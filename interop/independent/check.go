package independent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// checker collects everything that is wrong with a request, so that one answer can name it all (interface, section 7).
type checker struct{ problems []problem }

type problem struct {
	loc       []any
	msg, kind string
}

func (c *checker) add(loc []any, kind, msg string, args ...any) {
	c.problems = append(c.problems, problem{loc: loc, kind: kind, msg: fmt.Sprintf(msg, args...)})
}

func (c *checker) ok() bool { return len(c.problems) == 0 }

// fields reads one JSON object of a request, and notes what has the wrong type. Null and absent are the same.
type fields struct {
	c   *checker
	loc []any
	m   map[string]any
}

// readObject decodes the request's body, which has to be one JSON object and nothing else.
func (c *checker) readObject(r *http.Request) fields {
	f := fields{c: c}
	dec := json.NewDecoder(r.Body)
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		c.add([]any{"body", 0}, "unreadable", "no JSON: %v", err)
		return f
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		c.add([]any{"body", 0}, "unreadable", "there is something behind the JSON value")
		return f
	}
	m, ok := v.(map[string]any)
	if !ok {
		c.add([]any{"body"}, "wrong-kind", "expected an object")
	}
	f.m = m
	return f
}

func (f fields) at(key any) []any { return append(append([]any{}, f.loc...), key) }

func (f fields) wrong(key, want string) { f.c.add(f.at(key), "wrong-kind", "expected %s", want) }

// text reads a string that may not be blank.
func (f fields) text(key string) *string {
	v := f.m[key]
	s, ok := v.(string)
	switch {
	case v == nil:
		return nil
	case !ok:
		f.wrong(key, "text")
		return nil
	case strings.TrimSpace(s) == "":
		f.c.add(f.at(key), "blank", "may not be blank")
		return nil
	}
	return &s
}

func (f fields) boolean(key string) *bool {
	b, ok := f.m[key].(bool)
	if f.m[key] == nil {
		return nil
	}
	if !ok {
		f.wrong(key, "true or false")
	}
	return &b
}

func (f fields) object(key string) fields {
	child := fields{c: f.c, loc: f.at(key)}
	if v := f.m[key]; v != nil {
		m, ok := v.(map[string]any)
		if !ok {
			f.wrong(key, "an object")
		}
		child.m = m
	}
	return child
}

// objects reads an array whose items are all objects.
func (f fields) objects(key string) []fields {
	v := f.m[key]
	items, ok := v.([]any)
	if v != nil && !ok {
		f.wrong(key, "a list")
	}
	var out []fields
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			f.c.add(append(f.at(key), i), "wrong-kind", "expected an object")
		}
		out = append(out, fields{c: f.c, loc: append(f.at(key), i), m: m})
	}
	return out
}

// whole reads an integer field within bounds.
func (f fields) whole(key string, fallback, low, high int) int {
	switch v := f.m[key].(type) {
	case nil:
		return fallback
	case json.Number:
		return f.c.whole(f.at(key), v.String(), low, high)
	default:
		f.wrong(key, "a whole number")
		return fallback
	}
}

var digits = regexp.MustCompile(`^-?[0-9]+$`)

// whole reads an integer of any size. Where high is 0 there is no upper bound, and larger values are cut.
func (c *checker) whole(loc []any, text string, low, high int) int {
	const beyond = 1 << 30
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || !digits.MatchString(text) {
		c.add(loc, "not-whole", "%q is no whole number", text)
		return low
	}
	if n.Cmp(big.NewInt(int64(low))) < 0 || high > 0 && n.Cmp(big.NewInt(int64(high))) > 0 {
		c.add(loc, "out-of-range", "%s is outside the range that starts at %d", text, low)
		return low
	}
	if n.Cmp(big.NewInt(beyond)) > 0 {
		return beyond
	}
	return int(n.Int64())
}

// single reads a query parameter that may be given once at most.
func (c *checker) single(q url.Values, key string) (string, bool) {
	if len(q[key]) > 1 {
		c.add([]any{key}, "repeated", "given %d times", len(q[key]))
	}
	return q.Get(key), q.Has(key)
}

// uuid wants an id of the path to have the usual form of 36 characters, in any case.
func (c *checker) uuid(name, text string) {
	if len(text) != 36 || uuid.Validate(text) != nil {
		c.add([]any{name}, "not-uuid", "%q is not a valid UUID", text)
	}
}
