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

// ToCurrentValue is the suffix of the kind of an update that sends the current value. Some targets create no revision
// for such an update.
const ToCurrentValue = " to its current value"

// KindOf returns the kind of an update, which consists of the names of its fields. If one update creates no revision, the
// suite expects the same of later updates of this kind.
func KindOf(change map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(change)), " and ")
}

// UpdateOf has, for each field, the requirement that an update of the field creates a revision.
var UpdateOf = map[string]string{
	"repo_ref": "CP-UPDATE-1", "graph_config_path": "CP-UPDATE-2", "image_uri": "CP-UPDATE-3",
}

// ownersOf returns the requirements that an update with these fields creates a revision.
func ownersOf(change map[string]any) (owners []string) {
	for _, field := range slices.Sorted(maps.Keys(change)) {
		owners = append(owners, UpdateOf[field])
	}
	return owners
}

// AwaitLatest reads the deployment until it names a later revision than the known one, and keeps that response in
// d.Naming. After a timeout, it returns the known one. A revision that was the latest before an earlier update does not
// count as later, because one of several replicas may still name it.
func (p *Plane) AwaitLatest(
	ctx context.Context, d *Deployment, update *exchange.Response, kind, known string,
) (latest string, err error) {
	latest = known
	p.mu.Lock()
	p.updated[exchange.IDKey(known)] = true
	p.mu.Unlock()
	err = p.target.RetryFor(ctx, p.appearanceLimit(update, kind), func() (bool, error) {
		a, err := p.GetDeployment(ctx, d.ID)
		if err != nil {
			return false, err
		}
		named := a.Get("latest_revision_id").String()
		if named != "" && !p.wasLatest(named) {
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

// wasLatest reports whether a revision was the latest one before an update.
func (p *Plane) wasLatest(revision string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.updated[exchange.IDKey(revision)]
}

// appearanceLimit returns the time limit for the appearance of an update's revision. It is timeouts.request, or several
// times as long if the response is 202, because the target then creates the revision later. If an earlier update created
// no revision, the limit is timeouts.request at most, and only the settle delay for an update of the same kind.
func (p *Plane) appearanceLimit(update *exchange.Response, kind string) time.Duration {
	const requestsIfAccepted = 6
	request := min(p.target.Config.Timeouts.Request, p.target.Config.Timeouts.Poll)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noRevisionFor[kind] || p.noRevisionFor[strings.TrimSuffix(kind, ToCurrentValue)] {
		return p.target.SettleDelay(update)
	}
	if update.Status == http.StatusAccepted && len(p.noRevisionFor) == 0 {
		return min(p.target.Config.Timeouts.Poll, requestsIfAccepted*request)
	}
	return request
}

// AwaitFound reads a resource that was just created until the request is no longer refused, for timeouts.request at
// most.
func (p *Plane) AwaitFound(ctx context.Context, path string) (a *exchange.Response, err error) {
	err = p.target.RetryFor(ctx, p.target.Config.Timeouts.Request, func() (bool, error) {
		a, err = p.Get(ctx, path, "")
		return err == nil && !a.IsRefused(), err
	})
	return a, err
}

// AwaitListed waits until the list of a deployment contains the revisions, for timeouts.request at most.
func (p *Plane) AwaitListed(ctx context.Context, id string, revisions ...string) error {
	return p.target.RetryFor(ctx, p.target.Config.Timeouts.Request, func() (bool, error) {
		all, err := p.ListAll(ctx, id, "")
		if err != nil || !all.Response.OK() {
			return true, nil // scenarios judge a list that cannot be read
		}
		listed := exchange.IDKeys(all.IDs())
		for _, id := range revisions {
			if !slices.Contains(listed, exchange.IDKey(id)) {
				return false, nil
			}
		}
		return true, nil
	})
}

// Settle waits until the latest revision of the deployment has settled in any status, because a target may refuse an
// update while it builds. It does not wait if a revision of the deployment hung before.
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
