package threads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// CreateThread implements ThreadStore.
func (s *Bolt) CreateThread(ctx context.Context, t Thread) error {
	return s.update(ctx, ids{t.ID}, func(tab tables, k []byte) error {
		if tab.threads.Get(k) != nil {
			return ErrExists
		}
		if err := more(tab.threads, s.MaxThreads, "threads"); err != nil {
			return err
		}
		return put(tab.threads, k, t)
	})
}

// Thread implements ThreadStore.
func (s *Bolt) Thread(ctx context.Context, id string) (t Thread, err error) {
	err = s.view(ctx, ids{id}, func(tab tables, k []byte) error {
		if err := get(tab.threads, k, &t); err != nil {
			return err
		}
		return tab.derive(k, &t)
	})
	return t, err
}

// Threads implements ThreadStore.
func (s *Bolt) Threads(ctx context.Context, match func(Thread) bool) ([]Thread, error) {
	var out []Thread
	err := s.view(ctx, nil, func(tab tables, _ []byte) error {
		return tab.threads.ForEach(func(k, v []byte) error {
			var t Thread
			if err := Unmarshal(v, &t); err != nil {
				return fmt.Errorf("reading a thread: %w", err)
			}
			err := tab.derive(k, &t)
			if err == nil && match(t) {
				out = append(out, t)
			}
			return err
		})
	})
	slices.SortStableFunc(out, func(a, b Thread) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out, err
}

// derive sets what follows from the runs of a thread: its status, and when it was updated last.
func (t tables) derive(k []byte, thread *Thread) error {
	last, err := t.lastRun(k)
	switch {
	case errors.Is(err, ErrNotFound):
		thread.Status = ThreadIdle
		return nil
	case err != nil:
		return err
	case t.busy(k):
		thread.Status = ThreadBusy
	case last.Status == StatusError || last.Status == StatusTimeout:
		thread.Status = ThreadError
	case last.Status == StatusInterrupted:
		thread.Status = ThreadInterrupted
	default:
		thread.Status = ThreadIdle
	}
	if last.UpdatedAt.After(thread.UpdatedAt) {
		thread.UpdatedAt = last.UpdatedAt
	}
	return nil
}

// busy tells whether a thread has unfinished runs.
func (t tables) busy(thread []byte) bool {
	k, _ := t.live.Cursor().Seek(thread)
	return bytes.HasPrefix(k, thread)
}

func (t tables) lastRun(thread []byte) (r Run, err error) {
	c := t.runs.Cursor()
	var v []byte
	k, _ := c.Seek(append(slices.Clone(thread), bytes.Repeat([]byte{0xff}, 16)...))
	if k == nil {
		k, v = c.Last()
	} else {
		k, v = c.Prev()
	}
	if !bytes.HasPrefix(k, thread) {
		return Run{}, ErrNotFound
	}
	return r, Unmarshal(v, &r)
}

// UpdateThread implements ThreadStore.
func (s *Bolt) UpdateThread(ctx context.Context, id string, change func(*Thread) error) (t Thread, err error) {
	err = s.update(ctx, ids{id}, func(tab tables, k []byte) error {
		t = Thread{}
		if err := get(tab.threads, k, &t); err != nil {
			return err
		}
		if err := change(&t); err != nil {
			return err
		}
		t.UpdatedAt = s.now()
		if err := tab.derive(k, &t); err != nil {
			return err
		}
		return put(tab.threads, k, t)
	})
	return t, err
}

// DeleteThread implements ThreadStore.
func (s *Bolt) DeleteThread(ctx context.Context, id string) error {
	return s.update(ctx, ids{id}, func(tab tables, k []byte) error {
		if tab.threads.Get(k) == nil {
			return ErrNotFound
		}
		for _, b := range []*bbolt.Bucket{tab.runs, tab.live, tab.messages} {
			if err := deleteUnder(b, k, always); err != nil {
				return err
			}
		}
		return errors.Join(tab.threads.Delete(k), fewer(tab.threads, 1))
	})
}
