package validate

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Query reads the parameters of a query string. One that is given several times is refused: its document allows it once.
type Query struct {
	values   map[string]string
	repeated map[string]bool
	problems *Problems
}

// ParseQuery splits a raw query. A part that cannot be unescaped is kept as it is: what reads it then refuses it by
// name, where net/url would drop it and the default would silently take its place.
func ParseQuery(raw string, problems *Problems) Query {
	q := Query{values: map[string]string{}, repeated: map[string]bool{}, problems: problems}
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key = unescape(key)
		_, q.repeated[key] = q.values[key]
		q.values[key] = unescape(value)
	}
	return q
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// get returns the text of a parameter that is given once.
func (q Query) get(name string) (raw string, given bool) {
	raw, given = q.values[name]
	if given && q.repeated[name] {
		q.add(name, "value_error", "Value error, the parameter should be given once", raw)
		return "", false
	}
	return raw, given
}

// Int reads an integer from least to most. One of more than 64 bits is refused.
func (q Query) Int(name string, byDefault, least, most int) int {
	raw, given := q.get(name)
	if !given {
		return byDefault
	}
	n, ok, fits := parseInt(raw)
	switch {
	case !ok:
		q.add(name, "int_parsing", "Input should be a valid integer", raw)
	case n < least:
		q.add(name, "greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least), raw)
	case n > most:
		q.add(name, "less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most), raw)
	case !fits:
		q.add(name, "int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size", raw)
	default:
		return n
	}
	return byDefault
}

// parseInt reads decimal digits. Where the number does not fit, it is the nearest that does.
func parseInt(raw string) (n int, ok, fits bool) {
	digits := strings.TrimPrefix(raw, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false, false
	}
	n, err := strconv.Atoi(raw)
	return n, true, err == nil
}

// Bool reads true or false; nil when the parameter is absent.
func (q Query) Bool(name string) *bool {
	raw, given := q.get(name)
	if !given {
		return nil
	}
	value := strings.EqualFold(raw, "true")
	if !value && !strings.EqualFold(raw, "false") {
		q.add(name, "bool_parsing", "Input should be a valid boolean, true or false", raw)
		return nil
	}
	return &value
}

// Text reads a string, empty when the parameter is absent.
func (q Query) Text(name string) string {
	raw, _ := q.get(name)
	return raw
}

// Choices reads a comma-separated list of some of the allowed values; nil when the parameter is absent.
func (q Query) Choices(name string, allowed []string) []string {
	raw, given := q.get(name)
	if !given {
		return nil
	}
	var chosen []string
	for part := range strings.SplitSeq(raw, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(allowed, part) {
			q.add(name, "enum", "Input should be a comma-separated list of "+oneOf(allowed), raw)
			return nil
		}
		chosen = append(chosen, part)
	}
	return chosen
}

func (q Query) add(name, kind, msg, raw string) {
	q.problems.Add([]any{"query", name}, kind, msg, raw)
}

// PathUUID reads a uuid of the path in its usual 36 characters, and returns it in lower case, as it is stored.
func PathUUID(name, raw string, problems *Problems) string {
	id, err := uuid.Parse(raw)
	if err != nil || len(raw) != len("00000000-0000-0000-0000-000000000000") {
		problems.Add([]any{"path", name}, "uuid_parsing", "Input should be a valid UUID", raw)
		return ""
	}
	return strings.ToLower(id.String())
}
