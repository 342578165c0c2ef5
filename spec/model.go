package spec

import (
	"fmt"
	"net/http"
	"strings"
)

// Side is one half of the interface. Each half has its own base address and its own document.
type Side string

const (
	// ControlPlane manages deployments and revisions (interface, section 4, "Control plane").
	ControlPlane Side = "control-plane"
	// AgentServer runs threads and runs (interface, section 4, "Agent server").
	AgentServer Side = "agent-server"
)

// Sides returns both sides in the order of the interface.
func Sides() []Side { return []Side{ControlPlane, AgentServer} }

// Exchange is one HTTP request with its response, as the oracle needs it.
type Exchange struct {
	Side   Side
	Method string
	// Path is escaped and relative to the base address of the side: "/v2/deployments".
	Path  string
	Query string

	RequestHeader http.Header
	RequestBody   []byte

	Status int
	Header http.Header
	// Body is the response without its content encoding, such as gzip.
	Body []byte
}

// Violation is one violation of the contract.
type Violation struct {
	Operation string // the operation's id, such as "list-revisions"
	Status    int    // of the response; 0 if a request is judged
	// Pointer is the location as a JSON pointer into the body, or "" for the whole body. If a request is judged, the first
	// part is /path, /query, /header or /body.
	Pointer string
	// Keyword is the violated keyword of the schema ("required", "type", "format", "enum" ...), or one of the oracle's own:
	// "status", "content-type", "json", "trailing", "duplicate-key", "encoding", "depth", "values", "body", "parameter".
	Keyword  string
	Expected string
	Actual   string // a short excerpt of the actual value
	NoOffset bool   // the actual value is a date-time that lacks only its offset
}

// Key identifies the kind of violation: it omits the actual value and replaces array indices by a star, so that twenty
// revisions with the same violation are one finding.
func (v Violation) Key() string {
	return fmt.Sprintf("%s %d %s %s", v.Operation, v.Status, WithoutIndices(v.Pointer), v.Keyword)
}

// starred replaces array indices by a star. No field of the interface is a number, so a number is always an index.
func WithoutIndices(pointer string) string {
	if !strings.ContainsAny(pointer, "0123456789") {
		return pointer
	}
	segments := strings.Split(pointer, "/")
	for i, s := range segments {
		if s != "" && strings.Trim(s, "0123456789") == "" {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}

// Operation is one operation of a document.
type Operation struct {
	ID     string
	Side   Side
	Method string
	Path   string // the template: "/v2/deployments/{deployment_id}"
	// Field marks a vendor extension: an operation that is not part of the interface. It is documented and never judged.
	Field bool
	// Example is the body of a request that a target with the conformance graph serves, or nil if the document has none. Its
	// members assistant_id, thread_id and run_id are placeholders for those of the target.
	Example    any
	Parameters []Parameter
	Statuses   []string // of its responses: "200", or a range, "4XX"
}

// Parameter is one parameter of an operation with its bounds (interface, section 4).
type Parameter struct {
	Name    string
	In      string // "path" or "query"
	Type    string // "string", "integer" or "boolean"
	Default any
	Minimum *float64
	Maximum *float64
	// Enum has the allowed values. If List is set, they are those of the items of a comma-separated list.
	Enum []string
	List bool
}
