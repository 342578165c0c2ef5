package deviate

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
)

// Instead lets a handler answer, in place of the one that follows, the requests that meet conditions, which look at
// requests only. "all", and "every" with a half, are also met by requests that the documents do not know.
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
		op, known := operationOf(r)
		side, _ := half(r)
		met := known && slices.Contains(c.operations, op.ID) ||
			!known && slices.Contains([]string{"all", "every " + string(side)}, when[0])
		x := newExchange(r, op, next, seen)
		for _, condition := range c.early {
			met = met && condition.holds(x)
		}
		if met {
			answer.ServeHTTP(w, x.original())
			return
		}
		next.ServeHTTP(w, x.original())
	}), nil
}

var manyOf = regexp.MustCompile(`^(\d+) of (.+)$`)

// many is a list of as many values as the number says.
func (l *loader) many(number, item string) (v value, err error) {
	n, err := strconv.Atoi(number)
	if err != nil || n > 1000 {
		return v, errors.New("a list has 1000 values at most, not " + number)
	}
	v, err = l.value(item)
	v.constant = slices.Repeat([]any{v.constant}, n)
	return v, err
}
