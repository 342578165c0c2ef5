package faults

import (
	"cmp"
	"context"
	"slices"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

func filters() []Fault {
	return []Fault{
		{
			Name: "filter-comes-after-paging", Breaks: "the status filter is applied after paging", Fails: "CP-LIST-10",
			Apply: listing(func(_ controlplane.Deployment, all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				return keep(cut(all, f.Page), f.Statuses)
			}),
		},
	}
}

// choice returns what is shown of the revisions of a deployment, which are newest first.
type choice func(d controlplane.Deployment, all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision

// listing shows revisions, single or in a list, as a choice returns them.
func listing(choose choice) Layer {
	return func(o *reference.Options) {
		o.WrapStore = outside(o.WrapStore, func(s controlplane.Store) controlplane.Store { return listStore{s, choose} })
	}
}

type listStore struct {
	controlplane.Store
	choose choice
}

func (s listStore) Revision(ctx context.Context, tenant, deploymentID, revisionID string) (controlplane.Revision, error) {
	all, err := s.Revisions(ctx, tenant, deploymentID, controlplane.RevisionFilter{Page: everything})
	at := slices.IndexFunc(all, func(r controlplane.Revision) bool { return r.ID == revisionID })
	if err != nil || at < 0 {
		return s.Store.Revision(ctx, tenant, deploymentID, revisionID)
	}
	return all[at], nil
}

func (s listStore) Revisions(
	ctx context.Context, tenant, deploymentID string, f controlplane.RevisionFilter,
) ([]controlplane.Revision, error) {
	d, missing := s.Deployment(ctx, tenant, deploymentID)
	of := controlplane.RevisionFilter{RemoteReconciled: f.RemoteReconciled, Page: everything}
	all, err := s.Store.Revisions(ctx, tenant, deploymentID, of)
	if err := cmp.Or(missing, err); err != nil {
		return nil, err
	}
	return s.choose(d, all, f), nil
}

// everything is a page with all revisions.
var everything = controlplane.Page{Limit: 1 << 30}

// keep returns the revisions with one of the statuses; all if statuses is nil.
func keep(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
	return slices.DeleteFunc(slices.Clone(all), func(r controlplane.Revision) bool {
		return statuses != nil && !slices.Contains(statuses, r.Status)
	})
}

// cut returns a page of a list.
func cut(all []controlplane.Revision, page controlplane.Page) []controlplane.Revision {
	from := min(max(page.Offset, 0), len(all))
	return all[from : from+min(page.Limit, len(all)-from)]
}
