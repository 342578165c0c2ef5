package faults

import (
	"net/http"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

func credentials() []Fault {
	return []Fault{
		{
			Name:   "refused-update-supersedes",
			Breaks: "an update without credentials gets 401, but is applied, and the revision that was being built becomes SKIPPED or INTERRUPTED",
			Fails:  "CP-AUTH-3", Elsewhere: true,
			Apply: compose(refusedButDone(anonymous, updateDeployment), func(o *reference.Options) { o.Pace = 100 * time.Millisecond }),
		},
	}
}

// servingUnauthenticated serves callers without valid credentials as if they were the owner.
func servingUnauthenticated(who func(*http.Request) bool, ops ...operation) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !oneOf(ops, r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		readBody(r)
		a := deviate.Capture(next, r)
		if a.Status == http.StatusUnauthorized {
			m.asOwner(r)
			readBody(r)
			a = deviate.Capture(next, r)
		}
		a.Send(w)
	})
}

// refusedButDone answers 401 correctly, but carries the request out.
func refusedButDone(who func(*http.Request) bool, op operation) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !op.is(r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		text := readBody(r)
		a := deviate.Capture(next, r)
		if a.Status == http.StatusUnauthorized {
			m.asOwner(r)
			setBody(r, text)
			deviate.Capture(next, r)
		}
		a.Send(w)
	})
}

func oneOf(ops []operation, r *http.Request) bool {
	return slices.ContainsFunc(ops, func(op operation) bool { return op.is(r) })
}
