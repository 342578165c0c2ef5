package faults

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

// everything is a page with all revisions.
var everything = controlplane.Page{Limit: 1 << 30}

// storing wraps the store of the reference.
func storing(wrap func(controlplane.Store) controlplane.Store) Layer {
	return func(o *reference.Options) {
		inner := o.WrapStore
		o.WrapStore = func(s controlplane.Store) controlplane.Store {
			if inner != nil {
				s = inner(s)
			}
			return wrap(s)
		}
	}
}

// reading describes a revision that is read.
type reading struct {
	deployment controlplane.Deployment
	number     int // the first revision of a deployment is 1
}

// readings changes revisions in all reads, single or in a list. Lists are filtered by the changed values.
func readings(change func(of reading, r *controlplane.Revision)) Layer {
	return storing(func(s controlplane.Store) controlplane.Store { return readingStore{s, change} })
}

type readingStore struct {
	controlplane.Store
	change func(of reading, r *controlplane.Revision)
}

func (s readingStore) Revision(ctx context.Context, tenant, deploymentID, revisionID string) (controlplane.Revision, error) {
	all, err := s.all(ctx, tenant, deploymentID, nil)
	at := slices.IndexFunc(all, func(r controlplane.Revision) bool { return r.ID == revisionID })
	if err != nil || at < 0 {
		return s.Store.Revision(ctx, tenant, deploymentID, revisionID)
	}
	return all[at], nil
}

func (s readingStore) Revisions(ctx context.Context, tenant, deploymentID string, f controlplane.RevisionFilter) ([]controlplane.Revision, error) {
	all, err := s.all(ctx, tenant, deploymentID, f.RemoteReconciled)
	return cut(keep(all, f.Statuses), f.Page), err
}

func (s readingStore) all(ctx context.Context, tenant, deploymentID string, reconciled *bool) ([]controlplane.Revision, error) {
	d, err := s.Deployment(ctx, tenant, deploymentID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Revisions(ctx, tenant, deploymentID, controlplane.RevisionFilter{RemoteReconciled: reconciled, Page: everything})
	for i := range all {
		s.change(reading{d, len(all) - i}, &all[i])
	}
	return all, err
}

// lists replaces list revisions, given all revisions of the deployment, newest first.
func lists(choose func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision) Layer {
	return storing(func(s controlplane.Store) controlplane.Store { return listStore{s, choose} })
}

type listStore struct {
	controlplane.Store
	choose func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision
}

func (s listStore) Revisions(ctx context.Context, tenant, deploymentID string, f controlplane.RevisionFilter) ([]controlplane.Revision, error) {
	all, err := s.Store.Revisions(ctx, tenant, deploymentID, controlplane.RevisionFilter{RemoteReconciled: f.RemoteReconciled, Page: everything})
	if err != nil {
		return nil, err
	}
	return s.choose(all, f), nil
}

// keep returns the revisions with one of the statuses; all if statuses is nil.
func keep(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
	if statuses == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r controlplane.Revision) bool { return !slices.Contains(statuses, r.Status) })
}

// cut returns a page of a list.
func cut(all []controlplane.Revision, page controlplane.Page) []controlplane.Revision {
	from := min(max(page.Offset, 0), len(all))
	return all[from : from+min(page.Limit, len(all)-from)]
}
