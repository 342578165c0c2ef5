// Package store is the one file (bbolt) in which the control plane and the agent servers keep what they have, each in
// buckets of its own.
//
// Records are JSON, so that a person can read a file with any bbolt viewer. Keys are ids that are ordered by time, so
// the order of a bucket is the order of creation.
package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/agentconform/agentconform/reference/httpapi"
)

// Store is the file. What an Update has acknowledged is on the disk, nothing of one that returned an error.
type Store struct {
	*bbolt.DB
	Most int64 // bytes that are kept; see Room

	mu       sync.Mutex
	lastTime time.Time // most recent result of Now
}

// Now returns the present time in UTC, cut to microseconds: what is shown at once is then what is read back later. It
// never returns the same time twice, so that timestamps order events.
func (s *Store) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().UTC().Truncate(time.Microsecond)
	if !now.After(s.lastTime) {
		now = s.lastTime.Add(time.Microsecond)
	}
	s.lastTime = now
	return now
}

// mostKept bounds the file, so that one key cannot fill the disk.
const mostKept = 4 << 30

// lockTimeout bounds the wait for another process that has the file open.
const lockTimeout = 1 * time.Second

// Open opens the file, and makes it where there is none. Data that dies with the process does not wait for the disk.
func Open(path string, ephemeral bool) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, NoSync: ephemeral, NoGrowSync: ephemeral, NoFreelistSync: ephemeral,
		FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open the store %s: another process has it open; stop that one, or keep the data elsewhere",
			path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", path, err)
	}
	return &Store{DB: db, Most: mostKept}, nil
}

// Room refuses what would be kept when the file is full.
func (s *Store) Room(tx *bbolt.Tx) error {
	if tx.Size()-int64(s.Stats().FreePageN*s.Info().PageSize) >= s.Most {
		return httpapi.Refuse(http.StatusInsufficientStorage, "The store is full: delete something.")
	}
	return nil
}

// NewID makes an id. Ids are ordered by time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Put writes a record.
func Put(b *bbolt.Bucket, key string, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode a record of %T: %w", record, err)
	}
	return b.Put([]byte(key), text)
}

// Get reads a record; missing is the error where there is none.
func Get[T any](b *bbolt.Bucket, key string, missing error) (record T, err error) {
	text := b.Get([]byte(key))
	if text == nil {
		return record, missing
	}
	return decode[T](text)
}

func decode[T any](text []byte) (record T, err error) {
	if err := httpapi.Unmarshal(text, &record); err != nil {
		return record, fmt.Errorf("decode a record of %T: %w", record, err)
	}
	return record, nil
}

// Newest yields the records whose keys begin with prefix, the newest first. An error is the last that is yielded.
func Newest[T any](b *bbolt.Bucket, prefix string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		c := b.Cursor()
		last := c.Last
		if after, _ := c.Seek([]byte(prefix + "\xff")); after != nil {
			last = c.Prev
		}
		for key, text := last(); bytes.HasPrefix(key, []byte(prefix)) && key != nil; key, text = c.Prev() {
			record, err := decode[T](text)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Page is a part of a list.
type Page struct{ Limit, Offset int }

// Everything is a page with all of a list.
var Everything = Page{Limit: math.MaxInt}

// Cut returns the part of a list that match keeps.
func Cut[T any](list iter.Seq2[T, error], page Page, match func(T) bool) ([]T, error) {
	items := []T{}
	for item, err := range list {
		if err != nil || len(items) == page.Limit {
			return items, err
		}
		if !match(item) {
			continue
		}
		if page.Offset--; page.Offset < 0 {
			items = append(items, item)
		}
	}
	return items, nil
}

// Delete deletes the records whose keys begin with prefix and that match.
func Delete[T any](b *bbolt.Bucket, prefix string, match func(T) bool) error {
	var keys [][]byte
	c := b.Cursor()
	for key, text := c.Seek([]byte(prefix)); bytes.HasPrefix(key, []byte(prefix)) && key != nil; key, text = c.Next() {
		record, err := decode[T](text)
		if err != nil {
			return err
		}
		if match(record) {
			keys = append(keys, bytes.Clone(key)) // a cursor is not valid while its bucket changes
		}
	}
	for _, key := range keys {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// Any matches every record.
func Any[T any](T) bool { return true }
