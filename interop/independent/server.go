// Package independent is a second conforming server for testing the suite. It shares no code with the reference and was
// written from the interface only. Start reading with [Start]; plane.go is the control plane, and agent.go the agent servers.
//
// The suite must not depend on details of the reference. This server conforms to the interface and differs from the
// reference where the interface allows it: a host for each half, status codes, texts, additional fields, opaque IDs, times
// with unusual offsets, chunked and compressed bodies, refusals in plain text, skipped statuses, no DELETE. A requirement
// that fails here either depends on the reference, or this server violates the interface. Builds come from a table, and
// the only graph is its own.
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

// Options are the options of a server. The zero value is the cloud edition.
type Options struct {
	Edition string                          // config.Cloud or config.SelfHosted
	Layer   func(http.Handler) http.Handler // wraps the handler of each host; may be nil
	// Listen creates the listeners. If it is nil, net.Listen is used.
	Listen func(network, address string) (net.Listener, error)
}

// Server is a running control plane with its agent servers. The caller must close it.
type Server struct {
	ControlURL string // {base_url}
	AgentURL   string // {deployment_url} of a built-in agent server without a deployment
	edition    string
	agentBase  string

	ctx    context.Context // canceled by Close; the context of builds and runs
	cancel context.CancelFunc
	work   sync.WaitGroup // builds and runs
	hosts  []*httptest.Server

	mu          sync.Mutex // guards the fields below and all objects in them; handlers hold it
	lastTime    time.Time  // the last result of now
	agents      map[string]*agent
	deployments map[string]*deployment
}

// Start listens on free loopback ports and serves until Close is called. Like package httptest, it panics if it cannot
// listen.
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

// listen serves a handler on a free port and returns its URL.
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

// Close stops builds, runs and joins, and waits for them.
func (s *Server) Close() {
	s.cancel()
	for _, host := range s.hosts {
		host.CloseClientConnections()
		host.Close()
	}
	s.work.Wait()
}

// precision is the precision of times in responses.
const precision = 100 * time.Microsecond

// now returns the current time, and never the same time twice. The caller holds the lock.
func (s *Server) now() time.Time {
	now := time.Now().Truncate(precision)
	if !now.After(s.lastTime) {
		now = s.lastTime.Add(precision)
	}
	s.lastTime = now
	return now
}

// pause waits for d. It returns false if ctx ends earlier.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// tenants contains the tenants of the control plane (interface, section 5). The interface does not specify the header of
// the tenant ID.
var tenants = []config.Credentials{
	{APIKey: "key/of/the+owner=", TenantID: "tenant-one", Bearer: "owner.bearer~token"},
	{APIKey: "key/of/another=", TenantID: "tenant-two", Bearer: "other.bearer~token"},
}

// tenantOf returns the tenant of a request, or "" if the credentials are invalid. The API key and the bearer token are
// alternatives. A tenant ID in addition to a key must be that of the tenant.
func tenantOf(r *http.Request) string {
	key, tenantID := r.Header["X-Api-Key"], r.Header.Get(tenantHeader)
	for _, t := range tenants {
		hasKey := key != nil && key[0] == t.APIKey && (tenantID == "" || tenantID == t.TenantID)
		if hasKey || key == nil && bearer(r) == t.Bearer {
			return t.TenantID
		}
	}
	return ""
}

// User is a user of the agent servers (interface, section 2).
type User struct {
	Token, Identity, Role string
	Team                  string // also restricts access
	Studio                bool   // a user of the visual development environment, for whom there is no filter (section 5, item 7)
}

// Users contains two regular users, a studio user, and a user with the identity of the first in a different team.
var Users = []User{
	{Token: "ada.token.aaaa", Identity: "ada@example.org", Role: "alto", Team: "choir/1"},
	{Token: "bob.token.bbbb", Identity: "bob#2", Role: "bass"},
	{Token: "dev.token.cccc", Identity: "dev", Role: "builder", Studio: true},
	{Token: "ada.token.dddd", Identity: "ada@example.org", Role: "alto", Team: "choir/2"},
}

// blockedToken is the token of a user whose access was withdrawn.
const blockedToken = "eve.token.eeee"

// bearer returns the bearer token of a request. The scheme is case-insensitive (RFC 9110, section 11.1).
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// object is a JSON object. Its keys are sorted in responses.
type object = map[string]any

// call is a request with its sender, its objects and its problems. A response contains all problems.
type call struct {
	*Server
	r        *http.Request
	body     []byte
	problems []object

	tenant     string // tenant at the control plane
	deployment *deployment

	user   User // user at an agent server
	agent  *agent
	thread *thread
	run    *run
}

func (c *call) wrong(kind, msg string, loc ...any) {
	c.problems = append(c.problems, object{"loc": loc, "msg": msg, "type": kind, "ctx": object{"count": len(c.problems)}})
}

func (c *call) ok() bool { return len(c.problems) == 0 }

// read decodes the body, which must be one JSON object. A member that is null counts as absent.
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

// response is the response to a request. Handlers return it instead of sending it, so that slow clients do not block the
// lock.
type response struct {
	status int
	body   []byte          // nil means no body
	wait   <-chan struct{} // if not nil, the handler is called again when the channel is closed
}

// answer returns a response with indented JSON in which slashes are escaped (RFC 8259, section 7).
func answer(status int, v any) response {
	text, _ := json.MarshalIndent(v, "", "\t")
	return response{status: status, body: append(bytes.ReplaceAll(text, []byte("/"), []byte(`\/`)), '\n')}
}

// serve reads the body, and then calls find and handler with the lock. find finds the objects of the request, or returns
// false with a refusal.
func (c *call) serve(w http.ResponseWriter, find func(*call) (response, bool), handler func(*call) response) {
	c.body, _ = io.ReadAll(io.LimitReader(c.r.Body, 1<<20)) // a truncated body is invalid JSON
	for {
		c.mu.Lock()
		result, found := find(c)
		if found {
			result = handler(c)
		}
		c.mu.Unlock()
		if result.wait == nil {
			send(w, c.r, result.status, "Application/JSON; Charset=UTF-8", result.body)
			return
		}
		select {
		case <-result.wait:
		case <-c.r.Context().Done():
			return
		}
	}
}

// send sends the body compressed if the client accepts it, and otherwise in two chunks.
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
		_, _ = z.Write(body) // the client may have closed the connection
		_ = z.Close()
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(body[len(body)/2:])
}

// zones are deliberately unusual, because clients must compare times by instant and not by text.
var zones = []*time.Location{time.FixedZone("", 20700), time.FixedZone("", -34200), time.UTC, time.FixedZone("", 46800)}

// instant returns a time as text. The zone and the number of digits depend on n.
func instant(t time.Time, n int) string {
	layouts := []string{"2006-01-02T15:04:05.0000Z07:00", "2006-01-02T15:04:05.000000000Z07:00", time.RFC3339Nano}
	return t.In(zones[n%len(zones)]).Format(layouts[n%len(layouts)])
}

// orElse returns the value of a pointer, or the fallback if it is nil.
func orElse[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// cut returns a page of a list.
func cut[T any](all []T, limit, offset int) []T {
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))]
}
