package invariants

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages"
)

// closed holds the routes of the interface shut for callers without credentials and for those with an unknown one (section 5).
type closed struct {
	side spec.Side
	tally
}

func (r *closed) note(*seen) {}

func (r *closed) check(s *seen) {
	if s.Side != r.side || !s.ofInterface() || s.Caller.Kind == client.SomeCredentials {
		return
	}
	r.judged++
	if s.ok() {
		r.violated(s, "", "a request without valid credentials was served", "status 401 or 403", fmt.Sprintf("status %d", s.Status))
	}
}

// refusals holds the refusals of the authentication handler to its status and detail (sections 5 and 7).
type refusals struct {
	status int
	detail string // "" where the configuration does not say it
	tally
}

func (r *refusals) note(*seen) {}

// check looks at requests that are refused for their credentials alone: what breaks the contract may be refused for that.
func (r *refusals) check(s *seen) {
	if s.Side != spec.AgentServer || !s.ofInterface() || s.Caller.Kind == client.SomeCredentials || s.Wrong || s.Status/100 != 4 {
		return
	}
	r.judged++
	switch {
	case s.Status != r.status:
		r.violated(s, "", "a refusal has another status than the authentication handler gives", fmt.Sprintf("status %d", r.status), fmt.Sprintf("status %d", s.Status))
	case r.detail != "" && !messages.ContainsText(&client.Answer{Body: []byte(s.Answer)}, r.detail):
		r.violated(s, "/detail", "a refusal lacks the detail of the authentication handler", fmt.Sprintf("the detail %q", r.detail), actualDetail(s))
	}
}

func actualDetail(s *seen) string {
	if detail := s.answer.Get("detail"); detail.Type == gjson.String {
		return fmt.Sprintf("the detail %q", detail.Str)
	}
	return fmt.Sprintf("a body of %d bytes without it", len(s.Answer))
}
