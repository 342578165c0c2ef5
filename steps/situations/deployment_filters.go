package situations

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

func (d *Deployment) allStatusesHold(ctx context.Context) error {
	l, err := d.Plane.ListAll(ctx, d.ID, plane.StatusFilter(spec.RevisionStatuses()...))
	if err != nil {
		return err
	}
	return d.holdsAll(l, "with all thirteen statuses")
}

// filtersHold reads the revisions again if a list is wrong, because their statuses may have changed meanwhile and each
// response may be as old as patience.
func (d *Deployment) filtersHold(ctx context.Context) error {
	const attempts = 3
	read := d.afterList
	var wrong error
	for range attempts {
		if err := d.rest(ctx); err != nil {
			return err
		}
		var err error
		wrong, err = d.judgeFilters(ctx, read)
		if err != nil || wrong == nil {
			return err
		}
		if err := d.rest(ctx); err != nil {
			return err
		}
		now, err := d.Plane.GetEach(ctx, d.Deployment)
		if err != nil {
			return err
		}
		if haveStatuses(now, read) {
			return wrong
		}
		read = now
	}
	return outcome.Inapplicable("situations", "the statuses of the revisions change while lists are read: %v", wrong)
}

// haveStatuses reports whether revisions still have the given statuses.
func haveStatuses(now, before []*exchange.Response) bool {
	return slices.EqualFunc(now, before, func(a, b *exchange.Response) bool {
		return a.Get("status").String() == b.Get("status").String()
	})
}

// judgeFilters judges the list of each status that a revision has, and of the first status that no revision has. wrong is
// the violation. err is an error that prevents the judgement.
func (d *Deployment) judgeFilters(ctx context.Context, read []*exchange.Response) (wrong, err error) {
	ids := map[string][]string{}
	for i, a := range read {
		status := a.Get("status").String()
		if !a.OK() || !exchange.SameID(a.Get("id").String(), d.Revisions[i]) {
			return nil, outcome.Blocked("revision %s cannot be retrieved: %s", d.Revisions[i], outcome.Seen(a)).
				ByRequirement("CP-REV-1")
		}
		if !plane.IsKnown(status) {
			return nil, outcome.Blocked("a revision has the status %q, which is not one of the thirteen (CP-POLL-1)", status).
				ByRequirement("CP-POLL-1")
		}
		ids[status] = append(ids[status], d.Revisions[i])
	}
	triedOther := false
	for _, status := range spec.RevisionStatuses() {
		occurs := len(ids[status]) > 0
		if !occurs && triedOther {
			continue
		}
		triedOther = triedOther || !occurs
		l, err := d.Plane.ListAll(ctx, d.ID, plane.StatusFilter(status))
		if err != nil {
			return nil, err
		}
		listed := judge.Listed{Response: l.Response, IDs: l.IDs(), Want: ids[status], What: "with status " + status}
		if wrong := d.unlessOthers(judge.HoldsExactly(listed)); wrong != nil {
			return wrong, nil
		}
	}
	return nil, nil
}
