package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Curl returns a shell line that sends the recorded request again. Secrets appear as the variables that hold them, which
// the shell expands at the recorded places only. Via says how the target was reached; it may be nil.
func (r *Redactor) Curl(method, url string, m reports.Message, via *reports.Connection) string {
	var b strings.Builder
	b.WriteString("curl -sS -i")
	arguments, authority := via.Curl(url)
	for _, word := range arguments {
		b.WriteString(" " + word)
	}
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
	fmt.Fprintf(&b, " %s", literal(reports.WithAuthority(url, authority)))
	return b.String()
}

// Command returns a shell line that starts the program with the arguments. Secrets in them appear as the variables that
// hold them, which the shell expands.
func (r *Redactor) Command(program string, arguments ...string) string {
	line := program
	for _, text := range r.Texts(arguments) {
		word := reports.ShellWord(text)
		if word != text {
			word = r.expanding(text)
		}
		line += " " + word
	}
	return line
}

// body quotes the body, and lets the shell expand names at the recorded places in it.
func (r *Redactor) body(m reports.Message) string {
	quoted, rest := "", 0
	for _, at := range m.SecretSpans() {
		quoted = join(join(quoted, literal(m.Body[rest:at[0]])), r.expanding(m.Body[at[0]:at[1]]))
		rest = at[1]
	}
	return join(quoted, literal(m.Body[rest:]))
}

// literal makes one word of the text for a POSIX shell, in which nothing is expanded.
func literal(s string) string { return trimmed(safe.ShellWord(s)) }

// expanding is literal but for the names of secrets, which are expanded.
func (r *Redactor) expanding(s string) string {
	s = safe.ShellWord(s)
	for _, name := range r.known.Load().names {
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
