package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"go.etcd.io/bbolt"
)

// ErrLost is the error of every write after one that the disk has not confirmed. Systems forget what they could not write, so that a later
// confirmation says nothing about it: which of two states the file has is known after the next start only.
var ErrLost = errors.New("the disk has not confirmed an earlier write, so nothing more is written; repair the disk and start again")

// View reads in a transaction.
func (s *Store) View(do func(*bbolt.Tx) error) error { return s.db.View(do) }

// Update writes in a transaction, and returns when that is on the disk. An error of do, or of a disk that is full, leaves everything as it
// was. Where the disk does not confirm a write, it is refused and so is every later one: [ErrLost].
func (s *Store) Update(do func(*bbolt.Tx) error) error {
	if s.lost.Load() {
		return ErrLost
	}
	var own error
	err := s.db.Update(func(tx *bbolt.Tx) error {
		own = do(tx)
		return own
	})
	if err == nil || own != nil {
		return err
	}
	if unconfirmed(err) {
		s.lost.Store(true)
	}
	return fmt.Errorf("write to the store: %w", err)
}

// unconfirmed tells whether an error is of the synchronisation with the disk. bbolt returns that of the system call, or of os.File.Sync.
func unconfirmed(err error) bool {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Op == "sync"
	}
	var system syscall.Errno
	return errors.As(err, &system)
}
