package invariants

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/target"
)

// seen is one answered request as the invariants read it.
type seen struct {
	id     int
	op     spec.Operation    // ID is "" where the interface and its known extensions have none
	side   spec.Side         // of the address that was asked
	base   string            // address that op.Path is relative to
	path   map[string]string // values of the parameters of the path
	sent   time.Time
	ended  time.Time
	status int
	wrong  bool // the request breaks the contract on purpose
	caller caller
	// credentials are all headers of the request that may carry some, as they are recorded: secrets by their names.
	credentials string

	exchange *reports.Exchange
	request  gjson.Result // with the interface's names; nothing where the body is not JSON
	answer   gjson.Result // the same
}

// ok tells whether the request was served.
func (s *seen) ok() bool { return s.status/100 == 2 }

// judged tells whether the answer may be judged: it came, does not only ask to wait, and is no server error.
func (s *seen) judged() bool {
	return s.status != 0 && s.status != http.StatusTooManyRequests && s.status < http.StatusInternalServerError
}

// ofInterface tells whether the request is for an operation of the interface.
func (s *seen) ofInterface() bool { return s.op.ID != "" && !s.op.Field }

// caller is who sent a request, as far as its headers tell.
type caller struct {
	name string // key of the configuration that holds the credentials, such as users.0; "" where it is none of these
	kind credentialKind
}

type credentialKind int

// Kinds of credentials.
const (
	someCredentials    credentialKind = iota // that may be valid
	noCredentials                            // the request has no header that could carry any
	unknownCredentials                       // only the value that no target knows
)

// callers recognizes callers by the recorded headers, in which the values of secrets are the names of their
// variables.
type callers struct {
	names   map[spec.Side][]string // headers that carry credentials
	unknown map[spec.Side]map[string][]string
	users   []user
}

type user struct {
	key    string
	header map[string][]string
}

func newCallers(t *target.Target) *callers {
	c := &callers{names: map[spec.Side][]string{}, unknown: map[spec.Side]map[string][]string{
		spec.ControlPlane: t.Redact.Sent(t.Credentials(target.UnknownKey)),
		spec.AgentServer:  t.Redact.Sent(t.UnknownCaller().Header),
	}}
	names := t.Config.CredentialHeaders
	for _, name := range []string{names.APIKey, names.TenantID, names.Bearer, "Authorization"} {
		for _, side := range []spec.Side{spec.ControlPlane, spec.AgentServer} {
			c.names[side] = append(c.names[side], http.CanonicalHeaderKey(name))
		}
	}
	for _, key := range t.UserKeys() {
		h := t.Redact.Sent(t.CallerWith(key).Header)
		c.users = append(c.users, user{key, h})
		for name := range h {
			c.names[spec.AgentServer] = append(c.names[spec.AgentServer], name)
		}
	}
	return c
}

// carried are the headers of a request that may carry credentials.
func (c *callers) carried(side spec.Side, header map[string][]string) map[string][]string {
	carried := map[string][]string{}
	for _, name := range c.names[side] {
		if values, present := header[name]; present {
			carried[name] = values
		}
	}
	return carried
}

// of recognizes the caller of a request.
func (c *callers) of(side spec.Side, header map[string][]string) caller {
	carried := c.carried(side, header)
	if len(carried) == 0 {
		return caller{kind: noCredentials}
	}
	if maps.EqualFunc(carried, c.unknown[side], slices.Equal) {
		return caller{kind: unknownCredentials}
	}
	if side == spec.AgentServer {
		for _, u := range c.users {
			if maps.EqualFunc(carried, u.header, slices.Equal) {
				return caller{name: u.key}
			}
		}
	}
	return caller{}
}

// reader reads recorded exchanges.
type reader struct {
	target  *target.Target
	oracle  *spec.Oracle
	callers *callers
}

// read returns what the invariants read of an exchange, nil where it is for another address.
func (r *reader) read(x *reports.Exchange) *seen {
	at := r.target.Collector.SentAs(x.ID)
	s := &seen{id: x.ID, sent: at.At, ended: at.At.Add(time.Duration(x.MS * float64(time.Millisecond))), status: x.Status, wrong: at.Wrong, exchange: x}
	address, _, _ := strings.Cut(x.URL, "?")
	below := ""
	if !r.locate(s, address, &below) {
		return nil
	}
	if op, known := r.oracle.Find(s.side, x.Method, below); known {
		s.op, s.path = op, valuesOf(op.Path, below)
	}
	s.credentials = fmt.Sprint(r.callers.carried(s.side, x.Request.Headers))
	s.caller = r.callers.of(s.side, x.Request.Headers)
	s.request, s.answer = r.valueOf(s.side, x.Request.Body), r.valueOf(s.side, x.Response.Body)
	return s
}

// valueOf is a recorded body with the interface's names, where it is JSON: of bounded depth; a body that was cut is
// none.
func (r *reader) valueOf(side spec.Side, body string) gjson.Result {
	if !json.Valid([]byte(body)) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(r.target.Client.Words.FromTarget(side, []byte(body)))
}

// locate finds which half of the target the address is of.
func (r *reader) locate(s *seen, address string, below *string) bool {
	for _, side := range []spec.Side{spec.AgentServer, spec.ControlPlane} { // an agent server may be below the control plane's address
		for _, base := range r.target.Bases(side) {
			if path, is := strings.CutPrefix(address, r.target.Redact.Text(base)); is && base != "" && (path == "" || path[0] == '/') {
				s.side, s.base, *below = side, base, path
				return true
			}
		}
	}
	return false
}

// valuesOf returns the values of the parameters of a path.
func valuesOf(template, path string) map[string]string {
	values, segments := map[string]string{}, strings.Split(path, "/")
	for i, name := range strings.Split(template, "/") {
		if !strings.HasPrefix(name, "{") || i >= len(segments) {
			continue
		}
		if value, err := url.PathUnescape(segments[i]); err == nil {
			values[strings.Trim(name, "{}")] = value
		}
	}
	return values
}

// sameID tells whether two ids are the same: UUIDs in any spelling, others as they are written.
func sameID(a, b string) bool {
	x, errX := uuid.Parse(a)
	y, errY := uuid.Parse(b)
	return a == b || errX == nil && errY == nil && x == y
}
