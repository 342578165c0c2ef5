package threads

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// BeginRun implements Store: what the strategy decides and the new run are one transaction.
func (s *Bolt) BeginRun(ctx context.Context, r Run, strategy Strategy) (plan Plan, err error) {
	err = s.update(ctx, ids{r.ThreadID, r.ID}, func(tab tables, k []byte) error {
		thread := k[:16]
		if tab.threads.Get(thread) == nil {
			return ErrNotFound
		}
		unfinished, err := tab.unfinished(thread)
		if err != nil {
			return err
		}
		if plan = strategy(unfinished); plan.Refuse != "" {
			return &RefusedError{plan.Refuse}
		}
		for _, id := range plan.Delete {
			if err := tab.deleteRun(r.ThreadID, id); err != nil {
				return err
			}
		}
		end := Ending{Status: StatusInterrupted, Reason: "a later run of the thread interrupted it"}
		for _, id := range plan.Interrupt {
			if err := s.end(tab, r.ThreadID, id, end); err != nil {
				return err
			}
		}
		if err := errors.Join(more(tab.runs, s.MaxRuns, "runs"), tab.live.Put(k, nil)); err != nil {
			return err
		}
		return put(tab.runs, k, r)
	})
	return plan, err
}

// unfinished lists the pending and running runs of a thread, oldest first.
func (t tables) unfinished(thread []byte) ([]Run, error) {
	var out []Run
	err := under(t.live, thread, func(k, _ []byte) error {
		var r Run
		if err := get(t.runs, k, &r); err != nil {
			return fmt.Errorf("reading an unfinished run: %w", err)
		}
		out = append(out, r)
		return nil
	})
	return out, err
}

// deleteRun deletes the run and every message that it wrote.
func (t tables) deleteRun(threadID, runID string) error {
	k, err := key(threadID, runID)
	if err != nil {
		return err
	}
	if t.runs.Get(k) == nil {
		return ErrNotFound
	}
	err = deleteUnder(t.messages, k[:16], func(v []byte) (bool, error) {
		var m storedMessage
		err := Unmarshal(v, &m)
		return m.Run == runID, err
	})
	return errors.Join(err, t.live.Delete(k), t.runs.Delete(k), fewer(t.runs, 1))
}

// writable finds a run that may still write: one that was deleted, interrupted or has ended may not.
func (t tables) writable(threadID, runID string) (k []byte, r Run, err error) {
	if k, err = key(threadID, runID); err != nil {
		return nil, Run{}, err
	}
	if err := get(t.runs, k, &r); err != nil || !r.Unfinished() {
		return nil, Run{}, ErrGone
	}
	return k, r, nil
}

// StartRun implements Store.
func (s *Bolt) StartRun(ctx context.Context, threadID, runID string, input []Message) (all []Message, err error) {
	err = s.update(ctx, nil, func(tab tables, _ []byte) error {
		k, r, err := tab.writable(threadID, runID)
		if err != nil {
			return err
		}
		r.Status, r.UpdatedAt = StatusRunning, s.now()
		if err := put(tab.runs, k, r); err != nil {
			return err
		}
		if err := tab.append(k[:16], runID, input); err != nil {
			return err
		}
		all, err = tab.state(k[:16])
		return err
	})
	return all, err
}

// AppendMessages implements Store.
func (s *Bolt) AppendMessages(ctx context.Context, threadID, runID string, messages []Message) error {
	return s.update(ctx, nil, func(tab tables, _ []byte) error {
		k, _, err := tab.writable(threadID, runID)
		if err != nil {
			return err
		}
		return tab.append(k[:16], runID, messages)
	})
}

// FinishRun implements Store.
func (s *Bolt) FinishRun(ctx context.Context, threadID, runID string, end Ending) error {
	return s.update(ctx, nil, func(tab tables, _ []byte) error { return s.end(tab, threadID, runID, end) })
}

func (s *Bolt) end(tab tables, threadID, runID string, end Ending) error {
	k, r, err := tab.writable(threadID, runID)
	if err != nil {
		return err
	}
	if err := tab.append(k[:16], runID, end.Messages); err != nil {
		return err
	}
	r.Status, r.Reason, r.UpdatedAt = end.Status, end.Reason, s.now()
	return errors.Join(put(tab.runs, k, r), tab.live.Delete(k))
}

// append adds messages of a run to its thread.
func (t tables) append(thread []byte, run string, messages []Message) error {
	n := nextNumber(t.messages, thread)
	for i, m := range messages {
		k := binary.BigEndian.AppendUint64(slices.Clone(thread), n+uint64(i))
		if err := put(t.messages, k, storedMessage{Run: run, Message: m}); err != nil {
			return err
		}
	}
	return nil
}

// DeleteRun implements Store.
func (s *Bolt) DeleteRun(ctx context.Context, threadID, runID string) error {
	return s.update(ctx, nil, func(tab tables, _ []byte) error { return tab.deleteRun(threadID, runID) })
}

// Run implements Store.
func (s *Bolt) Run(ctx context.Context, threadID, runID string) (r Run, err error) {
	err = s.view(ctx, ids{threadID, runID}, func(tab tables, k []byte) error { return get(tab.runs, k, &r) })
	return r, err
}

// Runs implements Store.
func (s *Bolt) Runs(ctx context.Context, threadID string) (out []Run, err error) {
	err = s.view(ctx, ids{threadID}, func(tab tables, k []byte) error {
		return under(tab.runs, k, func(_, v []byte) error {
			var r Run
			err := Unmarshal(v, &r)
			out = append(out, r)
			return err
		})
	})
	slices.Reverse(out)
	return out, err
}

// EndUnfinished implements Store.
func (s *Bolt) EndUnfinished(ctx context.Context, end Ending) (n int, err error) {
	err = s.update(ctx, nil, func(tab tables, _ []byte) error {
		n = 0
		var keys [][]byte
		if err := tab.live.ForEach(func(k, _ []byte) error { keys = append(keys, bytes.Clone(k)); return nil }); err != nil {
			return err
		}
		for _, k := range keys {
			var r Run
			if err := get(tab.runs, k, &r); err != nil {
				return fmt.Errorf("reading an unfinished run: %w", err)
			}
			if err := s.end(tab, r.ThreadID, r.ID, end); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}
