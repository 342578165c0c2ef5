package invariants

import (
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// traces are the forms of stack traces of servers: of Python, JavaScript, Java and the like, Go, Ruby, and .NET. An expression is slow, so
// it is tried only on texts with the words that it needs.
var traces = []struct {
	words string
	form  *regexp.Regexp
}{
	{"Traceback (most", regexp.MustCompile(`Traceback \(most recent call last\)`)},
	{", line ", regexp.MustCompile(`File \\?"[^"\n]+\\?", line \d+`)},
	{"at ", regexp.MustCompile(`(?:\n|\\n)(?:\s|\\t)+at \S.*?[(: ][^()\s]+:\d+`)},
	{"goroutine ", regexp.MustCompile(`goroutine \d+ \[`)},
	{".go:", regexp.MustCompile(`\.go:\d+ \+0x[0-9a-f]+`)},
	{".rb:", regexp.MustCompile(`\.rb:\d+:in `)},
	{") in ", regexp.MustCompile(`(?:\n|\\n)(?:\s|\\t)+at \S+\.\S+\(.*?\) in `)},
}

// trace is what of a text is part of a stack trace, "" where nothing is.
func trace(text string) string {
	for _, t := range traces {
		if strings.Contains(text, t.words) {
			if found := t.form.FindString(text); found != "" {
				return found
			}
		}
	}
	return ""
}

// traceless holds refusals free of stack traces (section 7): a client cannot act on them, and they show what a server is made of.
type traceless struct {
	side spec.Side
	tally
}

func (r *traceless) note(*seen) {}

func (r *traceless) check(s *seen) {
	if s.Side != r.side || s.Status < 400 {
		return
	}
	r.judged++
	if found := trace(s.Answer); found != "" {
		r.violated(s, "", "a refusal holds a stack trace", "no stack trace", found)
	}
}
