package threads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// State implements StateStore.
func (s *Bolt) State(ctx context.Context, threadID string) (st State, err error) {
	err = s.view(ctx, ids{threadID}, func(tab tables, k []byte) error {
		if tab.threads.Get(k) == nil {
			return ErrNotFound
		}
		st, err = tab.state(k)
		return err
	})
	return st, err
}

// History implements StateStore.
func (s *Bolt) History(ctx context.Context, threadID string) (out []State, err error) {
	err = s.view(ctx, ids{threadID}, func(tab tables, k []byte) error {
		if tab.threads.Get(k) == nil {
			return ErrNotFound
		}
		out, err = tab.states(k)
		for i := range out {
			err = errors.Join(err, tab.judge(k, &out[i], i+1 < len(out) && out[i+1].RunID == out[i].RunID))
		}
		return err
	})
	slices.Reverse(out)
	return out, err
}

// state is the newest one.
func (t tables) state(thread []byte) (State, error) {
	all, err := t.states(thread)
	if err != nil || len(all) == 0 {
		return State{}, err
	}
	newest := all[len(all)-1]
	return newest, t.judge(thread, &newest, false)
}

// states lists the states of a thread, oldest first, without Next and Error. All share their messages.
func (t tables) states(thread []byte) ([]State, error) {
	var out []State
	var messages []Message
	err := under(t.messages, thread, func(_, v []byte) error {
		var m storedMessage
		if err := Unmarshal(v, &m); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		messages = append(messages, m.Message)
		if n := len(out); n == 0 || out[n-1].Checkpoint != m.Checkpoint {
			st := State{RunID: m.Run, At: m.At, Checkpoint: m.Checkpoint, Step: n, Source: m.Source, Graph: m.Graph}
			if n > 0 {
				st.Parent = out[n-1].Checkpoint
			}
			out = append(out, st)
		}
		out[len(out)-1].Messages = slices.Clip(messages)
		return nil
	})
	return out, err
}

// judge sets what follows from the run of a state. A run that is not there, in a copy, has nothing more to do.
func (t tables) judge(thread []byte, st *State, more bool) error {
	if st.RunID == "" {
		return nil
	}
	if more {
		st.Next = st.Graph
		return nil
	}
	k, err := key(st.RunID)
	if err != nil {
		return fmt.Errorf("reading the run of a message: %w", err)
	}
	var r Run
	switch err := get(t.runs, slices.Concat(thread, k), &r); {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("reading the run of a message: %w", err)
	case r.Status != StatusSuccess:
		st.Next, st.Error = st.Graph, r.Reason
	}
	return nil
}

// UpdateState implements StateStore.
func (s *Bolt) UpdateState(ctx context.Context, threadID string, change func(State) ([]Message, error)) (st State, err error) {
	err = s.update(ctx, ids{threadID}, func(tab tables, k []byte) error {
		var t Thread
		if err := get(tab.threads, k, &t); err != nil {
			return err
		}
		if tab.busy(k) {
			return &RefusedError{"the thread has a run in progress: wait for it, or cancel it, before the state is updated"}
		}
		before, err := tab.state(k)
		if err != nil {
			return err
		}
		messages, err := change(before)
		if err != nil {
			return err
		}
		if err := s.append(tab, k, storedMessage{Source: SourceUpdate}, messages); err != nil {
			return err
		}
		t.UpdatedAt = s.now()
		if err := put(tab.threads, k, t); err != nil {
			return err
		}
		st, err = tab.state(k)
		return err
	})
	return st, err
}

// CopyThread implements ThreadStore.
func (s *Bolt) CopyThread(ctx context.Context, from string, t Thread) error {
	return s.update(ctx, ids{from, t.ID}, func(tab tables, k []byte) error {
		source, target := k[:16], k[16:]
		if tab.threads.Get(source) == nil {
			return ErrNotFound
		}
		if tab.threads.Get(target) != nil {
			return ErrExists
		}
		if err := more(tab.threads, s.MaxThreads, "threads"); err != nil {
			return err
		}
		unfinished, err := tab.unfinished(source)
		if err != nil {
			return err
		}
		type pair struct{ k, v []byte }
		var messages []pair // collected first: a bucket must not change while it is read
		err = under(tab.messages, source, func(k, v []byte) error {
			var m storedMessage
			if err := Unmarshal(v, &m); err != nil {
				return fmt.Errorf("reading a message: %w", err)
			}
			if !slices.ContainsFunc(unfinished, func(r Run) bool { return r.ID == m.Run }) {
				messages = append(messages, pair{slices.Concat(target, k[16:]), bytes.Clone(v)})
			}
			return nil
		})
		for _, m := range messages {
			if err == nil {
				err = tab.messages.Put(m.k, m.v)
			}
		}
		return errors.Join(err, put(tab.threads, target, t))
	})
}
