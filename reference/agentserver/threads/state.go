package threads

import (
	"context"
	"time"
)

// The sources of a state: what wrote its last messages.
const (
	SourceInput  = "input"  // the input of a run
	SourceLoop   = "loop"   // the graph of a run
	SourceUpdate = "update" // a caller, with UpdateState
)

// State is what a thread holds after one write (interface, section 2, "Thread state"). The zero State is that of a thread
// to which nothing was written.
type State struct {
	Messages []Message // all of the thread's up to then
	RunID    string    // the run that wrote last; empty: none did
	At       time.Time // when it was written

	Checkpoint string // the id of the write; empty: nothing was written
	Parent     string // the Checkpoint before it
	Step       int    // how many writes were before it
	Source     string // SourceInput, SourceLoop or SourceUpdate
	Graph      string // of the run; empty: none wrote it
	// Next is the graph that had more to do: its run wrote later states, is in progress, or ended without success.
	Next  string
	Error string // why the run ended without success, if this is its last state
}

// Values is the state's "values" object: empty before the first message.
func (s State) Values() map[string]any {
	if s.RunID == "" && len(s.Messages) == 0 {
		return map[string]any{}
	}
	messages := s.Messages
	if messages == nil {
		messages = []Message{}
	}
	return map[string]any{"messages": messages}
}

// StateStore keeps what threads hold.
type StateStore interface {
	State(ctx context.Context, threadID string) (State, error)
	// History lists the states of a thread, newest first. The states of a run that was deleted are not among them.
	History(ctx context.Context, threadID string) ([]State, error)
	// UpdateState adds the messages that change returns to the state it is shown, and returns the new state; where change
	// fails, nothing happens. No run wrote these messages: they stay when runs are deleted. A thread with unfinished runs is
	// refused with a *RefusedError.
	UpdateState(ctx context.Context, threadID string, change func(State) ([]Message, error)) (State, error)
}
