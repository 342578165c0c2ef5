package faults

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// combined are faults that show only where parameters of a list stand beside each other.
func combined() []Fault {
	return []Fault{
		{
			Name: "offset-is-ignored-beside-both-filters", Breaks: "offset is ignored where status and remote_reconciled are both given", Fails: "CP-LIST-18",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if q.Has("status") && q.Has("remote_reconciled") {
					dropValid(q, "offset")
				}
			}),
		},
		{
			Name: "limit-is-capped-beside-a-status", Breaks: "a limit above 20 is reduced to 20 beside a status filter, from offset 1 on", Fails: "CP-LIST-18",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if n, err := strconv.Atoi(q.Get("limit")); err == nil && n > 20 && n <= 100 && n != 50 && q.Has("status") && q.Has("offset") {
					q.Set("limit", "20")
				}
			}),
		},
		{
			Name: "explicit-offset-0-lifts-the-default-limit", Breaks: "offset=0 without limit returns up to 100 revisions", Fails: "CP-LIST-18",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if q.Get("offset") == "0" && !q.Has("limit") {
					q.Set("limit", "100")
				}
			}),
		},
		{
			Name: "default-limit-is-10-beside-remote-reconciled", Breaks: "the default limit is 10 where remote_reconciled is given", Fails: "CP-LIST-18",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if isBoolean(q.Get("remote_reconciled")) && !q.Has("limit") {
					q.Set("limit", "10")
				}
			}),
		},
		{
			Name: "remote-reconciled-replaces-the-status", Breaks: "the status filter is ignored where remote_reconciled is given", Fails: "CP-LIST-18",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				if f.RemoteReconciled == nil {
					all = keep(all, f.Statuses)
				}
				return cut(all, f.Page)
			}),
		},
		{
			Name: "limit-is-not-checked-beside-a-status", Breaks: "an invalid limit beside a status filter is ignored", Fails: "CP-LIST-19",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if q.Has("status") {
					dropInvalid(q, "limit", 1, 100)
				}
			}),
		},
		{
			Name: "offset-is-not-checked-beside-a-limit", Breaks: "an invalid offset beside a limit is ignored", Fails: "CP-LIST-19",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if n, err := strconv.Atoi(q.Get("limit")); err == nil && n >= 1 && n <= 100 {
					dropInvalid(q, "offset", 0, 1<<62)
				}
			}),
		},
		{
			Name: "remote-reconciled-is-not-checked-beside-an-offset", Breaks: "a remote_reconciled that is no boolean is ignored beside an offset", Fails: "CP-LIST-19",
			Apply: onQuery(listRevisions, func(q url.Values) {
				if q.Has("offset") && !isBoolean(q.Get("remote_reconciled")) {
					q.Del("remote_reconciled")
				}
			}),
		},
		{
			Name: "beside-another-parameter-nothing-is-named", Breaks: "the 422 for an invalid limit beside remote_reconciled names the wrong parameter", Fails: "CP-LIST-19",
			Apply: onStatus(listRevisions, http.StatusUnprocessableEntity, func(r *http.Request, a *answer) {
				if isBoolean(r.URL.Query().Get("remote_reconciled")) {
					a.body = []byte(strings.ReplaceAll(string(a.body), `"limit"`, `"remote_reconciled"`))
				}
			}),
		},
	}
}

func isBoolean(value string) bool { return value == "true" || value == "false" }

// dropInvalid removes a parameter that is no integer between the bounds.
func dropInvalid(q url.Values, name string, least, most int) {
	if n, err := strconv.Atoi(q.Get(name)); q.Has(name) && (err != nil || n < least || n > most) {
		q.Del(name)
	}
}

// dropValid removes a parameter that is an integer of at least 0.
func dropValid(q url.Values, name string) {
	if n, err := strconv.Atoi(q.Get(name)); err == nil && n >= 0 {
		q.Del(name)
	}
}
