package config

import (
	"fmt"
	"strings"
)

// Error is one mistake in a configuration: its place, its key, the problem and the remedy. It never holds the value of
// a key that may be a secret.
type Error struct {
	Source  string // "agentconform.yaml:12", "environment AGENTCONFORM_TARGET", "flag --target"
	Key     string // "timeouts.poll"; empty where the whole source is at fault
	Problem string
	Remedy  string
}

func (e *Error) Error() string {
	text := e.Source
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Problem + "; " + e.Remedy
}

// Errors are all mistakes of a configuration that could be told at once.
type Errors []*Error

func (all Errors) Error() string {
	if len(all) == 1 {
		return all[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d mistakes in the configuration:", len(all))
	for _, e := range all {
		fmt.Fprintf(&b, "\n  %s", e.Error())
	}
	return b.String()
}

// Unwrap makes each of them known to errors.As.
func (all Errors) Unwrap() []error {
	each := make([]error, len(all))
	for i, e := range all {
		each[i] = e
	}
	return each
}

// err is nil when there is no mistake.
func (all Errors) err() error {
	if len(all) == 0 {
		return nil
	}
	return all
}
