package config

import (
	"fmt"
	"strings"
)

// Error is one mistake in a configuration: where it stands, which key it is about, what is wrong with it and what
// to do. It never holds the value of a key that may be a secret.
type Error struct {
	Source  string // "agentconform.yaml:12", "environment AGENTCONFORM_TARGET", "flag --target"
	Key     string // "timeouts.poll"; empty where the whole source is at fault
	Problem string
	Remedy  string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Source)
	if e.Key != "" {
		fmt.Fprintf(&b, ": %s", e.Key)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	return b.String()
}
