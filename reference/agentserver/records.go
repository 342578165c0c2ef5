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
	Status    string         `json:"status"` // busy while it has unfinished runs, else idle; not kept
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

func (r Run) unfinished() bool { return r.Status == StatusPending || r.Status == StatusRunning }

// key is the key of the run, and the beginning of the keys of nothing else.
func (r Run) key() string { return r.ThreadID + r.ID }

// Message is a message of a thread: id, type, content, and what else was written with it.
type Message = map[string]any

// written is a message with the run that wrote it, so that deleting a run deletes what it wrote.
type written struct {
	Run     string  `json:"run"`
	Message Message `json:"message"`
}

// ending is how a run ends.
type ending struct {
	status, reason string
	messages       []Message
}

// tables are the buckets of an agent server within one transaction.
type tables struct {
	threads  *bbolt.Bucket // thread -> Thread
	runs     *bbolt.Bucket // thread, run -> Run
	messages *bbolt.Bucket // thread, id in the order of creation -> written
	now      func() time.Time
}

var bucketNames = [][]byte{[]byte("threads"), []byte("runs"), []byte("messages")}

// errClosed is the answer to a request that a deletion of the agent server has overtaken.
var errClosed = httpapi.Refuse(http.StatusServiceUnavailable, "Try again: the agent server was deleted.")

// errGone is why a run may not write any more: it was deleted, interrupted, or has ended.
var errGone = errors.New("the run may not write any more: it was deleted, interrupted, or has ended")

func (s *Server) view(do func(tables) error) error { return s.store.View(s.within(do)) }

func (s *Server) update(do func(tables) error) error { return s.store.Update(s.within(do)) }

func (s *Server) within(do func(tables) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		root := tx.Bucket(s.bucket)
		if root == nil {
			return errClosed
		}
		return do(tables{root.Bucket(bucketNames[0]), root.Bucket(bucketNames[1]), root.Bucket(bucketNames[2]), s.store.Now})
	}
}

// open makes the buckets where there are none.
func (s *Server) open() error {
	return s.store.Update(func(tx *bbolt.Tx) error {
		root, err := tx.CreateBucketIfNotExists(s.bucket)
		for _, name := range bucketNames {
			if err == nil {
				_, err = root.CreateBucketIfNotExists(name)
			}
		}
		return err
	})
}

func (t tables) thread(id string) (Thread, error) {
	return store.Get[Thread](t.threads, id, noThread(id))
}

func (t tables) run(thread, id string) (Run, error) {
	return store.Get[Run](t.runs, thread+id, noRun(id))
}

func noThread(id string) error { return httpapi.Refuse(http.StatusNotFound, "Thread %s not found", id) }

func noRun(id string) error { return httpapi.Refuse(http.StatusNotFound, "Run %s not found", id) }

// state lists the messages of a thread, oldest first.
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

// write adds messages of a run. Its right to write is checked here, in the transaction that writes: a run that was
// deleted or interrupted cannot write any more, whatever its script is doing at that moment.
func (t tables) write(r Run, messages []Message) error {
	if kept, err := t.run(r.ThreadID, r.ID); err != nil || !kept.unfinished() {
		return errGone
	}
	for _, m := range messages {
		if err := store.Put(t.messages, r.ThreadID+store.NewID(), written{r.ID, m}); err != nil {
			return err
		}
	}
	return nil
}

// move adds messages of a run and gives it a status.
func (t tables) move(r Run, to ending) error {
	if err := t.write(r, to.messages); err != nil {
		return err
	}
	r.Status, r.Reason, r.UpdatedAt = to.status, to.reason, t.now()
	return store.Put(t.runs, r.key(), r)
}

// deleteRun deletes a run and every message that it wrote.
func (t tables) deleteRun(r Run) error {
	err := store.Delete(t.messages, r.ThreadID, func(m written) bool { return m.Run == r.ID })
	return errors.Join(err, t.runs.Delete([]byte(r.key())))
}

// values is the "values" object of a state: empty before the first message.
func (t tables) values(thread string) (map[string]any, error) {
	messages, err := t.state(thread)
	if err != nil || len(messages) == 0 {
		return map[string]any{}, err
	}
	return map[string]any{"messages": messages}, nil
}

func (t tables) deleteThread(id string) error {
	return errors.Join(
		store.Delete(t.messages, id, store.Any[written]), store.Delete(t.runs, id, store.Any[Run]),
		t.threads.Delete([]byte(id)),
	)
}

// endUnfinished ends the runs that a stop of the server has cut off: their scripts are gone.
func (s *Server) endUnfinished() error {
	return s.update(func(t tables) error {
		all, err := store.Cut(store.Newest[Run](t.runs, ""), store.Everything, Run.unfinished)
		for _, r := range all {
			err = errors.Join(err, t.move(r, stopped))
		}
		return err
	})
}

var stopped = ending{status: StatusInterrupted, reason: "the server stopped while the run was in progress"}
