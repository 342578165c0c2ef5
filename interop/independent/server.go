// Package independent is a second conforming server, written from the interface alone, for judging the suite.
//
// A suite that only ever meets its own reference slowly becomes a description of that reference. This server shares no
// code with it, keeps every sentence of the interface, and differs wherever the interface leaves room: a host for each
// half, status codes, texts, extra fields, opaque agent ids, date-times with odd offsets, bodies that are chunked or
// compressed, refusals in plain text, revisions that skip statuses, no DELETE. A check that fails here is tuned to the
// reference, or this server breaks the interface. It builds from a table, and runs no graph but its own.
package independent

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/config"
)

// Options chooses among the differences that the interface allows. The zero value is the cloud edition.
type Options struct {
	Edition string                          // config.Cloud or config.SelfHosted
	Layer   func(http.Handler) http.Handler // stands before each of both hosts
	// Listen makes the listeners; nil means net.Listen.
	Listen func(network, address string) (net.Listener, error)
}

// Server is the running pair of control plane and agent servers. Close ends it.
type Server struct {
	ControlURL string // {base_url}
	AgentURL   string // {deployment_url} of an agent server that is up from the start, without a deployment
	edition    string
	agentBase  string

	ctx    context.Context // ends with Close; every build and every run hangs on it
	cancel context.CancelFunc
	work   sync.WaitGroup // builds and runs
	hosts  []*httptest.Server

	mu          sync.Mutex // guards all below and what it leads to; handlers have it
	lastTime    time.Time  // most recent result of now
	agents      map[string]*agent
	deployments map[string]*deployment
}

// Start listens on free loopback ports and serves until Close. Like package httptest it panics if it cannot listen.
func Start(o Options) *Server {
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	s := &Server{edition: cmp.Or(o.Edition, config.Cloud), deployments: map[string]*deployment{},
		agents: map[string]*agent{"existing": {voice: voices[mainRef]}}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.ControlURL = s.listen(o, s.controlPlane()) + folder
	s.agentBase = s.listen(o, s.agentServers())
	s.AgentURL = s.agentBase + "/existing"
	return s
}

func (s *Server) listen(o Options, h http.Handler) string {
	if o.Layer != nil {
		h = o.Layer(h)
	}
	listener, err := o.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("independent: failed to listen: %v", err))
	}
	host := &httptest.Server{Listener: listener, Config: &http.Server{Handler: h}}
	host.Config.BaseContext = func(net.Listener) context.Context { return s.ctx }
	host.Start()
	s.hosts = append(s.hosts, host)
	return host.URL
}

// Close ends builds, runs and joins, and returns when nothing of the server is left.
func (s *Server) Close() {
	s.cancel()
	for _, host := range s.hosts {
		host.CloseClientConnections()
		host.Close()
	}
	s.work.Wait()
}

// precision is how exact the times are that the server shows.
const precision = 100 * time.Microsecond

// now returns the present time, and never the same time twice. The caller holds the lock.
func (s *Server) now() time.Time {
	now := time.Now().Truncate(precision)
	if !now.After(s.lastTime) {
		now = s.lastTime.Add(precision)
	}
	s.lastTime = now
	return now
}

// pause waits for d, or less when ctx ends, and tells whether the whole time has passed.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// tenants of the control plane (interface, section 5). The interface does not name the header of a tenant's id.
var tenants = []config.Credentials{
	{APIKey: "key/of/the+owner=", TenantID: "tenant-one", Bearer: "owner.bearer~token"},
	{APIKey: "key/of/another=", TenantID: "tenant-two", Bearer: "other.bearer~token"},
}

// tenantOf finds the tenant of the request, "" if there is none. The three schemes are alternatives; a tenant id beside
// a key has to be the key's own.
func tenantOf(r *http.Request) string {
	key, beside := r.Header["X-Api-Key"], r.Header.Get(tenantHeader)
	for _, t := range tenants {
		ofKey := key != nil && key[0] == t.APIKey && (beside == "" || beside == t.TenantID)
		if ofKey || key == nil && bearer(r) == t.Bearer {
			return t.TenantID
		}
	}
	return ""
}

// User is a caller that the agent server's authentication handler knows (interface, section 2).
type User struct {
	Token, Identity, Role string
	Studio                bool // comes from the visual development environment: is not filtered (section 5, 7)
}

// Users are two ordinary ones, then a studio user.
var Users = []User{
	{Token: "ada.token.aaaa", Identity: "ada@example.org", Role: "alto"},
	{Token: "bob.token.bbbb", Identity: "bob#2", Role: "bass"},
	{Token: "dev.token.cccc", Identity: "dev", Role: "builder", Studio: true},
}

// bearer reads the token; the scheme's name is the same in any case (RFC 9110, section 11.1).
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// object is a JSON object that is written with sorted keys: their order has no meaning.
type object = map[string]any

// call is one request, with who sends it, what it is about, and all that is wrong with it: one answer can name it all.
type call struct {
	*Server
	r        *http.Request
	body     []byte
	problems []object

	tenant     string // at the control plane
	deployment *deployment

	user   User // at an agent server
	agent  *agent
	thread *thread
	run    *run
}

func (c *call) wrong(kind, msg string, loc ...any) {
	c.problems = append(c.problems, object{"loc": loc, "msg": msg, "type": kind, "ctx": object{"count": len(c.problems)}})
}

func (c *call) ok() bool { return len(c.problems) == 0 }

// read decodes the body, which has to be one JSON object and nothing else. Null and absent are the same.
func (c *call) read(into any) {
	err := json.Unmarshal(c.body, into)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		var loc []any
		for name := range strings.SplitSeq(kind.Field, ".") {
			loc = append(loc, name)
		}
		c.wrong("wrong-kind", "not expected: a "+kind.Value, loc...)
	case err != nil || !bytes.HasPrefix(bytes.TrimSpace(c.body), []byte("{")):
		c.wrong("unreadable", fmt.Sprintf("expected a JSON object: %v", err), "body", 0)
	}
}

// response is what a request is answered with. Handlers do not write it: a client that reads slowly holds no lock.
type response struct {
	status int
	body   []byte          // nil: none
	wait   <-chan struct{} // the handler is asked again when this is closed
}

// answer is indented JSON with every slash escaped, which JSON permits (RFC 8259, section 7).
func answer(status int, v any) response {
	text, _ := json.MarshalIndent(v, "", "\t")
	return response{status: status, body: append(bytes.ReplaceAll(text, []byte("/"), []byte(`\/`)), '\n')}
}

// serve calls the handler with the lock, after the body was read, which may come slowly. Before it, find finds what the
// request is about, or refuses.
func (c *call) serve(w http.ResponseWriter, find func(*call) (response, bool), handler func(*call) response) {
	c.body, _ = io.ReadAll(io.LimitReader(c.r.Body, 1<<20)) // what is cut is no JSON
	for {
		c.mu.Lock()
		a, found := find(c)
		if found {
			a = handler(c)
		}
		c.mu.Unlock()
		if a.wait == nil {
			send(w, c.r, a.status, "Application/JSON; Charset=UTF-8", a.body)
			return
		}
		select {
		case <-a.wait:
		case <-c.r.Context().Done():
			return
		}
	}
}

// send writes the body compressed when the client takes that, else in two chunks.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = z.Write(body) // a client that has gone is none of our concern
		_ = z.Close()
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(body[len(body)/2:])
}

// zones are deliberately unusual: date-times compare by instant, never by their text.
var zones = []*time.Location{time.FixedZone("", 20700), time.FixedZone("", -34200), time.UTC, time.FixedZone("", 46800)}

// instant renders a time of the server, in a zone and with a number of digits that vary by n.
func instant(t time.Time, n int) string {
	layouts := []string{"2006-01-02T15:04:05.0000Z07:00", "2006-01-02T15:04:05.000000000Z07:00", time.RFC3339Nano}
	return t.In(zones[n%len(zones)]).Format(layouts[n%len(layouts)])
}

func orElse[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

func cut[T any](all []T, limit, offset int) []T {
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))]
}
