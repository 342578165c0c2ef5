package invariants

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// idFields says, by operation, in which field an answer has which parameter of the path, and which other field shows
// that it has.
var idFields = map[string]struct{ field, parameter, beside string }{
	"get-deployment":    {"id", "deployment_id", "id"},
	"update-deployment": {"id", "deployment_id", "latest_revision_id"}, // without it, it need not be the deployment
	"get-revision":      {"id", "revision_id", "id"},
	"get-run":           {"run_id", "run_id", "run_id"},
}

// sameIDs holds answers to the ids that their requests name in the path (sections 2 and 4). It compares ids of the
// right type: what the contract has against an id is its own concern.
func sameIDs(t *tally, s *seen) {
	at, has := idFields[s.Op.ID]
	if !has || !s.ok() || !s.answer.Get(at.beside).Exists() {
		return
	}
	asked, got := s.In(at.parameter), s.answer.Get(at.field)
	if s.Side == spec.ControlPlane && (uuid.Validate(asked) != nil || uuid.Validate(got.Str) != nil) {
		return
	}
	if got.Type != gjson.String && got.Type != gjson.Number {
		return
	}
	t.judged++
	if !sameID(asked, got.String()) {
		t.violated(s, outcome.WrongValue, "/"+at.field, "The response has another id than the request", "the id "+asked, got.String())
	}
}

// sameID reports whether two ids are the same: UUIDs in any spelling, others as they are written.
func sameID(a, b string) bool {
	x, errX := uuid.Parse(a)
	y, errY := uuid.Parse(b)
	return a == b || errX == nil && errY == nil && x == y
}

// closed judges that no route of the interface serves callers without credentials or with an unknown one (section 5).
func closed(t *tally, s *seen) {
	if !s.ofInterface() || !s.Caller.Invalid {
		return
	}
	t.judged++
	if s.ok() {
		t.violated(s, outcome.Accepted, "", "A request without valid credentials is served", "status 401 or 403",
			fmt.Sprintf("status %d", s.Status))
	}
}

// refusals compares refusals with the status and the detail that the configuration names for the authentication handler
// (sections 5 and 7).
type refusals struct {
	status config.PerCase[int]
	detail config.PerCase[string]
	exists map[string]bool // operations of which a response to valid credentials shows that the route exists
}

// note records which routes exist.
func (r *refusals) note(s *seen) {
	if s.HasAnswer() && s.ofInterface() && !s.Caller.Invalid && !target.IsNotServed(s.Status) {
		r.exists[s.Op.ID] = true
	}
}

// check judges refusals whose only cause can be the credentials. It ignores requests that break the contract, and routes
// that do not exist.
func (r *refusals) check(t *tally, s *seen) {
	if !s.ofInterface() || !s.Caller.Invalid || s.Wrong || s.Status/100 != 4 {
		return
	}
	if target.IsNotServed(s.Status) && !r.exists[s.Op.ID] {
		return
	}
	c := config.Invalid
	if s.Caller.Name == target.NoCredentials {
		c = config.Missing
	}
	statuses, details := r.status.For(c), r.detail.For(c)
	holdsDetail := func(detail string) bool {
		return messages.ContainsText(&exchange.Response{Body: []byte(s.Answer)}, detail)
	}
	t.judged++
	switch {
	case len(statuses) > 0 && !slices.Contains(statuses, s.Status):
		t.violated(s, outcome.WrongStatus, "", "A refusal has another status than the authentication handler sets",
			"status "+r.status.Words(c), fmt.Sprintf("status %d", s.Status))
	case len(details) > 0 && !slices.ContainsFunc(details, holdsDetail):
		actual := fmt.Sprintf("a body of %d bytes without it", len(s.Answer))
		if other := s.answer.Get("detail"); other.Type == gjson.String {
			actual = fmt.Sprintf("the detail %q", other.Str)
		}
		t.violated(s, outcome.WrongDetail, "/detail", "A refusal lacks the detail of the authentication handler",
			"the detail "+r.detail.Words(c), actual)
	}
}

// traces finds the beginning of stack traces of servers: of Python, JavaScript, Java and the like, Go, Ruby, and .NET.
var traces = regexp.MustCompile(strings.Join([]string{
	`Traceback \(most recent call last\)`,
	`File \\?"[^"\n]+\\?", line \d+`,
	`(?:\n|\\n)(?:\s|\\t)+at \S.*?[(: ][^()\s]+:\d+`,
	`goroutine \d+ \[`,
	`\.go:\d+ \+0x[0-9a-f]+`,
	`\.rb:\d+:in `,
	`(?:\n|\\n)(?:\s|\\t)+at \S+\.\S+\(.*?\) in `,
}, "|"))

// traceless judges that refusals show no stack traces (section 7): a client cannot act on them, and they show internals of
// the server.
func traceless(t *tally, s *seen) {
	if s.Status < 400 {
		return
	}
	t.judged++
	if found := traces.FindString(s.Answer); found != "" {
		t.violated(s, outcome.Leak, "", "A refusal shows a stack trace", "no stack trace", found)
	}
}
