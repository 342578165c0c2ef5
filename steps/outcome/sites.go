//go:build sites

package outcome

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// muted are the sites whose violations are taken for passed, from AGENTCONFORM_MUTE.
var muted = strings.Split(os.Getenv("AGENTCONFORM_MUTE"), ",")

// Site names the place that judged: the first function of the stack outside of this package, and outside of the helpers
// above it that skip counts.
func Site(skip int) string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if own := strings.Contains(frame.Function, "/steps/outcome."); !own {
			if skip == 0 {
				_, file, _ := strings.Cut(frame.File, "/steps/")
				return fmt.Sprintf("%s:%d", file, frame.Line)
			}
			skip--
		}
		if !more {
			return ""
		}
	}
}

// Mutable makes a step definition leave out the violations of muted sites.
func Mutable(function any) any {
	f := reflect.ValueOf(function)
	return reflect.MakeFunc(f.Type(), func(arguments []reflect.Value) []reflect.Value {
		out := f.Call(arguments)
		err, _ := out[0].Interface().(error)
		err = unmuted(err)
		return []reflect.Value{reflect.ValueOf(&err).Elem()}
	}).Interface()
}

// unmuted leaves out the violations of muted sites: nil where there was nothing else.
func unmuted(err error) error {
	var o *Outcome
	if !errors.As(err, &o) || len(o.Violations) == 0 {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(o.Violations), func(v Violation) bool { return slices.Contains(muted, v.Site) })
	switch len(rest) {
	case 0:
		return nil
	case len(o.Violations):
		return err
	}
	same := *o
	same.Violations = rest
	return &same
}
