package store

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane"
	"go.etcd.io/bbolt"
)

// CreateDeployment implements controlplane.Store.
func (s *Store) CreateDeployment(_ context.Context, d controlplane.Deployment, first controlplane.Revision) error {
	return s.Update(func(tx *bbolt.Tx) error {
		if err := count(tx, d.Tenant, s.limits.Deployments, "There are %d deployments, and no more are kept: delete some."); err != nil {
			return err
		}
		b := tx.Bucket(deployments)
		n, err := b.NextSequence()
		if err != nil {
			return err
		}
		if err := tx.Bucket(deploymentIDs).Put([]byte(d.ID), sequenceKey(n)); err != nil {
			return err
		}
		if err := put(b, sequenceKey(n), d); err != nil {
			return err
		}
		return s.addRevision(tx, first)
	})
}

// Deployment implements controlplane.Store.
func (s *Store) Deployment(_ context.Context, tenant, id string) (d controlplane.Deployment, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		d, _, err = visible(tx, tenant, id)
		return err
	})
	return d, err
}

// Deployments implements controlplane.Store.
func (s *Store) Deployments(_ context.Context, tenant string, f controlplane.DeploymentFilter) ([]controlplane.Deployment, error) {
	page := newPage[controlplane.Deployment](f.Page)
	err := s.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(deployments).Cursor()
		for key, value := c.Last(); key != nil && !page.full(); key, value = c.Prev() {
			d, err := decode[controlplane.Deployment](key, value)
			if err != nil {
				return err
			}
			if d.Tenant != tenant || d.Deleted || !strings.Contains(d.Name, f.NameContains) {
				continue
			}
			if d.Latest, _, err = readRevision(tx, d.ID, d.LatestRevisionID); err != nil {
				return err
			}
			page.add(d)
		}
		return nil
	})
	return page.items, err
}

// UpdateDeployment implements controlplane.Store.
func (s *Store) UpdateDeployment(_ context.Context, tenant, id string, change func(*controlplane.Deployment) (*controlplane.Revision, error)) (d controlplane.Deployment, err error) {
	err = s.Update(func(tx *bbolt.Tx) error {
		var key []byte
		if d, key, err = visible(tx, tenant, id); err != nil {
			return err
		}
		next, err := change(&d)
		if err != nil {
			return err
		}
		if next != nil {
			d.Latest, d.LatestRevisionID = *next, next.ID
			if err := s.addRevision(tx, *next); err != nil {
				return err
			}
		}
		return put(tx.Bucket(deployments), bytes.Clone(key), d)
	})
	return d, err
}

// Revision implements controlplane.Store.
func (s *Store) Revision(_ context.Context, tenant, deploymentID, revisionID string) (r controlplane.Revision, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		if _, _, err := visible(tx, tenant, deploymentID); err != nil {
			return err
		}
		r, _, err = readRevision(tx, deploymentID, revisionID)
		return err
	})
	return r, err
}

// Revisions implements controlplane.Store.
func (s *Store) Revisions(_ context.Context, tenant, deploymentID string, f controlplane.RevisionFilter) ([]controlplane.Revision, error) {
	page := newPage[controlplane.Revision](f.Page)
	err := s.View(func(tx *bbolt.Tx) error {
		if _, _, err := visible(tx, tenant, deploymentID); err != nil {
			return err
		}
		return eachRevision(tx, deploymentID, func(r controlplane.Revision) (more bool) {
			if (f.Statuses == nil || slices.Contains(f.Statuses, r.Status)) &&
				(f.RemoteReconciled == nil || *f.RemoteReconciled == r.RemoteReconciled) {
				page.add(r)
			}
			return !page.full()
		})
	})
	return page.items, err
}

// eachRevision goes through the revisions of a deployment, newest first, until visit wants no more.
func eachRevision(tx *bbolt.Tx, deploymentID string, visit func(controlplane.Revision) (more bool)) error {
	c := tx.Bucket(revisions).Cursor()
	newest := c.Prev // of what comes after the deployment's revisions
	if after, _ := c.Seek(revisionKey(deploymentID, math.MaxUint64)); after == nil {
		newest = c.Last
	}
	for key, value := newest(); bytes.HasPrefix(key, []byte(deploymentID)); key, value = c.Prev() {
		r, err := decode[controlplane.Revision](key, value)
		if err != nil {
			return err
		}
		if !visit(r) {
			return nil
		}
	}
	return nil
}

// page gathers the part of a list that was asked for.
type page[T any] struct {
	skip, limit int
	items       []T
}

func newPage[T any](p controlplane.Page) *page[T] { return &page[T]{skip: p.Offset, limit: p.Limit} }

func (p *page[T]) full() bool { return len(p.items) >= p.limit }

func (p *page[T]) add(item T) {
	if p.skip > 0 {
		p.skip--
		return
	}
	p.items = append(p.items, item)
}
