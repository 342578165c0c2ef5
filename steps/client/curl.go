package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
)

// Curl returns a shell line that sends the recorded request again. Secrets appear as the variables that hold them, which
// the shell expands at the recorded places only.
func (r *Redactor) Curl(method, url string, m reports.Message) string {
	var b strings.Builder
	b.WriteString("curl -sS -i")
	if method != "GET" {
		b.WriteString(" -X " + method)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		for _, value := range m.Headers[name] {
			switch {
			case value == "": // "Name:" would make curl leave the header out
				fmt.Fprintf(&b, " -H %s", literal(name+";"))
			case slices.Contains(m.Secrets, reports.SecretPlace{Header: name}):
				fmt.Fprintf(&b, " -H %s", join(literal(name+": "), r.expanding(value)))
			default:
				fmt.Fprintf(&b, " -H %s", literal(name+": "+value))
			}
		}
	}
	if m.Body != "" {
		fmt.Fprintf(&b, " --data-raw %s", r.body(m))
	}
	fmt.Fprintf(&b, " %s", literal(url))
	return b.String()
}

// body quotes the body, and lets the shell expand names at the recorded places in it.
func (r *Redactor) body(m reports.Message) string {
	quoted, rest := "", 0
	for _, at := range places(m) {
		quoted = join(join(quoted, literal(m.Body[rest:at.start])), r.expanding(m.Body[at.start:at.end]))
		rest = at.end
	}
	return join(quoted, literal(m.Body[rest:]))
}

// span is a part of a body.
type span struct{ start, end int }

// places finds the recorded places of secrets in the body, in their order.
func places(m reports.Message) []span {
	var found []span
	for _, place := range m.Secrets {
		if place.Pointer == "" {
			continue
		}
		value := gjson.Get(m.Body, strings.ReplaceAll(strings.TrimPrefix(place.Pointer, "/"), "/", "."))
		if value.Type == gjson.String && value.Index > 0 {
			found = append(found, span{value.Index, value.Index + len(value.Raw)})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.start - b.start })
	return found
}

// literal makes one word of the text for a POSIX shell, in which nothing is expanded.
func literal(s string) string {
	return trimmed("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
}

// expanding is literal but for the names of secrets, which are expanded.
func (r *Redactor) expanding(s string) string {
	s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	for _, name := range r.names {
		s = strings.ReplaceAll(s, name, `'"`+name+`"'`)
	}
	return trimmed(s)
}

// trimmed leaves out empty quotes at the ends of a word, unless they are all there is.
func trimmed(s string) string {
	if s == "''" {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "''"), "''")
}

// join puts two words together to one.
func join(a, b string) string {
	switch {
	case a == "" || a == "''":
		return b
	case b == "" || b == "''":
		return a
	}
	if strings.HasSuffix(a, "'") && strings.HasPrefix(b, "'") && !strings.HasSuffix(a, `\'`) && !strings.HasPrefix(b, `'\''`) {
		return a[:len(a)-1] + b[1:]
	}
	return a + b
}
