package spec

import (
	"net/url"
	"strings"
)

// find returns the operation of a request, or nil. If two templates match, the one with fewer parameters wins.
func (o *Oracle) find(side Side, method, path string) *operation {
	c, segments := o.contracts[side], segmentsOf(path)
	if c == nil {
		return nil
	}
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

// match reports whether a path matches a template, and the number of parameters. An empty segment is never the value of a
// parameter, and neither is a dot segment: a server removes it (RFC 3986, section 5.2.4), and may serve another operation.
func match(template, segments []string) (parameters int, ok bool) {
	if len(template) != len(segments) {
		return 0, false
	}
	for i, t := range template {
		switch {
		case isParameter(t):
			if s := segments[i]; s == "" || s == "." || s == ".." {
				return 0, false
			}
			parameters++
		case t != segments[i]:
			return 0, false
		}
	}
	return parameters, true
}

// In returns the value of a parameter in a path of the operation, or "" if not found. A value that cannot be unescaped is
// returned unchanged.
func (op Operation) In(path, parameter string) string {
	rest, more := strings.TrimPrefix(path, "/"), true
	for template := range strings.SplitSeq(strings.TrimPrefix(op.Path, "/"), "/") {
		if !more {
			break
		}
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if !isParameter(template) || template[1:len(template)-1] != parameter {
			continue
		}
		value, err := url.PathUnescape(segment)
		if err != nil {
			return segment
		}
		return value
	}
	return ""
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

func segmentsOf(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "/"), "/")
}
