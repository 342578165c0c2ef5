package faults

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// clampedTo is a bound of a server's own.
const clampedTo = "4611686018427387904" // 1<<62

// clamping replaces an offset beyond 64 bits.
func clamping() Layer {
	return onQuery(listRevisions, func(q url.Values) {
		if _, err := strconv.ParseInt(q.Get("offset"), 10, 64); errors.Is(err, strconv.ErrRange) {
			q.Set("offset", clampedTo)
		}
	})
}

// onProblemWith changes the 422 of list revisions that names the parameter.
func onProblemWith(parameter string, change func(r *http.Request, a *answer)) Layer {
	return onStatus(listRevisions, http.StatusUnprocessableEntity, func(r *http.Request, a *answer) {
		if strings.Contains(string(a.body), `"`+parameter+`"`) {
			change(r, a)
		}
	})
}
