package client

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Curl returns a shell line that sends the recorded request again. Secrets appear as the variables that hold them,
// which the shell expands at the recorded places only. Via says how the target was reached; it may be nil.
func (r *Redactor) Curl(method, url string, m reports.Message, via *reports.Connection) string {
	var b strings.Builder
	b.WriteString("curl -sS -i")
	arguments, address := via.Curl(url)
	for _, word := range arguments {
		b.WriteString(" " + word)
	}
	if method != "GET" {
		b.WriteString(" -X " + method)
	}
	for _, header := range m.SortedHeaders() {
		name, value := header[0], header[1]
		text, spans := name+": "+value, [][2]int(nil)
		if value == "" { // "Name:" would make curl leave the header out
			text = name + ";"
		} else if slices.Contains(m.Secrets, reports.SecretPlace{Header: name}) {
			spans = [][2]int{{len(text) - len(value), len(text)}}
		}
		b.WriteString(" -H " + r.word(text, spans...))
	}
	if m.Body != "" {
		b.WriteString(" --data-raw " + r.word(m.Body, m.SecretSpans()...))
	}
	b.WriteString(" " + r.word(address))
	return b.String()
}

// Command returns a shell line that starts the program with the arguments. Secrets in them appear as the variables that
// hold them, which the shell expands.
func (r *Redactor) Command(program string, arguments ...string) string {
	line := program
	for _, argument := range arguments {
		text := r.Text(argument)
		word := reports.ShellWord(text)
		if word != text {
			word = r.word(text, [2]int{0, len(text)})
		}
		line += " " + word
	}
	return line
}

// word makes one word of the text for a POSIX shell, in which nothing is expanded but the names of secrets within the
// spans.
func (r *Redactor) word(text string, spans ...[2]int) string {
	var b strings.Builder
	quoted := 0
	quote := func(to int) {
		if to > quoted {
			b.WriteString(safe.ShellWord(text[quoted:to]))
		}
		quoted = to
	}
	for _, span := range spans {
		for at := max(span[0], quoted); at < span[1]; at++ {
			if name := r.nameAt(text[at:span[1]]); name != "" {
				quote(at)
				b.WriteString(`"` + name + `"`)
				quoted = at + len(name)
				at = quoted - 1
			}
		}
	}
	if quote(len(text)); b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// nameAt is the longest name of a secret that a text begins with, "" where there is none.
func (r *Redactor) nameAt(text string) (longest string) {
	if !strings.HasPrefix(text, "$") {
		return ""
	}
	for _, name := range r.known.Load().names { // in their order: of those that begin alike the longest is last
		if strings.HasPrefix(text, name) {
			longest = name
		}
	}
	return longest
}
