package html

import (
	"regexp"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// origin tells what a revision belongs to. Either may be unknown.
type origin struct {
	Deployment string // id
	CreatedBy  string // the scenario or fixture that created the deployment
}

// revisionAddress is an address that names a revision: what polls a revision asks for it there.
var revisionAddress = regexp.MustCompile(`/deployments/([^/?#]+)/revisions/([^/?#]+)`)

// originsOf finds the deployments of the revisions in the timeline: the addresses that were polled name them, the ledger
// says what created them. It reads no further than to the last exchange that it needs.
func originsOf(r *reports.Result, exchanges reports.Exchanges) map[string]origin {
	missing := map[string]bool{}
	for _, t := range r.Timeline {
		missing[t.Revision] = true
	}
	origins := map[string]origin{}
	if exchanges == nil || len(missing) == 0 {
		return origins
	}
	creators := map[string]string{}
	for _, e := range r.Ledger {
		if e.Kind == "deployment" {
			creators[e.ID] = e.CreatedBy
		}
	}
	for x := range exchanges.All() {
		if len(missing) == 0 {
			break
		}
		names := revisionAddress.FindStringSubmatch(x.URL)
		if names == nil || !missing[names[2]] {
			continue
		}
		delete(missing, names[2])
		origins[names[2]] = origin{safe.Visible(safe.Cut(names[1], 200)), creators[names[1]]}
	}
	return origins
}
