package threads

import (
	"encoding/json"
	"fmt"
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

// Thread is a conversation (interface, section 2, "Thread, run, state").
type Thread struct {
	ID        string         `json:"thread_id"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	Metadata  map[string]any `json:"metadata"`
	Status    string         `json:"status"` // idle, busy, interrupted or error: derived from its runs
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

// State is what a thread holds.
type State struct {
	Messages []Message
	RunID    string    // the run that wrote last; empty: none has
	At       time.Time // when it did
}

// Values is the state's "values" object: empty before the first run.
func (s State) Values() map[string]any {
	if s.RunID == "" {
		return map[string]any{}
	}
	messages := s.Messages
	if messages == nil {
		messages = []Message{}
	}
	return map[string]any{"messages": messages}
}

// NewID makes an id. Ids are ordered by time: the store keeps runs in order by them.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }
