package judge

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Remedies for a wrong answer of a run that reports its caller.
const (
	reportHint = "set identity and fields of the user to what the handler returns, or " + graphHint
	callerHint = "check that each user has the token and the identity of the same person; if so, give each run the user of its " +
		"own request in graph_auth_user, or " + graphHint
)

// IsServed judges that a request with valid credentials returns 2xx. rejects reports whether the server refuses
// credentials with a status. If refusesOnly is set, every failure other than refused credentials blocks, because the
// requirement about the operation judges it.
func IsServed(a *exchange.Response, refusesOnly bool, rejects func(status int) bool) error {
	if a.OK() {
		return nil
	}
	if refusesOnly && !rejects(a.Status) {
		return outcome.Blocked("the request fails for another reason than its credentials: %s", outcome.Seen(a))
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     notServed(a),
		Summary:  fmt.Sprintf("%s with valid credentials returns %d", nameOf(a.Request), a.Status),
		Expected: "2xx", Check: outcome.Statuses("2XX"),
	})
}

// RefusesCaller judges that a caller without valid credentials is refused with a status of the authentication handler:
// one of the configured statuses, or any 4xx if none is configured. caller describes the caller ("a caller without
// credentials"). class is the reason for the refusal.
func RefusesCaller(a *exchange.Response, caller, class string, statuses []int, hint string) error {
	expected := "4xx"
	isExpected := a.IsRefused()
	check := outcome.Statuses("4XX")
	if len(statuses) > 0 {
		expected = oneOf(statuses)
		check = outcome.Statuses(strings.Fields(strings.Trim(fmt.Sprint(statuses), "[]"))...)
		isExpected = slices.Contains(statuses, a.Status)
	}
	if isExpected {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.WrongStatus,
		Class:    class,
		Summary:  fmt.Sprintf("%s returns %d %s", nameOf(a.Request), a.Status, byCaller(caller)),
		Expected: expected,
		Check:    check,
		Hint:     hint,
	}
	switch {
	case a.Status >= http.StatusInternalServerError:
		v.Kind = outcome.ServerError
	case a.Status < http.StatusBadRequest:
		v.Kind = outcome.Accepted
	}
	return outcome.Fails(a, v)
}

// byCaller returns the end of a sentence about a response: "for an unknown token", "without credentials".
func byCaller(caller string) string {
	with, hasCredentials := strings.CutPrefix(caller, "a caller with ")
	without, hasNone := strings.CutPrefix(caller, "a caller without ")
	switch {
	case hasCredentials:
		return "for " + with
	case hasNone:
		return "without " + without
	}
	return "to " + caller
}

// RefusalHasDetail judges that a refusal has one of the details of the authentication handler (section 5). Clients read
// the string detail of a JSON object. A refusal without such a string passes if it contains the detail elsewhere.
func RefusalHasDetail(a *exchange.Response, details []string) error {
	contains := func(detail string) bool { return messages.ContainsText(a, detail) }
	if !slices.ContainsFunc(details, contains) {
		return outcome.Fails(a, outcome.Violation{
			Kind:     outcome.WrongDetail,
			Summary:  fmt.Sprintf("A %d lacks the detail %s", a.Status, safe.Ellipsis(oneOf(details), 50)),
			Expected: "detail " + oneOf(details),
		})
	}
	found := a.Get("detail")
	if found.Type != gjson.String || slices.Contains(details, found.Str) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind: outcome.WrongDetail,
		Summary: fmt.Sprintf("A %d has the detail %s instead of %s", a.Status, safe.Ellipsis(found.Raw, 26),
			safe.Ellipsis(oneOf(details), 26)),
		Expected: "detail " + oneOf(details),
		Actual:   outcome.Shown(found),
		Pointer:  "/detail",
	})
}

func oneOf[T any](values []T) string {
	var all []string
	for _, value := range values {
		all = append(all, fmt.Sprintf("%#v", value))
	}
	return strings.Join(all, " or ")
}

// User is a configured user: the name, and the known fields with their values.
type User struct {
	Name  string
	Known map[string]any
}

// Report is the answer of a run that reports its caller.
type Report struct {
	State *exchange.Response // state after the run
	Said  string             // the answer
	Of    User               // user who started the run
	Other User               // another user
}

// ReportsFields judges that a run reports fields of its caller. others are the identities of other users. If the run
// reports one of them, the violation is a leak, because the server gave the run another user.
func ReportsFields(r Report, fields map[string]any, others ...string) error {
	hint, kind := reportHint, outcome.WrongValue
	isReported := func(identity string) bool { return messages.ReportsField(r.Said, "identity", identity) }
	if slices.ContainsFunc(others, isReported) {
		hint, kind = callerHint, outcome.Leak
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		value := fields[field]
		if messages.ReportsField(r.Said, field, value) {
			continue
		}
		actual := "an answer without " + field + ": " + r.Said
		if other := messages.ReportedField(r.Said, field); other != "" {
			actual = fmt.Sprintf("%s %s", field, other)
		}
		return outcome.Fails(r.State, outcome.Violation{
			Kind:     kind,
			Class:    field,
			Summary:  fmt.Sprintf("A run does not report the %s of the user who started it", field),
			Expected: fmt.Sprintf("%s %s", field, messages.InJSON(value)),
			Actual:   actual,
			Pointer:  atMessages,
			Hint:     hint,
		})
	}
	return nil
}

// unlikely is the length in bytes from which a text is unlikely to equal another user's text by chance.
const unlikely = 12

// distinguishing returns the fields of the other user that differ from the user's own. They show whose report it is.
func distinguishing(own, other User) (fields []string) {
	for _, field := range slices.Sorted(maps.Keys(other.Known)) {
		value := other.Known[field]
		text, isText := value.(string)
		byChance := field != "identity" && (!isText || len(text) < unlikely) // other users may have the same value
		isSame := value == nil || reflect.DeepEqual(own.Known[field], value)
		if isSame || own.Known[field] == nil && byChance {
			continue
		}
		fields = append(fields, field)
	}
	return fields
}

// UsersDiffer reports whether a known field of the two users differs.
func UsersDiffer(a, b User) bool {
	return len(distinguishing(a, b)) > 0 || len(distinguishing(b, a)) > 0
}

// ReportOwnCallers judges that no run reports a known value of the other user. It blocks if no run reports its own
// caller, because AS-AUTH-6 judges that.
func ReportOwnCallers(runs ...Report) error {
	reported := false
	for _, r := range runs {
		own, other := r.Of.Known, r.Other.Known
		for _, field := range distinguishing(r.Of, r.Other) {
			value := other[field]
			if own[field] != nil && messages.ReportsField(r.Said, field, own[field]) {
				reported = reported || field == "identity" || own["identity"] == nil || own["identity"] == other["identity"]
				continue
			}
			_, isText := value.(string)
			if !isText && !messages.DescribesUser(r.Said) {
				continue // any text may contain a number by chance
			}
			if messages.ReportsField(r.Said, field, value) {
				expected := "identity and fields of " + r.Of.Name
				if own[field] != nil {
					expected = fmt.Sprintf("%s %s of %s", field, messages.InJSON(own[field]), r.Of.Name)
				}
				return outcome.Fails(r.State, outcome.Violation{
					Kind:     outcome.Leak,
					Class:    field,
					Summary:  fmt.Sprintf("A run reports the %s of another user", field),
					Expected: expected,
					Actual:   fmt.Sprintf("%s %s of %s", field, messages.InJSON(value), r.Other.Name),
					Pointer:  atMessages,
					Hint:     callerHint,
				})
			}
		}
	}
	if !reported {
		return outcome.Blocked("the runs do not report their caller (AS-AUTH-6): %q", runs[0].Said).
			ByRequirement("AS-AUTH-6")
	}
	return nil
}

// ReportsNoOwner judges that the run of a studio user does not report the owner of the thread, who is r.Other.
func ReportsNoOwner(r Report) error {
	if r.Said == "" {
		return outcome.Inconclusive("the run of the studio user has no answer")
	}
	if !messages.ReportsField(r.Said, "identity", r.Other.Known["identity"]) {
		return nil
	}
	return outcome.Fails(r.State, outcome.Violation{
		Kind:     outcome.WrongValue,
		Class:    "studio user",
		Summary:  "The run of a studio user reports the owner of the thread",
		Expected: "the studio user, who started the run",
		Actual:   "identity " + messages.InJSON(r.Other.Known["identity"]) + " of " + r.Other.Name,
		Pointer:  atMessages,
		Hint:     callerHint,
	})
}

// Disguised is the response to a request that a server may attribute to another caller.
type Disguised struct {
	Response *exchange.Response
	Plain    *exchange.Response // the response to the same request without the disguise
	Owner    string             // the requirement that fails if the plain request is served too
}

// DisguisesShowNothing judges that no disguised request shows the run of a thread. If the plain request shows it too, the
// judgement blocks.
func DisguisesShowNothing(all []Disguised, thread string, r Run) error {
	for _, d := range all {
		if !shows(d.Response, thread, r) {
			continue
		}
		if shows(d.Plain, thread, r) {
			return outcome.AsPrecondition(leaksRun(d.Plain, "").ByRequirement(d.Owner))
		}
		return leaksRun(d.Response, "")
	}
	return nil
}

// shows reports whether a response shows the thread or its run: an id in a field that the interface defines, or the text
// of the run. An id elsewhere may only repeat the path of the request.
func shows(a *exchange.Response, thread string, r Run) bool {
	if !a.OK() {
		return false
	}
	for _, row := range append(a.Get("@this").Array(), a.Get("@this")) {
		if exchange.SameID(row.Get("thread_id").String(), thread) {
			return true
		}
	}
	return messages.ContainsText(a, r.Text()) || exchange.SameID(a.Get("run_id").String(), r.ID)
}
