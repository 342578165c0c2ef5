package threads

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
)

// DB is an embedded database: a *bbolt.DB, or what stands in front of one.
type DB interface {
	View(do func(*bbolt.Tx) error) error
	Update(do func(*bbolt.Tx) error) error // an error leaves everything as it was
}

// Bolt is the Store of the reference, in one bucket of an embedded database.
//
//	threads   thread                 -> Thread
//	runs      thread, run            -> Run     (run ids are ordered by time, so these are in order of creation)
//	live      thread, run            -> nothing (the runs that have not finished)
//	messages  thread, number (8)     -> the message and its run
type Bolt struct {
	db   DB
	name []byte
	now  func() time.Time

	// What is kept at most. Open sets the defaults; change them before the store is used.
	MaxThreads, MaxRuns int
}

// How much one agent server keeps.
const (
	defaultThreads = 100_000
	defaultRuns    = 500_000
)

var (
	bucketThreads  = []byte("threads")
	bucketRuns     = []byte("runs")
	bucketLive     = []byte("live")
	bucketMessages = []byte("messages")
)

type storedMessage struct {
	Run     string  `json:"run"`
	Message Message `json:"message"`
}

// Open opens the store in the named bucket, and makes it where there is none. The database is the caller's.
func Open(db DB, bucket string) (*Bolt, error) {
	s := &Bolt{
		db: db, name: []byte(bucket), now: func() time.Time { return time.Now().UTC() },
		MaxThreads: defaultThreads, MaxRuns: defaultRuns,
	}
	err := db.Update(func(tx *bbolt.Tx) error {
		root, err := tx.CreateBucketIfNotExists(s.name)
		for _, b := range [][]byte{bucketThreads, bucketRuns, bucketLive, bucketMessages} {
			if err == nil {
				_, err = root.CreateBucketIfNotExists(b)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the bucket %q of the agent server's store: %w", bucket, err)
	}
	return s, nil
}

// Drop deletes everything in the store. Later calls get ErrClosed.
func (s *Bolt) Drop() error {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		if tx.Bucket(s.name) == nil {
			return nil
		}
		return tx.DeleteBucket(s.name)
	})
	if err != nil {
		return fmt.Errorf("deleting the bucket %q of the agent server's store: %w", s.name, err)
	}
	return nil
}

// tables are the buckets within one transaction.
type tables struct{ threads, runs, live, messages *bbolt.Bucket }

func (s *Bolt) tables(tx *bbolt.Tx) (tables, error) {
	root := tx.Bucket(s.name)
	if root == nil {
		return tables{}, ErrClosed
	}
	return tables{root.Bucket(bucketThreads), root.Bucket(bucketRuns), root.Bucket(bucketLive), root.Bucket(bucketMessages)}, nil
}

// ids are those of a thread, and of a run where there is one.
type ids []string

// view reads, with the key of the ids.
func (s *Bolt) view(ctx context.Context, of ids, do func(t tables, k []byte) error) error {
	return s.transact(ctx, s.db.View, of, do)
}

// update does not look at the context once it has begun: the caller could not tell what became of its write.
func (s *Bolt) update(ctx context.Context, of ids, do func(t tables, k []byte) error) error {
	return s.transact(ctx, s.db.Update, of, do)
}

func (s *Bolt) transact(
	ctx context.Context, in func(func(*bbolt.Tx) error) error, of ids, do func(t tables, k []byte) error,
) error {
	k, err := key(of...)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	return in(func(tx *bbolt.Tx) error {
		t, err := s.tables(tx)
		if err != nil {
			return err
		}
		return do(t, k)
	})
}

// key makes the key of ids, which are uuids: anything else is found nowhere.
func key(ids ...string) ([]byte, error) {
	var k []byte
	for _, id := range ids {
		u, err := uuid.Parse(id)
		if err != nil {
			return nil, ErrNotFound
		}
		k = append(k, u[:]...)
	}
	return k, nil
}

func put(b *bbolt.Bucket, k []byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding for the store: %w", err)
	}
	return b.Put(k, data)
}

func get(b *bbolt.Bucket, k []byte, into any) error {
	data := b.Get(k)
	if data == nil {
		return ErrNotFound
	}
	return Unmarshal(data, into)
}

// under yields what has a key that starts with prefix, in the order of the keys.
func under(b *bbolt.Bucket, prefix []byte, do func(k, v []byte) error) error {
	c := b.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if err := do(k, v); err != nil {
			return err
		}
	}
	return nil
}

// deleteUnder deletes what has a key that starts with prefix and matches.
func deleteUnder(b *bbolt.Bucket, prefix []byte, match func(v []byte) (bool, error)) error {
	var keys [][]byte
	err := under(b, prefix, func(k, v []byte) error {
		ok, err := match(v)
		if ok {
			keys = append(keys, slices.Clone(k))
		}
		return err
	})
	for _, k := range keys {
		if err == nil {
			err = b.Delete(k)
		}
	}
	return errors.Join(err, fewer(b, len(keys)))
}

// more counts one more in a bucket of threads or runs, by its sequence, or refuses it where there are as many as are kept.
func more(b *bbolt.Bucket, most int, what string) error {
	if b.Sequence() >= uint64(most) {
		return &RefusedError{fmt.Sprintf("there are %d %s, and no more are kept: delete some", most, what)}
	}
	return b.SetSequence(b.Sequence() + 1)
}

// fewer counts some less.
func fewer(b *bbolt.Bucket, n int) error {
	return b.SetSequence(b.Sequence() - min(b.Sequence(), uint64(n)))
}

func always([]byte) (bool, error) { return true, nil }

// nextNumber is the number of the next message of a thread.
func nextNumber(messages *bbolt.Bucket, thread []byte) uint64 {
	last := append(slices.Clone(thread), bytes.Repeat([]byte{0xff}, 8)...)
	c := messages.Cursor()
	k, _ := c.Seek(last)
	if k == nil {
		k, _ = c.Last()
	} else if !bytes.Equal(k, last) {
		k, _ = c.Prev()
	}
	if k == nil || !bytes.HasPrefix(k, thread) {
		return 1
	}
	return binary.BigEndian.Uint64(k[len(thread):]) + 1
}
