package threads

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/google/uuid"
)

// The statuses of a run.
const (
	StatusPending     = "pending"
	StatusRunning     = "running"
	StatusSuccess     = "success"
	StatusError       = "error"
	StatusTimeout     = "timeout"
	StatusInterrupted = "interrupted"
)

// The statuses of a thread.
const (
	ThreadIdle = "idle"
	ThreadBusy = "busy"
)

// Thread is a conversation (interface, section 2, "Thread, run, state").
type Thread struct {
	ID        string         `json:"thread_id"`
	CreatedAt time.Time      `json:"created_at"`
	Metadata  map[string]any `json:"metadata"`
	Status    string         `json:"status"` // busy while it has unfinished runs, else idle
}

// Run is one execution of a graph on a thread.
type Run struct {
	ID          string         `json:"run_id"`
	ThreadID    string         `json:"thread_id"`
	AssistantID string         `json:"assistant_id"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
	Status      string         `json:"status"`
	Metadata    map[string]any `json:"metadata"`
	Strategy    string         `json:"multitask_strategy"`
	Reason      string         `json:"reason,omitempty"` // why it did not succeed
}

// Unfinished tells whether the run is still going to do something.
func (r Run) Unfinished() bool { return r.Status == StatusPending || r.Status == StatusRunning }

// Message is one message of a thread's state. Fields beyond type, content and id are kept as they came.
type Message struct {
	ID      string
	Type    string
	Content any
	Extra   map[string]any
}

// Fields is the message as one flat object.
func (m Message) Fields() map[string]any {
	out := maps.Clone(m.Extra)
	if out == nil {
		out = map[string]any{}
	}
	out["id"], out["type"], out["content"] = m.ID, m.Type, m.Content
	return out
}

// MarshalJSON writes one flat object.
func (m Message) MarshalJSON() ([]byte, error) { return json.Marshal(m.Fields()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(data []byte) error {
	var fields map[string]any
	if err := Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	m.ID, _ = fields["id"].(string)
	m.Type, _ = fields["type"].(string)
	m.Content = fields["content"]
	delete(fields, "id")
	delete(fields, "type")
	delete(fields, "content")
	m.Extra = fields
	return nil
}

// NewID makes an id. Ids are ordered by time: the store keeps runs in order by them.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Unmarshal decodes one JSON value and keeps numbers as they are written.
func Unmarshal(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("decoding JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("decoding JSON: unexpected data after the value")
	}
	return nil
}

// What a Store answers when it does not do what it was asked.
var (
	ErrNotFound = errors.New("not found")
	ErrGone     = errors.New("the run may not write any more: it was deleted, interrupted, or has ended")
	ErrClosed   = errors.New("the data of the agent server was deleted")
)

// RefusedError is the answer to a run that a strategy does not accept.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Store keeps threads, runs and messages. Every method is one transaction, durable when it returns.
type Store interface {
	CreateThread(ctx context.Context, t Thread) error
	Thread(ctx context.Context, id string) (Thread, error)
	// Threads lists the threads that match, newest first.
	Threads(ctx context.Context, match func(Thread) bool) ([]Thread, error)
	// DeleteThread deletes the thread, its runs and its messages.
	DeleteThread(ctx context.Context, id string) error
	// State returns the messages of a thread, oldest first.
	State(ctx context.Context, threadID string) ([]Message, error)

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
