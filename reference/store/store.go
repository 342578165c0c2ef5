package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/controlplane"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// The buckets of the file.
var (
	deployments   = []byte("deployments")    // sequence -> controlplane.Deployment
	deploymentIDs = []byte("deployment_ids") // id -> sequence
	revisions     = []byte("revisions")      // deployment id, sequence -> controlplane.Revision
	revisionIDs   = []byte("revision_ids")   // deployment id, revision id -> key in revisions
	snapshots     = []byte("snapshots")      // content id -> archive
	counts        = []byte("counts")         // tenant, or deployment id -> how many deployments, or revisions, it has
)

// Store is a controlplane.Store in a file. It is safe for concurrent use. Agent servers keep their data in the same file, in buckets of
// their own: it is a threads.DB.
type Store struct {
	db     *bbolt.DB
	limits Limits
}

var (
	_ controlplane.Store = (*Store)(nil)
	_ threads.DB         = (*Store)(nil)
)

// lockTimeout bounds the wait for another process that has the file open.
const lockTimeout = 1 * time.Second

// Open opens the file, and makes it where there is none. The error of a file that is in use says so.
func Open(path string, ephemeral bool) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, NoSync: ephemeral, NoGrowSync: ephemeral, NoFreelistSync: ephemeral, FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open the store %s: another process has it open; stop that one, or keep the data elsewhere", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{deployments, deploymentIDs, revisions, revisionIDs, snapshots, counts} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the store %s: %w", path, err), db.Close())
	}
	return &Store{db: db, limits: Limits{}.withDefaults()}, nil
}

// View reads in a transaction.
func (s *Store) View(do func(*bbolt.Tx) error) error { return s.db.View(do) }

// Update writes in a transaction, and returns when that is on the disk. An error leaves everything as it was.
func (s *Store) Update(do func(*bbolt.Tx) error) error { return s.db.Update(do) }

// Close closes the file when the transactions in progress have ended.
func (s *Store) Close() error { return s.db.Close() }

// sequenceKey makes a key whose order is the order of creation.
func sequenceKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// revisionKey makes a key under which the revisions of a deployment are together, in the order of creation.
func revisionKey(deploymentID string, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(deploymentID), n)
}

func put(b *bbolt.Bucket, key []byte, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode a record of %T: %w", record, err)
	}
	return b.Put(key, text)
}

func decode[T any](key, value []byte) (record T, err error) {
	if err := json.Unmarshal(value, &record); err != nil {
		return record, fmt.Errorf("decode the record %x: %w", key, err)
	}
	return record, nil
}

// readDeployment reads a deployment, deleted or not, with its latest revision, and tells its key.
func readDeployment(tx *bbolt.Tx, id string) (d controlplane.Deployment, key []byte, err error) {
	key = tx.Bucket(deploymentIDs).Get([]byte(id))
	if key == nil {
		return d, nil, controlplane.ErrNoDeployment
	}
	if d, err = decode[controlplane.Deployment](key, tx.Bucket(deployments).Get(key)); err != nil {
		return d, nil, err
	}
	d.Latest, _, err = readRevision(tx, id, d.LatestRevisionID)
	return d, key, err
}

// visible reads a deployment as the tenant sees it.
func visible(tx *bbolt.Tx, tenant, id string) (d controlplane.Deployment, key []byte, err error) {
	d, key, err = readDeployment(tx, id)
	if err == nil && (d.Tenant != tenant || d.Deleted) {
		return controlplane.Deployment{}, nil, controlplane.ErrNoDeployment
	}
	return d, key, err
}

func readRevision(tx *bbolt.Tx, deploymentID, id string) (r controlplane.Revision, key []byte, err error) {
	key = tx.Bucket(revisionIDs).Get([]byte(deploymentID + id))
	if key == nil {
		return r, nil, controlplane.ErrNoRevision
	}
	r, err = decode[controlplane.Revision](key, tx.Bucket(revisions).Get(key))
	return r, key, err
}

func (s *Store) addRevision(tx *bbolt.Tx, r controlplane.Revision) error {
	if err := count(tx, r.DeploymentID, s.limits.Revisions, "The deployment has %d revisions, and no more are kept: create another deployment."); err != nil {
		return err
	}
	n, err := tx.Bucket(revisions).NextSequence()
	if err != nil {
		return err
	}
	key := revisionKey(r.DeploymentID, n)
	if err := tx.Bucket(revisionIDs).Put([]byte(r.DeploymentID+r.ID), key); err != nil {
		return err
	}
	return put(tx.Bucket(revisions), key, r)
}
