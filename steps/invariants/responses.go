package invariants

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// idField is a field of a response whose value must equal a parameter of the path.
type idField struct {
	field, parameter string
	// a field that marks the object; a response without it need not be the object
	required string
}

// idFields has the field for each operation. The response to an update need not be the deployment if it lacks
// latest_revision_id.
var idFields = map[string]idField{
	"get-deployment":    {"id", "deployment_id", "id"},
	"update-deployment": {"id", "deployment_id", "latest_revision_id"},
	"get-revision":      {"id", "revision_id", "id"},
	"get-run":           {"run_id", "run_id", "run_id"},
}

// sameIDs judges that responses have the IDs in the paths of their requests (sections 2 and 4). It compares only IDs of
// the right type, because the oracle judges the type. A path that was respelled on purpose may name a different ID.
func sameIDs(t *tally, s *seen) {
	at, has := idFields[s.Op.ID]
	if !has || s.Wrong || !s.ok() || !s.response.Get(at.required).Exists() {
		return
	}
	requested, got := s.In(at.parameter), s.response.Get(at.field)
	if s.Side == spec.ControlPlane && (uuid.Validate(requested) != nil || uuid.Validate(got.Str) != nil) {
		return
	}
	if got.Type != gjson.String && got.Type != gjson.Number {
		return
	}
	t.judged++
	if !exchange.MeansSame(requested, got.String()) {
		t.violated(s, outcome.WrongValue, "/"+at.field, s.Op.Request()+" shows another id than its request names",
			"id "+requested, "id "+got.String())
	}
}

// closed judges that no route of the interface serves callers without credentials or with an unknown token (section 5).
func closed(t *tally, s *seen) {
	if !s.ofInterface() || !s.Caller.Invalid {
		return
	}
	t.judged++
	if s.ok() {
		v := t.violated(s, outcome.Accepted, "",
			fmt.Sprintf("%s returns %d without valid credentials", s.Op.Request(), s.Status), "401 or 403",
			strconv.Itoa(s.Status))
		v.Check = outcome.Statuses("3XX", "4XX", "5XX")
	}
}

// refusals compares refusals with the status and the detail that the configuration names for the authentication handler
// (sections 5 and 7).
type refusals struct {
	status config.PerCase[int]
	detail config.PerCase[string]
	exists map[string]bool // operations whose route exists: a response to valid credentials has shown it
}

// note records which routes exist.
func (r *refusals) note(s *seen) {
	if s.HasAnswer() && s.ofInterface() && !s.Caller.Invalid && !target.IsNotServed(s.Status) {
		r.exists[s.Op.ID] = true
	}
}

// check judges refusals that only the credentials can have caused. It ignores requests that break the contract, and
// routes that do not exist.
func (r *refusals) check(t *tally, s *seen) {
	if !s.ofInterface() || !s.Caller.Invalid || s.Wrong || s.Status/100 != 4 {
		return
	}
	if target.IsNotServed(s.Status) && !r.exists[s.Op.ID] {
		return
	}
	c := config.Invalid
	switch s.Caller.Name {
	case target.NoCredentials:
		c = config.Missing
	case target.BlockedToken:
		c = config.Blocked
	}
	statuses, details := r.status.For(c), r.detail.For(c)
	hasDetail := func(detail string) bool {
		return messages.ContainsText(&exchange.Response{Body: []byte(s.Response)}, detail)
	}
	isComparable := s.Whole || len(details) == 0 // a recording may lack the detail
	if len(statuses) == 0 && !isComparable {
		return
	}
	t.judged++
	if len(statuses) > 0 && !slices.Contains(statuses, s.Status) {
		t.violated(s, outcome.WrongStatus, "",
			fmt.Sprintf("%s refuses with %d instead of %s", s.Op.Request(), s.Status, safe.Ellipsis(r.status.Words(c), maxInTitle)),
			r.status.Words(c), strconv.Itoa(s.Status))
		return
	}
	if isComparable && len(details) > 0 && !slices.ContainsFunc(details, hasDetail) {
		actual := fmt.Sprintf("a body of %d bytes without it", len(s.Response))
		if other := s.response.Get("detail"); other.Type == gjson.String {
			actual = fmt.Sprintf("detail %q", other.Str)
		}
		t.violated(s, outcome.WrongDetail, "/detail",
			s.Op.Request()+" refuses without the detail "+safe.Ellipsis(r.detail.Words(c), 26),
			"detail "+r.detail.Words(c), actual)
	}
}

// letIn finds refusals of a user whose credentials the server accepts before and after (section 5).
type letIn struct {
	served map[string]span   // time at which the server served a user, by caller
	owners map[string]string // the caller who created a thread, by objectKey
}

func newLetIn() *letIn { return &letIn{map[string]span{}, map[string]string{}} }

func (l *letIn) note(s *seen) {
	if !s.ofInterface() || !s.isUser() || !s.ok() {
		return
	}
	times, isKnown := l.served[s.Caller.Name]
	if !isKnown {
		times.first = s.Ended
	}
	times.last = s.Sent
	l.served[s.Caller.Name] = times
	if s.Op.ID == "create-thread" {
		l.owners[s.Base+" "+s.response.Get("thread_id").String()] = s.Caller.Name
	}
}

// check does not judge requests for threads of others, which a server may refuse with 401.
func (l *letIn) check(t *tally, s *seen) {
	if !s.ofInterface() || !s.isUser() || s.Wrong || s.In("thread_id") != "" && l.owners[objectKey(s)] != s.Caller.Name {
		return
	}
	t.judged++
	times := l.served[s.Caller.Name]
	if s.Status == http.StatusUnauthorized && times.first.Before(s.Sent) && s.Ended.Before(times.last) {
		v := t.violated(s, outcome.Refused, "",
			fmt.Sprintf("%s returns %d to a user who was let in before and after", s.Op.Request(), s.Status),
			"2xx, or another error", strconv.Itoa(s.Status))
		v.Check = outcome.Statuses("1XX", "2XX", "3XX", "403", "404", "409", "422", "5XX")
	}
}

// traces matches the beginning of a stack trace in Python, JavaScript, Java and similar languages, Go, Ruby, or .NET.
var traces = regexp.MustCompile(strings.Join([]string{
	`Traceback \(most recent call last\)`,
	`File \\?"[^"\n]+\\?", line \d+`,
	`(?:\n|\\n)(?:\s|\\t)+at \S.*?[(: ][^()\s]+:\d+`,
	`goroutine \d+ \[`,
	`\.go:\d+ \+0x[0-9a-f]+`,
	`\.rb:\d+:in `,
	`(?:\n|\\n)(?:\s|\\t)+at \S+\.\S+\(.*?\) in `,
}, "|"))

// traceless judges that refusals contain no stack traces (section 7). Clients have no use for them, and they reveal
// internals of the server.
func traceless(t *tally, s *seen) {
	if s.Status < 400 {
		return
	}
	t.judged++
	if found := traces.FindString(s.Response); found != "" {
		t.violated(s, outcome.Leak, "", s.Op.Request()+" refuses with a stack trace", "no stack trace", found)
	}
}
