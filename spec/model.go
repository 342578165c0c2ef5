package spec

import (
	"fmt"
	"net/http"
	"strings"
)

// Side tells the two halves of the interface apart. Each has its own base address and its own document.
type Side string

const (
	// ControlPlane manages deployments and revisions (interface, section 4, "Control plane").
	ControlPlane Side = "control-plane"
	// AgentServer runs threads and runs (interface, section 4, "Agent server").
	AgentServer Side = "agent-server"
)

// Sides lists both sides in the order of the interface.
func Sides() []Side { return []Side{ControlPlane, AgentServer} }

// Exchange is what the oracle needs to know of one HTTP request and its answer.
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
	// Body is the answer as the server meant it: a content encoding such as gzip is already undone.
	Body []byte
}

// Violation is one broken rule of the contract.
type Violation struct {
	Operation string // the operation's id, such as "list-revisions"
	Status    int    // of the answer; 0 where a request is judged
	// Pointer is the place as a JSON pointer into the body. "" is the body as a whole. Where a request is judged the
	// first part says where to look: /path, /query, /header or /body.
	Pointer string
	// Keyword is the broken keyword of the schema ("required", "type", "format", "enum" ...), or one of the oracle's own:
	// "status", "content-type", "json", "trailing", "duplicate-key", "encoding", "depth", "values", "body", "parameter".
	Keyword  string
	Expected string
	Actual   string // a short excerpt of what was there
}

// Key is the same for the same fault: it leaves out the offending value, and in place of an index into an array it has
// a star, so that twenty revisions with the same fault are one finding.
func (v Violation) Key() string {
	return fmt.Sprintf("%s %d %s %s", v.Operation, v.Status, starred(v.Pointer), v.Keyword)
}

// starred replaces array indices. No field of the interface is named by a number, so digits alone are an index.
func starred(pointer string) string {
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
	// Example is the body of a request that a target with the conformance graph serves, nil where the document has none.
	// Its members assistant_id, thread_id and run_id stand for those of the target.
	Example    any
	Parameters []Parameter
	Statuses   []string // of its answers: "200", or a range, "4XX"
}

// Parameter is one parameter of an operation with its bounds (interface, section 4).
type Parameter struct {
	Name    string
	In      string // "path" or "query"
	Type    string // "string", "integer" or "boolean"
	Default any
	Minimum *float64
	Maximum *float64
	// Enum lists the allowed values; where List is set, those of the items of a comma-separated list.
	Enum []string
	List bool
}
