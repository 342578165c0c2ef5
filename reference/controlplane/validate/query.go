package validate

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Query reads the parameters of a query string. Where a parameter is given several times the last one counts.
type Query struct {
	values   map[string]string
	problems *Problems
}

// ParseQuery splits a raw query. A part that cannot be unescaped is kept as it is: what reads it then refuses it by
// name, where net/url would drop it and the default would silently take its place.
func ParseQuery(raw string, problems *Problems) Query {
	q := Query{values: map[string]string{}, problems: problems}
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		q.values[unescape(key)] = unescape(value)
	}
	return q
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// Int reads an integer from least to most. A larger number than an int is treated as the largest.
func (q Query) Int(name string, byDefault, least, most int) int {
	raw, given := q.values[name]
	if !given {
		return byDefault
	}
	n, ok := parseInt(raw)
	switch {
	case !ok:
		q.add(name, "int_parsing", "Input should be a valid integer", raw)
	case n < least:
		q.add(name, "greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", least), raw)
	case n > most:
		q.add(name, "less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", most), raw)
	default:
		return n
	}
	return byDefault
}

func parseInt(raw string) (n int, ok bool) {
	digits := strings.TrimPrefix(raw, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(raw)
	if err == nil {
		return n, true
	}
	if digits != raw {
		return math.MinInt, true
	}
	return math.MaxInt, true
}

// Bool reads true or false; nil when the parameter is absent.
func (q Query) Bool(name string) *bool {
	raw, given := q.values[name]
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
func (q Query) Text(name string) string { return q.values[name] }

// Choices reads a comma-separated list of some of the allowed values; nil when the parameter is absent.
func (q Query) Choices(name string, allowed []string) []string {
	raw, given := q.values[name]
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
