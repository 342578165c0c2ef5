package plane

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/steps/outcome"
)

// longHistory is how many revisions the deployment with a long history gets: more than the default limit of a list
// (20, section 8), and no multiple of the page sizes that are tried.
const longHistory = 23

// makeLong makes a deployment with a long history. Where the configuration names a source that cannot be built, one
// of the revisions fails, so that the revisions do not all end in the same status.
func (p *Plane) makeLong(ctx context.Context) (*Deployment, error) {
	if err := p.Sources.LongHistoryFits(); err != nil {
		return nil, err
	}
	d, err := p.CreateDeployed(ctx, "history")
	if err != nil {
		return nil, err
	}
	if broken, _ := p.Sources.Broken(); broken != nil {
		if err := p.Update(ctx, d, broken); err != nil {
			return nil, err
		}
		p.ExpectsFailure(d.Latest())
		if _, err := p.Poll(ctx, d.ID, d.Latest(), p.Statuses.settled); err != nil {
			return nil, err
		}
	}
	names := false
	for len(d.Revisions) < longHistory {
		if names, err = p.update(ctx, d, p.Sources.Next(len(d.Revisions)), names); err != nil {
			return nil, err
		}
	}
	if err := p.awaitNamed(ctx, d); err != nil {
		return nil, err
	}
	late, err := p.AwaitSettled(ctx, d)
	if err != nil {
		return nil, err
	}
	if late != nil && late.Ending != TimedOut {
		return nil, p.Unjudged(late)
	}
	if late != nil {
		return nil, outcome.Blocked("revision %s did not settle in %s: it is %s", late.revision, p.target.Config.Timeouts.Poll, late.Final)
	}
	if err := p.AwaitListed(ctx, d.ID, d.Revisions...); err != nil {
		return nil, err
	}
	return d, p.noUnknownRevisions(ctx, d)
}

// LongHistoryFits skips where the budget is too small for it.
func (s Sources) LongHistoryFits() error {
	most := s.config.MaxRevisions
	if most == 0 || most >= longHistory {
		return nil
	}
	return outcome.OverBudget("max_revisions", "the budget is too small: raise max_revisions to %d (now %d)", longHistory, most)
}

// noUnknownRevisions refuses a history with revisions that nobody asked for: the lists could not be judged. A list alone is no proof of one, since lists are what is to be judged.
func (p *Plane) noUnknownRevisions(ctx context.Context, d *Deployment) error {
	rows, _, err := p.ListAll(ctx, d.ID, "")
	if err != nil {
		return nil // a list that cannot be read is for the scenarios to find
	}
	unknown := slices.DeleteFunc(IDs(rows), func(id string) bool { return slices.Contains(d.Revisions, id) })
	for _, id := range unknown[:min(len(unknown), 5)] { // a hostile list may name any number
		a, err := p.Get(ctx, RevisionPath(d.ID, id), "")
		if err == nil && a.OK() && a.Get("id").String() == id {
			return outcome.Blocked("the deployment has the revision %s, which no request of this run created", id)
		}
	}
	return nil
}
