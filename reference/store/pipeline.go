package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/agentconform/agentconform/reference/controlplane"
	"go.etcd.io/bbolt"
)

// All returns every deployment of every tenant, oldest first, and those that wait to be removed as well.
func (s *Store) All(_ context.Context) (list []controlplane.Deployment, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(deploymentIDs).ForEach(func(id, _ []byte) error {
			d, _, err := readDeployment(tx, string(id))
			list = append(list, d)
			return err
		})
	})
	return list, err
}

// Work returns a deployment, deleted or not, and its revisions that are not settled, newest first.
func (s *Store) Work(_ context.Context, deploymentID string) (d controlplane.Deployment, unsettled []controlplane.Revision, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		if d, _, err = readDeployment(tx, deploymentID); err != nil {
			return err
		}
		return eachRevision(tx, deploymentID, func(r controlplane.Revision) bool {
			if !r.Status.Settled() {
				unsettled = append(unsettled, r)
			}
			return true
		})
	})
	return d, unsettled, err
}

// UpdateRevision changes a revision, and its deployment with it, in one transaction.
func (s *Store) UpdateRevision(_ context.Context, deploymentID, revisionID string, change func(*controlplane.Deployment, *controlplane.Revision)) (r controlplane.Revision, err error) {
	err = s.Update(func(tx *bbolt.Tx) error {
		d, dKey, err := readDeployment(tx, deploymentID)
		if err != nil {
			return err
		}
		var rKey []byte
		if r, rKey, err = readRevision(tx, deploymentID, revisionID); err != nil {
			return err
		}
		was := d
		change(&d, &r)
		if err := put(tx.Bucket(revisions), bytes.Clone(rKey), r); err != nil {
			return err
		}
		if d.ActiveRevisionID == was.ActiveRevisionID && d.UpdatedAt.Equal(was.UpdatedAt) {
			return nil
		}
		return put(tx.Bucket(deployments), bytes.Clone(dKey), d)
	})
	return r, err
}

// Purge forgets a deployment and all its revisions. It is not an error if there is none.
func (s *Store) Purge(_ context.Context, deploymentID string) error {
	return s.Update(func(tx *bbolt.Tx) error {
		d, key, err := readDeployment(tx, deploymentID)
		if errors.Is(err, controlplane.ErrNoDeployment) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := errors.Join(tx.Bucket(deployments).Delete(bytes.Clone(key)), tx.Bucket(counts).Delete([]byte(deploymentID)), uncount(tx, d.Tenant)); err != nil {
			return err
		}
		if err := tx.Bucket(deploymentIDs).Delete([]byte(deploymentID)); err != nil {
			return err
		}
		for _, b := range [][]byte{revisions, revisionIDs} {
			if err := deletePrefix(tx.Bucket(b), []byte(deploymentID)); err != nil {
				return err
			}
		}
		return nil
	})
}

func deletePrefix(b *bbolt.Bucket, prefix []byte) error {
	var keys [][]byte
	c := b.Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		keys = append(keys, bytes.Clone(key)) // a cursor is not valid while its bucket changes
	}
	for _, key := range keys {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot returns the archive that was saved under a content id; nil when there is none.
func (s *Store) Snapshot(_ context.Context, content string) (archive []byte, err error) {
	err = s.View(func(tx *bbolt.Tx) error {
		archive = bytes.Clone(tx.Bucket(snapshots).Get([]byte(content)))
		return nil
	})
	return archive, err
}

// SaveSnapshot keeps an archive under the id of its content, which never changes.
func (s *Store) SaveSnapshot(_ context.Context, content string, archive []byte) error {
	return s.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(snapshots).Put([]byte(content), archive)
	})
}

// Sweep forgets the snapshots that no revision refers to any more.
func (s *Store) Sweep(_ context.Context) error {
	return s.Update(func(tx *bbolt.Tx) error {
		used := map[string]bool{}
		err := tx.Bucket(revisions).ForEach(func(key, value []byte) error {
			r, err := decode[controlplane.Revision](key, value)
			used[r.Content] = true
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep the snapshots: %w", err)
		}
		var unused [][]byte
		err = tx.Bucket(snapshots).ForEach(func(key, _ []byte) error {
			if !used[string(key)] {
				unused = append(unused, bytes.Clone(key))
			}
			return nil
		})
		for _, key := range unused {
			err = errors.Join(err, tx.Bucket(snapshots).Delete(key))
		}
		return err
	})
}
