package hostile

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// response replaces the response of the reference.
type response struct {
	Status  int           `yaml:"status"`
	Headers text          `yaml:"headers"` // lines
	Body    text          `yaml:"body"`    // JSON, unless Headers contains another Content-Type
	Gzip    bool          `yaml:"gzip"`
	Wire    text          `yaml:"wire"`
	Resets  bool          `yaml:"resets"`
	Stalls  bool          `yaml:"stalls"`
	Pace    time.Duration `yaml:"pace"`
}

// instead returns a handler that sends the response. If the response has only headers, the handler adds them to the
// response of next.
func (s *response) instead(next http.Handler) http.Handler {
	if s.Wire != nil {
		return http.HandlerFunc(s.onWire)
	}
	headers, body := strings.Split(s.Headers.String(), "\n"), sync.OnceValue(s.body)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, line := range headers {
			if name, value, ok := strings.Cut(line, ": "); ok {
				w.Header().Add(name, value)
			}
		}
		switch {
		case s.Status > 0 || s.Body != nil:
			s.send(w, body)
		case !s.Stalls:
			next.ServeHTTP(w, r)
		}
		if s.Stalls {
			<-r.Context().Done()
		}
	})
}

// body returns the encoded body. The body must not be endless.
func (s *response) body() string {
	if !s.Gzip {
		return s.Body.String()
	}
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_ = s.Body.write(z) // cannot fail in memory
	_ = z.Close()
	return b.String()
}

func (s *response) send(w http.ResponseWriter, body func() string) {
	flush := http.NewResponseController(w).Flush
	if s.Body != nil && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if s.Body.endless() {
		w.WriteHeader(http.StatusOK)
		s.stream(s.Body, w, flush)
		return
	}
	if s.Body != nil && !s.Stalls {
		w.Header().Set("Content-Length", strconv.Itoa(len(body())))
	}
	w.WriteHeader(cmp.Or(s.Status, http.StatusOK))
	_, _ = io.WriteString(w, body()) // the client may have closed the connection
	if s.Stalls {
		_ = flush()
	}
}

// onWire hijacks the connection, sends the bytes of Wire and closes the connection.
func (s *response) onWire(w http.ResponseWriter, _ *http.Request) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	s.stream(s.Wire, c, func() error { return nil })
	if tcp, ok := c.(*net.TCPConn); ok && s.Resets {
		_ = tcp.SetLinger(0)
	}
}

// stream sends a text at the pace of the response, until its end or until the client closes the connection.
func (s *response) stream(t text, w io.Writer, flush func() error) {
	if s.Pace > 0 {
		_ = t.write(paced{w, flush, s.Pace})
		return
	}
	buffered := bufio.NewWriterSize(w, 64<<10)
	_ = t.write(buffered)
	_ = buffered.Flush()
}

// paced writes one byte at a time.
type paced struct {
	w     io.Writer
	flush func() error
	pace  time.Duration
}

// Write writes and flushes each byte after a pause.
func (p paced) Write(text []byte) (n int, err error) {
	for i := range text {
		time.Sleep(p.pace) // the pause is the purpose of the mode
		if _, err := p.w.Write(text[i : i+1]); err != nil {
			return i, err
		}
		if err := p.flush(); err != nil {
			return i, err
		}
	}
	return len(text), nil
}
