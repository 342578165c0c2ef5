package plane

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
)

// ToCurrentValue marks the kind of an update that sends the current value: a target may create no revision for one.
const ToCurrentValue = " to its current value"

// KindOf tells updates apart by their fields: what one of a kind did not do, the next is not going to do.
func KindOf(change map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(change)), " and ")
}

// UpdateOf names the requirement that an update of a field creates a revision.
var UpdateOf = map[string]string{
	"repo_ref": "CP-UPDATE-1", "graph_config_path": "CP-UPDATE-2", "image_uri": "CP-UPDATE-3",
}

func ownersOf(change map[string]any) (owners []string) {
	for _, field := range slices.Sorted(maps.Keys(change)) {
		owners = append(owners, UpdateOf[field])
	}
	return owners
}

// AwaitLatest reads the deployment until it names another latest revision than the known one, and keeps the answer that
// does. It returns the known one when none came in time.
func (p *Plane) AwaitLatest(
	ctx context.Context, d *Deployment, update *exchange.Response, kind, known string,
) (latest string, err error) {
	latest = known
	err = p.target.RetryFor(ctx, p.appearing(update, kind), func() (bool, error) {
		a, err := p.GetDeployment(ctx, d.ID)
		if err != nil {
			return false, err
		}
		if named := a.Get("latest_revision_id").String(); named != "" && named != known {
			latest, d.Naming = named, a
		}
		return latest != known, nil
	})
	if err == nil && latest == known {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.noRevisionFor[kind] = true
	}
	return latest, err
}

// appearing is how long the revision of an update may take to appear: some answers' time where the update was only
// accepted (202), else that of one. Where an earlier update made none, the next is waited for no longer than one
// answer may take, and one of the same kind for a moment only.
func (p *Plane) appearing(update *exchange.Response, kind string) time.Duration {
	const accepted = 6
	one := min(p.target.Config.Timeouts.Request, p.target.Config.Timeouts.Poll)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.noRevisionFor[kind] || p.noRevisionFor[strings.TrimSuffix(kind, ToCurrentValue)]:
		return p.target.SettleDelay(update)
	case update.Status == http.StatusAccepted && len(p.noRevisionFor) == 0:
		return min(p.target.Config.Timeouts.Poll, accepted*one)
	}
	return one
}

// AwaitFound reads what has just been created until it is no longer refused.
func (p *Plane) AwaitFound(ctx context.Context, path string) (a *exchange.Response, err error) {
	err = p.target.RetryFor(ctx, p.target.Config.Timeouts.Request, func() (bool, error) {
		a, err = p.Get(ctx, path, "")
		return err == nil && !a.IsRefused(), err
	})
	return a, err
}

// AwaitListed waits until the list of a deployment holds the revisions.
func (p *Plane) AwaitListed(ctx context.Context, id string, revisions ...string) error {
	return p.target.RetryFor(ctx, p.target.Config.Timeouts.Request, func() (bool, error) {
		all, err := p.ListAll(ctx, id, "")
		if err != nil || !all.Answer.OK() {
			return true, nil // a list that cannot be read is for the scenarios to judge
		}
		listed := all.IDs()
		return !slices.ContainsFunc(revisions, func(id string) bool { return !slices.Contains(listed, id) }), nil
	})
}

// Settle waits until the deployment's latest revision has come to its end, however it ends: a target may take no
// update while it builds. A deployment of which one revision hung is not waited for again.
func (p *Plane) Settle(ctx context.Context, id string) error {
	if p.polls.isHung(id) {
		return nil
	}
	a, err := p.GetDeployment(ctx, id)
	if err != nil {
		return err
	}
	latest := a.Get("latest_revision_id").String()
	if latest == "" {
		return nil
	}
	_, err = p.Poll(ctx, id, latest, IsSettled)
	return err
}
