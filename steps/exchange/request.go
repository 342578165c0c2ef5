// Package exchange represents HTTP requests and responses as values. The client sends a [Request] and returns a
// [Response], or the error [NoResponse]. Judgements read them. The package sends no requests.
package exchange

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/spec"
)

// Request is a request of the suite to the target.
type Request struct {
	Side    spec.Side
	Base    string // base URL of Path
	Method  string
	Path    string // escaped, relative to Base: "/v2/deployments"
	Query   string // escaped, without "?"
	Header  http.Header
	Body    []byte // with the interface's names for neutral words
	Timeout time.Duration
	// Wrong means that the request breaks the contract on purpose. If any other request breaks it, that is an error of the
	// suite.
	Wrong bool
	// Recorded means that another client sent the request, for an unknown purpose. It counts as wrong if it breaks the
	// contract.
	Recorded bool
	// Dotted means that the path may have the segments "." and "..". Other requests must not have them.
	Dotted bool
	Caller Caller
	// Waits means that the response may take as long as a run of the graph. The request does not count toward the limit
	// of requests in flight.
	Waits bool
	// Raised means that the request is about a run whose input makes the graph raise an error.
	Raised bool
	// Removable, if not nil, reports whether a rollback may have removed the run that the request is about.
	Removable func() bool
	// Early means that the target may not serve requests yet. The test run then continues after a missing response or a
	// 5xx.
	Early bool
	// Trusted means that the request carries credentials of the configuration, which the target should accept.
	Trusted bool
	// Renew, if not nil, is called after a response that may have refused the credentials. It returns the header with the
	// current credentials, and reports whether they have changed. If they have, the request is sent once more.
	Renew func(a *Response) (header http.Header, changed bool)
	// Repeated means that the client sent the request twice because an idle connection was closed. The client sets it.
	Repeated bool
	// AfterOther means that the connection has been used by another caller, on purpose. The client sets it.
	AfterOther bool
}

// URL returns the address of the request, with its query.
func (r Request) URL() string {
	if r.Query == "" {
		return r.Base + r.Path
	}
	return r.Base + r.Path + "?" + r.Query
}

// Name returns the method and the path without UUIDs, for a title: "GET /threads/{id}/state".
func (r Request) Name() string {
	return strings.TrimSpace(r.Method + " " + uuids.ReplaceAllString(r.Path, "{id}"))
}

// WithHeaders names the headers of a request for a title, after its name: " with X-Forwarded-User". It returns "" if the
// request has only those that each request has.
func (r Request) WithHeaders() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name != "Content-Type" && name != "Accept" {
			names = append(names, name)
		}
	}
	if len(names) > 3 {
		names = append(names[:3], "...")
	}
	if len(names) == 0 {
		return ""
	}
	return " with " + strings.Join(names, ", ")
}

var uuids = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// Caller identifies the sender of a request.
type Caller struct {
	Name    string // key of the configuration with the credentials, such as users.0; or a name that the suite gives
	Invalid bool   // the request has no credentials, or only the value that no target knows
}

// Writes reports whether a request may create, change or remove something. Only the searches of an agent server read with
// POST (section 4).
func (r Request) Writes() bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	case http.MethodPost:
		return r.Side != spec.AgentServer || !strings.HasSuffix(r.Path, "/search")
	}
	return true
}
