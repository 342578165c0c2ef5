package threads

import (
	"context"
	"errors"
)

// What a Store answers when it does not do what it was asked.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	ErrGone     = errors.New("the run may not write any more: it was deleted, interrupted, or has ended")
	ErrClosed   = errors.New("the store is closed")
)

// RefusedError is the answer to a run that a strategy does not accept.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Store keeps threads, runs and messages. Every method is one transaction, durable when it returns.
type Store interface {
	ThreadStore
	RunStore
}

// ThreadStore keeps threads.
type ThreadStore interface {
	CreateThread(ctx context.Context, t Thread) error
	Thread(ctx context.Context, id string) (Thread, error)
	// Threads lists the threads that match, newest first.
	Threads(ctx context.Context, match func(Thread) bool) ([]Thread, error)
	// UpdateThread applies change to the thread; where change fails, nothing happens.
	UpdateThread(ctx context.Context, id string, change func(*Thread) error) (Thread, error)
	// DeleteThread deletes the thread, its runs and its messages.
	DeleteThread(ctx context.Context, id string) error
}

// RunStore keeps runs and what they write.
type RunStore interface {
	// BeginRun asks the strategy about the unfinished runs of the thread, does what it says, and adds the run.
	BeginRun(ctx context.Context, r Run, s Strategy) (Plan, error)
	// StartRun marks a pending run as running, adds its input, and returns all messages of the thread.
	StartRun(ctx context.Context, threadID, runID string, input []Message) ([]Message, error)
	// AppendMessages adds messages of a running run.
	AppendMessages(ctx context.Context, threadID, runID string, messages []Message) error
	// FinishRun adds the last messages of a run and ends it with a status.
	FinishRun(ctx context.Context, threadID, runID string, end Ending) error
	// DeleteRun deletes a run and every message it wrote.
	DeleteRun(ctx context.Context, threadID, runID string) error
	Run(ctx context.Context, threadID, runID string) (Run, error)
	// Runs lists the runs of a thread, newest first.
	Runs(ctx context.Context, threadID string) ([]Run, error)
	State(ctx context.Context, threadID string) (State, error)
	// EndUnfinished ends all runs that are still pending or running: what is done when a server starts or stops.
	EndUnfinished(ctx context.Context, end Ending) (int, error)
}

// Ending is how a run ends.
type Ending struct {
	Status   string
	Reason   string
	Messages []Message
}

// Plan is what becomes of the unfinished runs of a thread when a new run arrives.
type Plan struct {
	Refuse    string   // why the new run is not accepted; empty: it is
	Delete    []string // run ids: deleted, with every message they wrote
	Interrupt []string // run ids: ended as they are, their messages stay
}

// Strategy decides about the unfinished runs of a thread, oldest first. It must not touch anything: the store calls it
// inside of the transaction that then does what it says (interface, section 3, "Run rollback rule").
type Strategy func(unfinished []Run) Plan
