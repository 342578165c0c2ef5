package agentserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// eventStream writes server-sent events.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// eventTime is how long a client may take to accept one event. One that takes longer is cut off; it can resume.
const eventTime = 30 * time.Second

// openStream answers with the head of a stream.
func openStream(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies that know this header pass each event on at once
	s := &eventStream{w, http.NewResponseController(w)}
	w.WriteHeader(http.StatusOK)
	return s
}

// send writes an event. An error says that the client is gone, or too slow.
func (s *eventStream) send(e event) error {
	data, err := json.Marshal(e.data)
	if err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	text := "event: " + e.name + "\ndata: " + string(data) + "\n"
	if e.id != "" {
		text += "id: " + e.id + "\n"
	}
	return s.write(text + "\n")
}

// beat writes a comment, which keeps proxies from closing a quiet connection. No empty line follows: some clients would take
// it for an event.
func (s *eventStream) beat() error { return s.write(": heartbeat\n") }

// write sends a text at once. A writer that can neither flush nor has deadlines, such as a recorder, needs neither.
func (s *eventStream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(eventTime))
	if _, err := s.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	_ = s.control.Flush() // where this fails, so does the next write
	return nil
}

// close ends what write has set: the connection may serve other requests.
func (s *eventStream) close() { _ = s.control.SetWriteDeadline(time.Time{}) }
