// Package store stores the records of the control plane and of the agent servers in one bbolt file, each in its own
// buckets. Start reading with [Open], [Put] and [Newest].
//
// Records are JSON, so that any bbolt viewer can show them. Keys are IDs that are ordered by time, so the order of a bucket
// is the order of creation.
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

// Store is an open file. When Update returns nil, all of its changes are on disk; when it returns an error, none are.
type Store struct {
	*bbolt.DB
	Most int64 // the maximum size in bytes; see Room

	mu       sync.Mutex
	lastTime time.Time // the last result of Now
}

// Now returns the current time in UTC, in microseconds, which JSON preserves. It never returns the same time twice, so
// that timestamps order events.
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

// mostKept is the default maximum size of the file in bytes, so that a client cannot fill the disk.
const mostKept = 4 << 30

// lockTimeout is the time to wait for another process that has the file open.
const lockTimeout = 1 * time.Second

// Open opens a file and creates it if needed. If ephemeral is true, writes do not wait for the disk.
func Open(path string, ephemeral bool) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, NoSync: ephemeral, NoGrowSync: ephemeral, NoFreelistSync: ephemeral,
		FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("opening the store %s: another process has it open; stop that one, or keep the data elsewhere", path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the store %s: %w", path, err)
	}
	return &Store{DB: db, Most: mostKept}, nil
}

// Room returns a refusal if the file has reached its maximum size.
func (s *Store) Room(tx *bbolt.Tx) error {
	if tx.Size()-int64(s.Stats().FreePageN*s.Info().PageSize) >= s.Most {
		return httpapi.Refuse(http.StatusInsufficientStorage, "The store is full: delete something.")
	}
	return nil
}

// NewID returns a new ID. IDs are ordered by time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Put writes a record.
func Put(b *bbolt.Bucket, key string, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding a record of type %T: %w", record, err)
	}
	return b.Put([]byte(key), text)
}

// Get reads a record. It returns missing if there is none.
func Get[T any](b *bbolt.Bucket, key string, missing error) (record T, err error) {
	text := b.Get([]byte(key))
	if text == nil {
		return record, missing
	}
	return decode[T](text)
}

func decode[T any](text []byte) (record T, err error) {
	if err := httpapi.Unmarshal(text, &record); err != nil {
		return record, fmt.Errorf("decoding a record of type %T: %w", record, err)
	}
	return record, nil
}

// Newest yields the records whose keys start with prefix, the newest first. It stops after an error.
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

// Everything is the page that contains the whole list.
var Everything = Page{Limit: math.MaxInt}

// Cut returns a page of the items that match.
func Cut[T any](list iter.Seq2[T, error], page Page, match func(T) bool) ([]T, error) {
	items := []T{}
	for item, err := range list {
		if err != nil || len(items) == page.Limit {
			return items, err
		}
		if !match(item) {
			continue
		}
		if page.Offset > 0 {
			page.Offset--
			continue
		}
		items = append(items, item)
	}
	return items, nil
}

// Delete deletes the matching records whose keys start with prefix.
func Delete[T any](b *bbolt.Bucket, prefix string, match func(T) bool) error {
	var keys [][]byte
	c := b.Cursor()
	for key, text := c.Seek([]byte(prefix)); bytes.HasPrefix(key, []byte(prefix)) && key != nil; key, text = c.Next() {
		record, err := decode[T](text)
		if err != nil {
			return err
		}
		if match(record) {
			keys = append(keys, bytes.Clone(key)) // they are deleted later, because a change invalidates the cursor
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
