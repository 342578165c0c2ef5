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

// answer is what is sent in place of the answer of the reference.
type answer struct {
	Status  int           `yaml:"status"`
	Headers text          `yaml:"headers"` // lines
	Body    text          `yaml:"body"`    // JSON, where no header says otherwise
	Gzip    bool          `yaml:"gzip"`
	Wire    text          `yaml:"wire"`
	Resets  bool          `yaml:"resets"`
	Stalls  bool          `yaml:"stalls"`
	Pace    time.Duration `yaml:"pace"`
}

// instead sends the answer.
func (a *answer) instead(next http.Handler) http.Handler {
	if a.Wire != nil {
		return http.HandlerFunc(a.onWire)
	}
	headers, body := strings.Split(a.Headers.String(), "\n"), sync.OnceValue(a.body)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, line := range headers {
			if name, value, is := strings.Cut(line, ": "); is {
				w.Header().Add(name, value)
			}
		}
		switch whole := a.Status > 0 || a.Body != nil; {
		case whole:
			a.send(w, body)
		case !a.Stalls:
			next.ServeHTTP(w, r)
		}
		if a.Stalls {
			<-r.Context().Done()
		}
	})
}

// body is what is sent as the body, if it has an end.
func (a *answer) body() string {
	if !a.Gzip {
		return a.Body.String()
	}
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_ = a.Body.write(z) // into memory
	_ = z.Close()
	return b.String()
}

func (a *answer) send(w http.ResponseWriter, body func() string) {
	flush := http.NewResponseController(w).Flush
	if a.Body != nil && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if a.Body.endless() {
		w.WriteHeader(http.StatusOK)
		a.stream(a.Body, w, flush)
		return
	}
	if a.Body != nil && !a.Stalls {
		w.Header().Set("Content-Length", strconv.Itoa(len(body())))
	}
	w.WriteHeader(cmp.Or(a.Status, http.StatusOK))
	_, _ = io.WriteString(w, body()) // the client may be gone
	if a.Stalls {
		_ = flush()
	}
}

// onWire takes the connection over.
func (a *answer) onWire(w http.ResponseWriter, _ *http.Request) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	a.stream(a.Wire, c, func() error { return nil })
	if tcp, is := c.(*net.TCPConn); is && a.Resets {
		_ = tcp.SetLinger(0)
	}
}

// stream sends a text at the pace of the answer, until its end or until the client has gone.
func (a *answer) stream(t text, w io.Writer, flush func() error) {
	if a.Pace > 0 {
		_ = t.write(paced{w, flush, a.Pace})
		return
	}
	buffered := bufio.NewWriterSize(w, 64<<10)
	_ = t.write(buffered)
	_ = buffered.Flush()
}

// paced sends a byte at a time.
type paced struct {
	w     io.Writer
	flush func() error
	pace  time.Duration
}

func (p paced) Write(text []byte) (n int, err error) {
	for i := range text {
		time.Sleep(p.pace) // the time is the mode
		if _, err := p.w.Write(text[i : i+1]); err != nil {
			return i, err
		}
		if err := p.flush(); err != nil {
			return i, err
		}
	}
	return len(text), nil
}
