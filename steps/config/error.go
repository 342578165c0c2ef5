package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Error is one mistake in a configuration: its place, its key, the problem and the remedy. It never holds the value of a key that may be a secret.
type Error struct {
	Source  string // "agentconform.yaml:12", "environment AGENTCONFORM_TARGET", "flag --target"
	Key     string // "timeouts.poll"; empty where the whole source is at fault
	Problem string
	Remedy  string

	meant string // the key that was probably meant, where Key is not one
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

// about is the key that is not valid because of the mistake.
func (e *Error) about() string {
	if e.meant != "" {
		return e.meant
	}
	return e.Key
}

// Errors are all mistakes of a configuration, in the order of its keys: the addresses come first.
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
	keys := keysOf(reflect.TypeFor[Config]())
	place := func(e *Error) int {
		top, _, _ := strings.Cut(e.about(), ".")
		if i := slices.Index(keys, top); i >= 0 {
			return i
		}
		return len(keys)
	}
	slices.SortStableFunc(all, func(a, b *Error) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a.about(), b.about()))
	})
	return all
}

// explains tells whether one of the mistakes is about the key, or a key below or above it: then other problems of the key may
// be consequences. A key that is set is not missing because another one is misspelt.
func (all Errors) explains(key string, given bool) bool {
	return slices.ContainsFunc(all, func(e *Error) bool {
		about := e.about()
		if given && e.meant != "" {
			return false
		}
		return about != "" && (about == key || strings.HasPrefix(about, key+".") || strings.HasPrefix(key, about+"."))
	})
}
