package agentserver

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
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
	Metadata  map[string]any `json:"metadata"`
	Status    string         `json:"status"` // busy if it has unfinished runs, otherwise idle; not stored
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
	Reason      string         `json:"reason,omitempty"` // the reason why it did not succeed
}

func (r Run) unfinished() bool { return r.Status == StatusPending || r.Status == StatusRunning }

func (r Run) key() string { return r.ThreadID + r.ID }

// Message is a message of a thread with id, type, content, and any other fields that were sent.
type Message = map[string]any

// written is a stored message with the ID of its run, so that messages can be deleted with their run.
type written struct {
	Run     string  `json:"run"`
	Message Message `json:"message"`
}

// ending is a new status of a run, with its last messages.
type ending struct {
	status, reason string
	messages       []Message
}

// tables contains the buckets of an agent server in one transaction.
type tables struct {
	threads  *bbolt.Bucket // thread -> Thread
	runs     *bbolt.Bucket // thread, run -> Run
	messages *bbolt.Bucket // thread, ID in the order of creation -> written
	now      func() time.Time
}

var bucketNames = [][]byte{[]byte("threads"), []byte("runs"), []byte("messages")}

// errClosed is returned for requests during the deletion of the agent server.
var errClosed = httpapi.Refuse(http.StatusServiceUnavailable, "Try again: the agent server was deleted.")

// errGone is returned when a run that is no longer in progress writes.
var errGone = errors.New("the run may not write any more: it was deleted, interrupted, or has ended")

// view runs a function in a read-only transaction.
func (s *Server) view(do func(tables) error) error { return s.store.View(s.within(do)) }

// update runs a function in a transaction, which is rolled back if the function returns an error.
func (s *Server) update(do func(tables) error) error { return s.store.Update(s.within(do)) }

// within returns a function that calls do with the tables of a transaction.
func (s *Server) within(do func(tables) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		root := tx.Bucket(s.bucket)
		if root == nil {
			return errClosed
		}
		return do(tables{root.Bucket(bucketNames[0]), root.Bucket(bucketNames[1]), root.Bucket(bucketNames[2]), s.store.Now})
	}
}

// open creates the buckets if needed.
func (s *Server) open() error {
	return s.store.Update(func(tx *bbolt.Tx) error {
		root, err := tx.CreateBucketIfNotExists(s.bucket)
		if err != nil {
			return err
		}
		for _, name := range bucketNames {
			if _, err := root.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
}

// thread returns a thread, or 404.
func (t tables) thread(id string) (Thread, error) {
	return store.Get[Thread](t.threads, id, threadNotFound(id))
}

// run returns a run of a thread, or 404.
func (t tables) run(thread, id string) (Run, error) {
	return store.Get[Run](t.runs, thread+id, runNotFound(id))
}

// threadNotFound returns the refusal for an unknown thread.
func threadNotFound(id string) error {
	return httpapi.Refuse(http.StatusNotFound, "Thread %s not found", id)
}

// runNotFound returns the refusal for an unknown run.
func runNotFound(id string) error { return httpapi.Refuse(http.StatusNotFound, "Run %s not found", id) }

// state returns the messages of a thread, oldest first.
func (t tables) state(thread string) ([]Message, error) {
	messages := []Message{}
	for m, err := range store.Newest[written](t.messages, thread) {
		if err != nil {
			return nil, err
		}
		messages = append(messages, m.Message)
	}
	slices.Reverse(messages)
	return messages, nil
}

// write adds messages of a run. It returns errGone if the run was deleted or interrupted. This check must be in the
// transaction that writes, because the script of such a run may still be running.
func (t tables) write(r Run, messages []Message) error {
	stored, err := t.run(r.ThreadID, r.ID)
	if err != nil || !stored.unfinished() {
		return errGone
	}
	for _, m := range messages {
		if err := store.Put(t.messages, r.ThreadID+store.NewID(), written{r.ID, m}); err != nil {
			return err
		}
	}
	return nil
}

// move adds messages of a run and changes its status.
func (t tables) move(r Run, to ending) error {
	if err := t.write(r, to.messages); err != nil {
		return err
	}
	r.Status, r.Reason, r.UpdatedAt = to.status, to.reason, t.now()
	return store.Put(t.runs, r.key(), r)
}

// deleteRun deletes a run and all messages that it wrote.
func (t tables) deleteRun(r Run) error {
	err := store.Delete(t.messages, r.ThreadID, func(m written) bool { return m.Run == r.ID })
	if err != nil {
		return err
	}
	return t.runs.Delete([]byte(r.key()))
}

// values returns the "values" object of a state. It is empty before the first message.
func (t tables) values(thread string) (map[string]any, error) {
	messages, err := t.state(thread)
	if err != nil || len(messages) == 0 {
		return map[string]any{}, err
	}
	return map[string]any{"messages": messages}, nil
}

// deleteThread deletes a thread with its runs and messages.
func (t tables) deleteThread(id string) error {
	if err := store.Delete(t.messages, id, store.Any[written]); err != nil {
		return err
	}
	if err := store.Delete(t.runs, id, store.Any[Run]); err != nil {
		return err
	}
	return t.threads.Delete([]byte(id))
}

// endUnfinished marks unfinished runs as interrupted, because their scripts no longer run.
func (s *Server) endUnfinished() error {
	return s.update(func(t tables) error {
		unfinished, err := store.Cut(store.Newest[Run](t.runs, ""), store.Everything, Run.unfinished)
		if err != nil {
			return err
		}
		for _, r := range unfinished {
			if err := t.move(r, stopped); err != nil {
				return err
			}
		}
		return nil
	})
}

// stopped is the ending of runs that were in progress when the server stopped.
var stopped = ending{status: StatusInterrupted, reason: "the server stopped while the run was in progress"}
