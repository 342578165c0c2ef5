package spec

import (
	"net/url"
	"strings"
)

// find matches a request with the templates. Where two fit, the one with fewer parameters is meant.
func (o *Oracle) find(side Side, method, path string) *operation {
	c := o.contracts[side]
	if c == nil {
		return nil
	}
	segments := segmentsOf(path)
	var best *operation
	fewest := len(segments) + 1
	for _, op := range c.operations {
		if op.Method != method {
			continue
		}
		if n, ok := match(op.segments, segments); ok && n < fewest {
			best, fewest = op, n
		}
	}
	return best
}

// match compares a path with a template, and counts the parameters. An empty segment is never a parameter's value.
func match(template, segments []string) (parameters int, ok bool) {
	if len(template) != len(segments) {
		return 0, false
	}
	for i, t := range template {
		switch {
		case isParameter(t):
			if segments[i] == "" {
				return 0, false
			}
			parameters++
		case t != segments[i]:
			return 0, false
		}
	}
	return parameters, true
}

// pathValues are the values of the parameters in a path that matches.
func (op *operation) pathValues(path string) map[string]string {
	values := map[string]string{}
	segments := segmentsOf(path)
	for i, t := range op.segments {
		if !isParameter(t) {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			value = segments[i] // what cannot be unescaped is judged as it stands
		}
		values[strings.Trim(t, "{}")] = value
	}
	return values
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

func segmentsOf(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "/"), "/")
}
