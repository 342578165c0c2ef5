package invariants

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// effects holds updates of a field to creating a revision (section 2), those too that only bring about a precondition. Whoever sent
// such an update has waited for its revision, and is blocked by the owner where none came.
type effects struct {
	field, owner string
	others       func() []Other
	updates      int // that were served
}

func (r *effects) note(s *seen) {
	if s.op.ID == "update-deployment" && s.ok() && !s.wrong && s.request.Get(sourceConfig+"."+r.field).Type == gjson.String {
		r.updates++
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
				v.Words, v.Summary = []string{r.field}, "an update of "+r.field+" was served and created no revision"
				found = append(found, v)
			}
		}
	}
	return r.updates, found
}
