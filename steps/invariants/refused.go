package invariants

import (
	"regexp"

	"github.com/agentconform/agentconform/spec"
)

// traces finds stack traces of servers: of Python, JavaScript, Java and the like, Go, Ruby, and .NET.
var traces = regexp.MustCompile(`Traceback \(most recent call last\)|File \\?"[^"\n]+\\?", line \d+|` +
	`(?:\n|\\n)\s+at \S.*?[(: ][^()\s]+:\d+|goroutine \d+ \[|\.go:\d+ \+0x[0-9a-f]+|\.rb:\d+:in |(?:\n|\\n)\s+at \S+\.\S+\(.*?\) in `)

// traceless holds refusals free of stack traces (section 7): a client cannot act on them, and they show what a server is made of.
type traceless struct {
	side spec.Side
	tally
}

func (r *traceless) note(*seen) {}

func (r *traceless) check(s *seen) {
	if s.side != r.side || s.status < 400 {
		return
	}
	r.judged++
	if found := traces.FindString(s.exchange.Response.Body); found != "" {
		r.violated(s, "", "a refusal holds a stack trace", "no stack trace", found)
	}
}
