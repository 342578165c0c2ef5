package faults

import (
	"net/http"
	"slices"
)

func controlPlane() []Fault { return slices.Concat(listing()) }

func listing() []Fault {
	return []Fault{
		{
			Name: "limit-0-is-the-default", Breaks: "limit 0 is taken for no limit", Fails: "CP-LIST-3",
			Apply: onRequest(listRevisions, func(r *http.Request) {
				editQuery(r, func(q map[string][]string) {
					if slices.Equal(q["limit"], []string{"0"}) {
						delete(q, "limit")
					}
				})
			}),
		},
	}
}
