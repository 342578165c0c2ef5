package invariants

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// effects holds updates of a field to creating a revision (section 2), those too that only bring about a precondition. Whoever sent
// such an update has waited for its revision, and is blocked by the owner where none came.
//
// Without a field it holds creations to becoming DEPLOYED in the same way.
type effects struct {
	field, owner string
	summary      string
	others       func() []Other
	served       int // requests
}

func (r *effects) note(s *seen) {
	creates := r.field == "" && s.Op.ID == "create-deployment"
	updates := r.field != "" && s.Op.ID == "update-deployment" && s.request.Get(sourceConfig+"."+r.field).Type == gjson.String
	if s.ok() && !s.Wrong && (creates || updates) {
		r.served++
	}
}

func (r *effects) check(*seen) {}

func (r *effects) result() (judged int, found []outcome.Violation) {
	for _, o := range r.others() {
		if !slices.Contains(o.Outcome.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: r.owner}) {
			continue
		}
		for _, v := range o.Outcome.Violations {
			if !slices.ContainsFunc(found, func(f outcome.Violation) bool { return f.Exchange == v.Exchange }) {
				v.Summary = r.summary
				if r.field != "" {
					v.Words = []string{r.field} // a neutral word may be configured wrongly
				}
				found = append(found, v)
			}
		}
	}
	return r.served, found
}
