package threads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// CreateThread implements Store.
func (s *Bolt) CreateThread(ctx context.Context, t Thread) error {
	return s.update(ctx, ids{t.ID}, func(tab tables, k []byte) error {
		if err := more(tab.threads, s.MaxThreads, "threads"); err != nil {
			return err
		}
		return put(tab.threads, k, t)
	})
}

// Thread implements Store.
func (s *Bolt) Thread(ctx context.Context, id string) (t Thread, err error) {
	err = s.view(ctx, ids{id}, func(tab tables, k []byte) error {
		if err := get(tab.threads, k, &t); err != nil {
			return err
		}
		tab.derive(k, &t)
		return nil
	})
	return t, err
}

// Threads implements Store.
func (s *Bolt) Threads(ctx context.Context, match func(Thread) bool) ([]Thread, error) {
	var out []Thread
	err := s.view(ctx, nil, func(tab tables, _ []byte) error {
		return tab.threads.ForEach(func(k, v []byte) error {
			var t Thread
			if err := Unmarshal(v, &t); err != nil {
				return fmt.Errorf("reading a thread: %w", err)
			}
			tab.derive(k, &t)
			if match(t) {
				out = append(out, t)
			}
			return nil
		})
	})
	slices.SortStableFunc(out, func(a, b Thread) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out, err
}

// derive sets the status of a thread, which follows from its runs.
func (t tables) derive(k []byte, thread *Thread) {
	thread.Status = ThreadIdle
	if t.busy(k) {
		thread.Status = ThreadBusy
	}
}

// busy tells whether a thread has unfinished runs.
func (t tables) busy(thread []byte) bool {
	k, _ := t.live.Cursor().Seek(thread)
	return bytes.HasPrefix(k, thread)
}

// State implements Store.
func (s *Bolt) State(ctx context.Context, threadID string) (messages []Message, err error) {
	err = s.view(ctx, ids{threadID}, func(tab tables, k []byte) error {
		if tab.threads.Get(k) == nil {
			return ErrNotFound
		}
		messages, err = tab.state(k)
		return err
	})
	return messages, err
}

func (t tables) state(thread []byte) (messages []Message, err error) {
	err = under(t.messages, thread, func(_, v []byte) error {
		var m storedMessage
		if err := Unmarshal(v, &m); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		messages = append(messages, m.Message)
		return nil
	})
	return messages, err
}

// DeleteThread implements Store.
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
