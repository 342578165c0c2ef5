package client

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// maxAddress bounds the address of a request, in bytes. Servers take a few thousand.
const maxAddress = 8 << 10

// unusable says why a request cannot be sent: what the target gave as an id or an address leads elsewhere, or has no bounds. It is "" for
// any other request. The suite itself sends no such path.
func unusable(r Request) string {
	if size := len(r.Base) + len(r.Path); size > maxAddress {
		return fmt.Sprintf("not sent: the target gave an id or an address that makes a URL of %d bytes; at most %d are sent", size, maxAddress)
	}
	for segment := range strings.SplitSeq(r.Path, "/") {
		if segment == "." || segment == ".." {
			return fmt.Sprintf("not sent: the target gave %q as an id, which leads to another path", segment)
		}
	}
	return ""
}

// WriteRefused says that a request was not sent because it would write to the target, and the run only reads ([Client.ReadOnly]). That
// the suite wanted to send it is a mistake of the suite: the scenario lacks the tag @writes.
type WriteRefused struct{ Request Request }

func (e *WriteRefused) Error() string {
	return fmt.Sprintf("%s %s would write to the target, and the run only reads: give the scenario the tag @writes", e.Request.Method, e.Request.Path)
}

// writes tells whether a request may create, change or remove something. The searches of an agent server are the only requests that
// read with POST (section 4).
func (r Request) writes() bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	case http.MethodPost:
		return r.Side != spec.AgentServer || !strings.HasSuffix(r.Path, "/search")
	}
	return true
}
