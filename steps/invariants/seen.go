package invariants

import (
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
)

// seen is one exchange as the invariants read it.
type seen struct {
	evidence.Observation
	request gjson.Result // nothing where the body is not JSON
	answer  gjson.Result // the same
}

func seenOf(o evidence.Observation) *seen {
	return &seen{Observation: o, request: valueOf(o.Request), answer: valueOf(o.Answer)}
}

// valueOf is a body where it is JSON within the bounds; one that was cut is none.
func valueOf(body string) gjson.Result {
	if !client.IsJSON([]byte(body)) {
		return gjson.Result{}
	}
	return gjson.Parse(body)
}

// ok tells whether the request was served.
func (s *seen) ok() bool { return s.Status/100 == 2 }

// judged tells whether the answer may be judged: it came, does not only ask to wait, and is no server error.
func (s *seen) judged() bool {
	return s.Status != 0 && s.Status != http.StatusTooManyRequests && s.Status < http.StatusInternalServerError
}

// ofInterface tells whether the request is for an operation of the interface.
func (s *seen) ofInterface() bool { return s.Op.ID != "" && !s.Op.Field }

// isUser tells whether a user of the configuration sent the request.
func (s *seen) isUser() bool { return strings.HasPrefix(s.Caller.Name, "users.") }

// sameID tells whether two ids are the same: UUIDs in any spelling, others as they are written.
func sameID(a, b string) bool {
	x, errX := uuid.Parse(a)
	y, errY := uuid.Parse(b)
	return a == b || errX == nil && errY == nil && x == y
}
