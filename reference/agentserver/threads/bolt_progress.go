package threads

import (
	"context"
	"fmt"
)

// Progress is what a run has written so far, and the state of its thread, at one moment.
type Progress struct {
	Run    Run
	State  State
	Writes []Write // of the run, in order; a later Progress of the same run only adds to them
}

// Write is what a run added at once: its input, one message while it ran, or what it returned.
type Write struct {
	Input    bool
	From, To int // State.Messages[From:To] are its messages
}

// Values is the state's "values" object as it was after a write: later messages are left out.
func (p Progress) Values(w Write) map[string]any {
	return State{Messages: p.State.Messages[:w.To], RunID: p.Run.ID}.Values()
}

// Last is the state's "values" object as the run left it.
func (p Progress) Last() map[string]any {
	if len(p.Writes) == 0 {
		return p.State.Values()
	}
	return p.Values(p.Writes[len(p.Writes)-1])
}

// Progress implements RunStore.
func (s *Bolt) Progress(ctx context.Context, threadID, runID string) (p Progress, err error) {
	err = s.view(ctx, ids{threadID, runID}, func(tab tables, k []byte) error {
		if err := get(tab.runs, k, &p.Run); err != nil {
			return err
		}
		var written string // checkpoint of the write at the end of p.Writes
		return under(tab.messages, k[:16], func(_, v []byte) error {
			var m storedMessage
			if err := Unmarshal(v, &m); err != nil {
				return fmt.Errorf("reading a message: %w", err)
			}
			at := len(p.State.Messages)
			p.State.Messages = append(p.State.Messages, m.Message)
			p.State.RunID, p.State.At = m.Run, m.At
			if m.Run != runID {
				return nil
			}
			if len(p.Writes) == 0 || m.Checkpoint != written {
				p.Writes, written = append(p.Writes, Write{Input: m.Source == SourceInput, From: at}), m.Checkpoint
			}
			p.Writes[len(p.Writes)-1].To = at + 1
			return nil
		})
	})
	return p, err
}
