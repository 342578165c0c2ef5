package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports/har"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/recording"
	"github.com/agentconform/agentconform/steps/target"
)

// maxRecorded is the maximum size of a body in a recording. The end of a longer one is missing there.
const maxRecorded = 1 << 20

// recordingMark is the comment of a recording, so that --record does not replace another archive.
const recordingMark outfile.Mark = "recorded by agentconform serve --record"

// recorder writes the exchanges of a proxy as a HAR file, without credentials. The file is complete after each exchange.
type recorder struct {
	server   string // base URL of the server behind the proxy
	redactor *recording.Redactor

	mu    sync.Mutex
	file  *os.File
	end   int64 // end of the last entry
	count int
	err   error // the first error; after it nothing is recorded
}

// newRecorder creates the file. The recording shows the names of the configuration's credentials.
func newRecorder(path, server string, cfg *config.Config) (*recorder, error) {
	if err := recordingMark.Of(path); err != nil {
		return nil, err
	}
	t, err := target.New(target.Options{Config: cfg})
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	r := &recorder{server: strings.TrimRight(server, "/"), redactor: recording.NewRedactor(t), file: file}
	head := har.Head(suiteVersion(), string(recordingMark))
	r.end = int64(len(head))
	_, err = file.WriteString(head + har.Tail)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file. It returns the first error of writing it.
func (r *recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	closed := r.file.Close()
	if r.err == nil {
		r.err = closed
	}
	return writeError("recording", r.err, "file with --record")
}

// unreached is the key of a *bool in the context of a request, which is set if the server did not respond.
type unreached struct{}

// RoundTrip sends a request of the proxy to the server.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if failed, is := request.Context().Value(unreached{}).(*bool); is && err != nil {
		*failed = true
	}
	return response, err
}

// wrap records the exchanges of a proxy, with its faults.
func (r *recorder) wrap(proxy http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, failed := &beginning{}, false
		e := recording.Entry{Method: request.Method, URL: r.addressOf(request.URL), Header: request.Header.Clone(), Sent: time.Now()}
		passed := request.WithContext(context.WithValue(request.Context(), unreached{}, &failed))
		passed.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(request.Body, body), request.Body}
		response := &capture{ResponseWriter: w, status: http.StatusOK}
		isWhole := false
		defer func() { // the proxy panics if the server closes the connection
			e.Took, e.Body = time.Since(e.Sent), body.bytes
			e.Status, e.Response, e.ResponseBody = response.status, response.header, response.kept.bytes
			size := response.size
			if !isWhole {
				size++
			}
			if failed {
				e.Status, e.Response, e.ResponseBody, size = 0, nil, nil, 0
			}
			r.write(e, size)
		}()
		proxy.ServeHTTP(response, passed)
		isWhole = true
	})
}

// addressOf returns the address of a request at the server.
func (r *recorder) addressOf(u *url.URL) string {
	path := u.EscapedPath()
	if rest, isAgent := strings.CutPrefix(path, faults.ProxiedAgent+"/"); isAgent {
		path = "/" + rest
	}
	address := r.server + path
	if u.RawQuery != "" {
		address += "?" + u.RawQuery
	}
	return address
}

// write writes an entry, followed by the end of the file.
func (r *recorder) write(e recording.Entry, size int) {
	x := r.redactor.Exchange(e, size)
	text := har.Entry(e.Sent, x)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if r.count > 0 {
		text = "," + text
	}
	_, r.err = r.file.WriteAt([]byte(text+har.Tail), r.end)
	r.end += int64(len(text))
	r.count++
}

// beginning keeps the beginning of the written bytes.
type beginning struct{ bytes []byte }

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p[:min(len(p), maxRecorded-len(b.bytes))]...)
	return len(p), nil
}

// capture keeps the beginning of a response.
type capture struct {
	http.ResponseWriter
	status int
	header http.Header // the headers at the time of sending; nil before
	kept   beginning
	size   int
}

// Unwrap lets the proxy flush and hijack the connection.
func (c *capture) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *capture) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		c.status, c.header = status, c.Header().Clone()
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *capture) Write(p []byte) (int, error) {
	if c.header == nil {
		c.header = c.Header().Clone()
	}
	n, err := c.ResponseWriter.Write(p)
	c.size += n
	_, _ = c.kept.Write(p[:n])
	return n, err
}
