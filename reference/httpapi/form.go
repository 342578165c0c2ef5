package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// largestBody is the maximum size of a request body, in bytes.
const largestBody = 1 << 20

// Problem is a ValidationError of the interface, section 2.
type Problem struct {
	Loc  []any  `json:"loc"` // the place in the request, as strings and integers
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

// Form reads the parameters and the body of one request, and collects the problems, so that one response contains all of
// them. An invalid value is read as a harmless one. Problems never contain values, because these may be secrets.
//
// The tests check every accepted request and every response with openapi3filter. The server does not use it: it compiles
// its schemas for each request (0.1 ms for a query, 0.3 ms for a body, a tenth of the CPU time of a test run), and most of
// a body would have to be read a second time, because the documents leave much of it open.
type Form struct{ problems []Problem }

// Wrong adds a problem.
func (f *Form) Wrong(kind, msg string, loc ...any) {
	f.problems = append(f.problems, Problem{Loc: loc, Msg: msg, Type: kind})
}

// Err returns a 422 with the problems, or nil if there are none.
func (f *Form) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	return &Refusal{http.StatusUnprocessableEntity, f.problems}
}

// PathUUID reads a UUID of 36 characters in the path. It returns the UUID in lower case.
func (f *Form) PathUUID(r *http.Request, name string) string {
	text := r.PathValue(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) {
		f.Wrong("uuid_parsing", "Input should be a valid UUID", "path", name)
	}
	return id.String()
}

// Query reads the query of a request.
func (f *Form) Query(r *http.Request) Scalars {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		f.Wrong("value_error", "Value error, the query cannot be read", "query")
	}
	return Scalars{f, "query", values}
}

// Scalars reads scalar values of a query, or of an object in a body.
type Scalars struct {
	form   *Form
	in     string
	values url.Values
}

// text returns the text of a value. It reports whether the value was sent exactly once.
func (s Scalars) text(name string) (text string, given bool) {
	values := s.values[name]
	if len(values) > 1 {
		s.form.Wrong("value_error", "Value error, the parameter should be given once", s.in, name)
	}
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// Text reads a text. It returns "" if the value is absent.
func (s Scalars) Text(name string) string {
	text, _ := s.text(name)
	return text
}

// Int reads an integer from least to most. It returns otherwise if the value is absent or invalid.
func (s Scalars) Int(name string, otherwise, least, most int) int {
	text, given := s.text(name)
	if !given {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		s.form.Wrong("int_parsing", "Input should be a valid integer", s.in, name)
	case n < least:
		s.form.Wrong("greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least), s.in, name)
	case n > most:
		s.form.Wrong("less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most), s.in, name)
	case err != nil:
		s.form.Wrong("int_parsing_size", "Input should be a valid integer of at most 64 bits", s.in, name)
	default:
		return n
	}
	return otherwise
}

// Bool reads true or false. It returns nil if the value is absent.
func (s Scalars) Bool(name string) *bool {
	text, given := s.text(name)
	value := strings.EqualFold(text, "true")
	switch {
	case !given:
		return nil
	case !value && !strings.EqualFold(text, "false"):
		s.form.Wrong("bool_parsing", "Input should be a valid boolean, true or false", s.in, name)
		return nil
	}
	return &value
}

// Choices reads a comma-separated list of allowed values. It returns nil if the value is absent.
func Choices[T ~string](s Scalars, name string, allowed []T) []T {
	text, given := s.text(name)
	if !given {
		return nil
	}
	var chosen []T
	for part := range strings.SplitSeq(text, ",") {
		choice := T(strings.TrimSpace(part))
		if !slices.Contains(allowed, choice) {
			s.form.Wrong("enum", fmt.Sprintf("Input should be some of %v, separated by commas", allowed), s.in, name)
			return nil
		}
		chosen = append(chosen, choice)
	}
	return chosen
}

// Object reads a JSON object in a body. A member that is null counts as absent (interface, section 2).
type Object struct {
	Members map[string]any // with numbers as json.Number
	form    *Form
	loc     []any
}

// Body reads a body that is a JSON object. If mayBeAbsent is true, an empty body counts as an empty object. Body returns
// an error if it cannot receive the body.
func (f *Form) Body(r *http.Request, mayBeAbsent bool) (Object, error) {
	o := Object{form: f, loc: []any{"body"}}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			f.Wrong("value_error", "Value error, the body should be application/json", "header", "content-type")
		}
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, largestBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return o, Refuse(http.StatusRequestEntityTooLarge, "The request body is larger than %d bytes.", largestBody)
	case err != nil:
		return o, Refuse(http.StatusBadRequest, "The request body ended before its announced length.")
	case len(text) == 0 && mayBeAbsent:
		return o, nil
	}
	var value any
	if err := Unmarshal(text, &value); err != nil {
		f.Wrong("json_invalid", "JSON decode error: "+err.Error(), o.loc...)
		return o, nil
	}
	o.Members, _ = value.(map[string]any)
	if o.Members == nil {
		f.Wrong("dict_type", "Input should be a valid dictionary", o.loc...)
	}
	return o, nil
}

// Unmarshal decodes one JSON value. Numbers keep their spelling.
func Unmarshal(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errors.New("the text is not encoded as UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more after the JSON value")
	}
	return nil
}

// At returns the place of a member.
func (o Object) At(name string) []any { return append(slices.Clone(o.loc), name) }

// Wrong adds a problem of a member.
func (o Object) Wrong(name, kind, msg string) { o.form.Wrong(kind, msg, o.At(name)...) }

// Require adds a problem for each missing member. It does nothing if the value is not an object, which is already a
// problem.
func (o Object) Require(names ...string) {
	for _, name := range names {
		if o.Members != nil && o.Members[name] == nil {
			o.Wrong(name, "missing", "Field required")
		}
	}
}

// Get reads a member of a type. It returns nil if the member is absent or invalid. kind is the name of the type in JSON.
func Get[T any](o Object, name, kind string) *T {
	value, ok := o.Members[name].(T)
	if ok {
		return &value
	}
	if o.Members[name] != nil {
		o.Wrong(name, kind+"_type", "Input should be a valid "+kind)
	}
	return nil
}

// String reads a string. It returns nil if the member is absent.
func (o Object) String(name string) *string { return Get[string](o, name, "string") }

// Text reads a string that must not be empty. It returns nil if the member is absent.
func (o Object) Text(name string) *string {
	text := o.String(name)
	if text != nil && *text == "" {
		o.Wrong(name, "string_too_short", "String should have at least 1 character")
		return nil
	}
	return text
}

// Choice reads one of the allowed strings. It returns "" if the member is absent.
func Choice[T ~string](o Object, name string, allowed []T) T {
	text, _ := o.Members[name].(string)
	if o.Members[name] != nil && !slices.Contains(allowed, T(text)) {
		o.Wrong(name, "enum", fmt.Sprintf("Input should be one of %v", allowed))
		return ""
	}
	return T(text)
}

// Object reads a member that is an object. It returns an empty object if the member is absent.
func (o Object) Object(name string) Object {
	inner := Object{form: o.form, loc: o.At(name)}
	members := Get[map[string]any](o, name, "object")
	switch {
	case members != nil:
		inner.Members = *members
	case o.Members[name] == nil:
		inner.Members = map[string]any{}
	}
	return inner
}

// Objects reads a list of objects. It returns nil if the member is absent.
func (o Object) Objects(name string) []Object {
	items := Get[[]any](o, name, "array")
	if items == nil {
		return nil
	}
	list := make([]Object, len(*items))
	for i, item := range *items {
		members, _ := item.(map[string]any)
		list[i] = Object{form: o.form, loc: append(o.At(name), i), Members: members}
		if members == nil {
			o.form.Wrong("dict_type", "Input should be a valid dictionary", list[i].loc...)
		}
	}
	return list
}

// Scalars returns a reader for the members that uses the rules of a query. A JSON string is not read as a number.
func (o Object) Scalars() Scalars {
	values := url.Values{}
	for name, value := range o.Members {
		if text, err := json.Marshal(value); err == nil && value != nil {
			values.Set(name, string(text))
		}
	}
	return Scalars{o.form, "body", values}
}
