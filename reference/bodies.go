package reference

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// timed ends requests whose body takes too long: it cannot be read further, so that nobody holds a connection, and what belongs to it, with
// a body that never ends. The time that the answer takes is not bounded: clients wait for runs.
func timed(inner http.Handler, longest time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			connection := http.NewResponseController(w)
			if connection.SetReadDeadline(time.Now().Add(longest)) == nil {
				r.Body = &timedBody{r.Body, connection}
			}
		}
		inner.ServeHTTP(w, r)
	})
}

// timedBody takes the deadline away at the end of the body: later reads of the connection only notice that the client has gone.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

// Read reads the body.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{}) // where this fails, the connection has gone
	}
	return n, err
}
