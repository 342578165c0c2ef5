package store

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/agentconform/agentconform/reference/controlplane"
	"go.etcd.io/bbolt"
)

// Limits bound what is kept, so that one key cannot fill the disk. 0 is the default.
type Limits struct {
	Deployments int // of a tenant; 10,000
	Revisions   int // of a deployment; 10,000
}

func (l Limits) withDefaults() Limits {
	return Limits{Deployments: cmp.Or(l.Deployments, 10_000), Revisions: cmp.Or(l.Revisions, 10_000)}
}

// Limit changes the bounds, before the store is used.
func (s *Store) Limit(l Limits) { s.limits = l.withDefaults() }

// counted is how many things are counted under a key.
func counted(tx *bbolt.Tx, key string) uint64 {
	if n := tx.Bucket(counts).Get([]byte(key)); len(n) == 8 {
		return binary.BigEndian.Uint64(n)
	}
	return 0
}

// count counts one more, or refuses it as full says: with the number that there may be.
func count(tx *bbolt.Tx, key string, most int, full string) error {
	n := counted(tx, key)
	if n >= uint64(most) {
		return &controlplane.RuleError{Detail: fmt.Sprintf(full, most)}
	}
	return tx.Bucket(counts).Put([]byte(key), binary.BigEndian.AppendUint64(nil, n+1))
}

// uncount counts one less.
func uncount(tx *bbolt.Tx, key string) error {
	n := counted(tx, key)
	if n <= 1 {
		return tx.Bucket(counts).Delete([]byte(key))
	}
	return tx.Bucket(counts).Put([]byte(key), binary.BigEndian.AppendUint64(nil, n-1))
}
