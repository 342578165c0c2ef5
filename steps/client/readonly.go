package client

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

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
