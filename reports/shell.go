package reports

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/agentconform/agentconform/reports/safe"
)

// bare is a word that a POSIX shell takes as it is.
var bare = regexp.MustCompile(`^[\w./:@%+,=-]+$`)

// ShellWord returns the text as one word for a POSIX shell, in which nothing is expanded: in quotes where it needs them.
func ShellWord(s string) string {
	if bare.MatchString(s) {
		return s
	}
	return safe.ShellWord(s)
}

// Flag returns the value of a flag in the command line of the run; "" where it has none that can be part of another
// command: one with control characters would not be shown as it is.
func (r *Run) Flag(name string) string {
	for i, word := range r.Arguments {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(r.Arguments) {
			value = r.Arguments[i+1]
		}
		if flag == name && !strings.ContainsFunc(value, unicode.IsControl) {
			return value
		}
	}
	return ""
}

// ByDefault tells whether the run took the configuration that is found without a flag.
func (r *Run) ByDefault() bool {
	return len(r.Arguments) > 0 && !slices.ContainsFunc(r.Arguments, func(a string) bool {
		return strings.HasPrefix(a, "--config") || strings.HasPrefix(a, "--target") || strings.HasPrefix(a, "--agent-target")
	})
}

// Flags returns those of the flags that the command line of the run has, for a shell: " --config vendor.yaml".
func (r *Run) Flags(names ...string) (words string) {
	for _, name := range names {
		if value := r.Flag(name); value != "" {
			words += " " + name + " " + ShellWord(value)
		}
	}
	return words
}
