package agentserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
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

// fields is the message as one flat object.
func (m Message) fields() map[string]any {
	out := maps.Clone(m.Extra)
	if out == nil {
		out = map[string]any{}
	}
	out["id"], out["type"], out["content"] = m.ID, m.Type, m.Content
	return out
}

// MarshalJSON writes one flat object.
func (m Message) MarshalJSON() ([]byte, error) { return json.Marshal(m.fields()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(data []byte) error {
	var fields map[string]any
	if err := unmarshal(data, &fields); err != nil {
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

// values is the state's "values" object: empty before the first run.
func (s State) values() map[string]any {
	if s.RunID == "" {
		return map[string]any{}
	}
	messages := s.Messages
	if messages == nil {
		messages = []Message{}
	}
	return map[string]any{"messages": messages}
}

// messageTypes are the types of messages by the roles and types that clients and graphs use.
var messageTypes = map[string]string{
	"user": "human", "human": "human",
	"assistant": "ai", "ai": "ai",
	"system": "system", "developer": "system",
	"tool": "tool", "function": "tool",
}

// maxContentDepth bounds the nesting of what clients send: it is walked again and again.
const maxContentDepth = 32

// parseMessage reads a message as clients and graphs write it: with a role or a type, and a content.
func parseMessage(v any, defaultType string) (Message, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return Message{}, fmt.Errorf("a message is an object with role and content")
	}
	extra := maps.Clone(fields)
	typ := defaultType
	for _, key := range []string{"type", "role"} {
		given, ok := fields[key]
		delete(extra, key)
		if !ok {
			continue
		}
		name, _ := given.(string)
		if typ = messageTypes[name]; typ == "" {
			return Message{}, fmt.Errorf("%s is none of user, human, assistant, ai, system, tool", key)
		}
	}
	if typ == "" {
		return Message{}, fmt.Errorf("a message has a role")
	}
	content, ok := fields["content"]
	switch content.(type) {
	case string, []any:
	default:
		ok = false
	}
	if !ok {
		return Message{}, fmt.Errorf("the content of a message is a string or an array")
	}
	id, _ := fields["id"].(string)
	if id == "" {
		id = newID()
	}
	delete(extra, "id")
	delete(extra, "content")
	return Message{ID: id, Type: typ, Content: content, Extra: extra}, nil
}

// depth is how deeply a JSON value is nested.
func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			deepest = max(deepest, depth(x))
		}
	case map[string]any:
		for _, x := range v {
			deepest = max(deepest, depth(x))
		}
	default:
		return 0
	}
	return deepest + 1
}
