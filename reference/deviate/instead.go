package deviate

import (
	"errors"
	"net/http"
	"slices"
)

// Instead lets a handler answer, in place of the one that follows, the requests that meet conditions, which look at
// requests only.
func Instead(when []string, answer, next http.Handler) (http.Handler, error) {
	c := Change{When: when, Do: texts{"unserved"}}
	if err := (&loader{}).change(&c); err != nil {
		return nil, err
	}
	if len(c.late) > 0 {
		return nil, errors.New("a condition looks at the answer, and there is none yet")
	}
	seen := newMemory()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := newExchange(r, OperationOf(r), next, seen)
		if slices.Contains(c.operations, x.op.ID) && x.all(c.early) {
			answer.ServeHTTP(w, x.original())
			return
		}
		next.ServeHTTP(w, x.original())
	}), nil
}
