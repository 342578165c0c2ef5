package client

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
)

// Request is what the suite asks of the target.
type Request struct {
	Side    spec.Side
	Base    string // base URL of Path
	Method  string
	Path    string // escaped, from the base: "/v2/deployments"
	Query   string // escaped, without "?"
	Header  http.Header
	Body    []byte // with the interface's names for neutral words
	Timeout time.Duration
	// Wrong says that the request breaks the contract on purpose. Any other request that does is an error of the suite.
	Wrong bool
	// Caller says who sends it.
	Caller Caller
	// Waits says that the answer may take as long as a run of the graph: the request takes no place of those in flight.
	Waits bool
	// Raised says that the request is about a run whose graph was told to raise an error.
	Raised bool
	// Removable, if not nil, reports whether a rollback may have removed the run of the request.
	Removable func() bool
	// Early says that the target may not serve yet: no answer, or one with 5xx, is no sign of anything else.
	Early bool
	// Trusted says that the request carries credentials of the configuration, which the target is expected to accept.
	Trusted bool
	// Renew, where it is not nil, returns the header with the credentials as they are now, after an answer that may
	// have refused them, and whether they have changed: then the request is sent once more.
	Renew func(a *Answer) (header http.Header, changed bool)
	// Repeated means that the client sent the request twice: see [Client.send]. The client sets it.
	Repeated bool
}

// URL is the address of the request, with its query.
func (r Request) URL() string {
	if r.Query == "" {
		return r.Base + r.Path
	}
	return r.Base + r.Path + "?" + r.Query
}

// Caller is who sends a request, as far as the configuration knows.
type Caller struct {
	Name    string // key of the configuration that holds the credentials, such as users.0; or a name of ours
	Invalid bool   // the request has no credentials, or only the value that no target knows
}

// Answer is what came back. Body is with the interface's names for neutral words; the recorded exchange has it as it
// was received.
type Answer struct {
	Request  Request
	Status   int
	Header   http.Header
	Body     []byte
	Received []byte // the body with the target's names; nil where it is Body
	Sent     time.Time
	Took     time.Duration
	Queued   time.Duration // before it was sent: for the limit of requests, and for a place while a run was in progress
	ID       int           // of the recorded exchange

	TLS       *tls.ConnectionState // of the connection; nil over http
	Forwarded string               // the address that answered, where a redirect on the same host was followed

	isJSON *bool         // what IsJSON returns; nil: it was not looked at yet
	alone  bool          // has the place of a large body
	waited time.Duration // for it
}

// Wire is the body as it was received.
func (a *Answer) Wire() []byte {
	if a.Received == nil {
		return a.Body
	}
	return a.Received
}

// Came is when the answer was there.
func (a *Answer) Came() time.Time { return a.Sent.Add(a.Took) }

// OK tells whether the status is 2xx.
func (a *Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Refused tells whether the status is 4xx.
func (a *Answer) Refused() bool { return a.Status >= 400 && a.Status < 500 }

// IsJSON tells whether the body is one JSON text of bounded depth and with a bounded number of values. GJSON's check
// recurses without a limit: a hostile body would crash the process.
func (a *Answer) IsJSON() bool {
	if a.isJSON != nil {
		return *a.isJSON
	}
	return IsJSON(a.Body)
}

// IsArray tells whether the body is a JSON array.
func (a *Answer) IsArray() bool {
	return a.IsJSON() && bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte{'['})
}

// Get returns what the body holds at the path (GJSON syntax). In a body that is not JSON nothing exists.
func (a *Answer) Get(path string) gjson.Result {
	if !a.IsJSON() {
		return gjson.Result{}
	}
	return gjson.GetBytes(a.Body, path)
}

// maxAddress bounds the address of a request, in bytes. Servers take a few thousand.
const maxAddress = 8 << 10

// unusable says why a request cannot be sent: what the target gave as an id or an address leads elsewhere, or has no
// bounds. It is "" for any other request. The suite itself sends no such path.
func unusable(r Request) string {
	if size := len(r.Base) + len(r.Path); size > maxAddress {
		return fmt.Sprintf("not sent: the target gave an id or an address that makes a URL of %d bytes; at most %d are sent",
			size, maxAddress)
	}
	for segment := range strings.SplitSeq(r.Path, "/") {
		if segment == "." || segment == ".." {
			return fmt.Sprintf("not sent: the target gave %q as an id, which leads to another path", segment)
		}
	}
	return ""
}

// Writes reports whether a request may create, change or remove something. The searches of an agent server are the only
// requests that read with POST (section 4).
func (r Request) Writes() bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	case http.MethodPost:
		return r.Side != spec.AgentServer || !strings.HasSuffix(r.Path, "/search")
	}
	return true
}
