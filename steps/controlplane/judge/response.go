package judge

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// IsServed judges that a request returned status 2xx.
func IsServed(a *exchange.Response) error {
	if a.OK() {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{Kind: unserved(a), Summary: returns(a), Expected: "2xx", Check: outcome.Statuses("2XX")})
}

// ServesOrRefuses judges that a request returned status 2xx or 4xx. expected describes both.
func ServesOrRefuses(a *exchange.Response, expected string) error {
	if a.OK() || a.IsRefused() {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{Kind: unserved(a), Summary: returns(a), Expected: expected,
		Check: outcome.Statuses("2XX", "4XX")})
}

// HasID judges that a response shows an id as a string at a path of its body (GJSON syntax).
func HasID(a *exchange.Response, path, want string) error {
	expected := fmt.Sprintf("%s %q", nameAt(path), want)
	got := a.Get(path)
	if !got.Exists() && !a.OK() {
		return outcome.Fails(a, outcome.Violation{Kind: unserved(a), Summary: returns(a), Expected: expected,
			Check: &reports.Check{Statuses: []string{"2XX"}, Contains: []string{want}}})
	}
	if got.Type == gjson.String && exchange.SameID(got.Str, want) {
		return nil
	}
	return showsOther(a, path, expected, &reports.Check{Statuses: []string{"2XX"}, Requires: []string{want}, IDs: true})
}

// showsOther returns the violation by a value that is absent or wrong. The check may be nil. A script searches the body
// for texts, so it cannot use the check if the wrong body contains the expected texts elsewhere.
func showsOther(a *exchange.Response, path, expected string, check *reports.Check) error {
	v := outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  showing(objectOf(a.Request), nameAt(path), a.Get(path), expected),
		Expected: expected,
	}
	if check != nil && !containsID(string(a.Body), check.Requires[0]) {
		v.Check = check
	}
	if !a.Get(path).Exists() {
		v.Kind = outcome.Missing
		v.Summary = objectOf(a.Request) + " has no " + nameAt(path)
	}
	return fieldFails(a, path, v)
}

// showing returns the title of a violation by a wrong value of a field: `The revision shows source "a" instead of "b"`.
// expected may begin with the name of the field.
func showing(subject, field string, value gjson.Result, expected string) string {
	const longest = 14 // in characters
	short := func(text string) string { return safe.Ellipsis(safe.ShortIDs(text), longest) }
	return fmt.Sprintf("%s shows %s %s instead of %s", subject, field, short(value.Raw), short(strings.TrimPrefix(expected, field+" ")))
}

// fieldFails returns a violation by the value at a path of a body (a GJSON path of plain names).
func fieldFails(a *exchange.Response, path string, v outcome.Violation) error {
	v.Actual = outcome.Shown(a.Get(path))
	v.Pointer = pointerTo(path)
	return outcome.Fails(a, v)
}

// pointerTo returns a GJSON path of plain names as a JSON pointer.
func pointerTo(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }

// nameAt returns the last name of a GJSON path.
func nameAt(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// unserved returns the kind of a violation by a response that must have status 2xx.
func unserved(a *exchange.Response) outcome.Kind {
	switch {
	case a.Status >= http.StatusInternalServerError:
		return outcome.ServerError
	case a.IsRefused():
		return outcome.Refused
	}
	return outcome.WrongStatus
}

// unrefused returns the kind of a violation by a response that is not the required refusal.
func unrefused(a *exchange.Response) outcome.Kind {
	switch {
	case a.OK():
		return outcome.Accepted
	case a.Status >= http.StatusInternalServerError:
		return outcome.ServerError
	}
	return outcome.WrongStatus
}

// returns describes the status of a response: `An update with repo_ref "main" returns 500`.
func returns(a *exchange.Response) string {
	return fmt.Sprintf("%s%s returns %d", nameOf(a.Request), withSource(a.Request), a.Status)
}

// withSource names the ref or the image of a create request, and everything that an update changes. It returns "" for
// other requests.
func withSource(r exchange.Request) string {
	const longest = 48 // in characters
	var all []string
	var add func(members gjson.Result)
	add = func(members gjson.Result) {
		members.ForEach(func(name, value gjson.Result) bool {
			isSource := name.Str == "repo_ref" || name.Str == "image_uri"
			switch {
			case value.IsObject():
				add(value)
			case isSource || r.Method == http.MethodPatch:
				all = append(all, name.Str+" "+value.Raw)
			}
			return true
		})
	}
	add(gjson.ParseBytes(r.Body))
	if len(all) == 0 {
		return ""
	}
	return " with " + safe.Ellipsis(strings.Join(all, ", "), longest)
}

// acceptedOrReturns describes a response that must be a refusal. request is the subject.
func acceptedOrReturns(a *exchange.Response, request string) string {
	if a.OK() {
		return request + " is accepted"
	}
	return fmt.Sprintf("%s returns %d", request, a.Status)
}

// nameOf returns a name of a request for the beginning of a title.
func nameOf(r exchange.Request) string {
	switch {
	case r.Method == http.MethodPost:
		return "A create request"
	case r.Method == http.MethodPatch:
		return "An update"
	case strings.HasSuffix(r.Path, "/revisions") && r.Query != "" && len(r.Query) <= longest:
		query, err := url.QueryUnescape(r.Query)
		if err != nil {
			query = r.Query
		}
		return "The list with " + query
	case strings.HasSuffix(r.Path, "/revisions"):
		return "The list of revisions"
	case strings.Contains(r.Path, "/revisions/"):
		return "GET of the revision"
	}
	return "GET of the deployment"
}

// unknownName is nameOf for a request with an unknown id. what describes the request if there are several ("the nil
// UUID"). Otherwise it is empty.
func unknownName(r exchange.Request, what string) string {
	name := nameWith(r, "an unknown")
	if what != "" {
		name += " (" + what + ")"
	}
	return name
}

// nameWith is nameOf with words before the deployment or the revision: "an unknown", "another tenant's".
func nameWith(r exchange.Request, words string) string {
	switch {
	case r.Method == http.MethodPatch:
		return "An update of " + words + " deployment"
	case strings.HasSuffix(r.Path, "/revisions"):
		return "The list of " + words + " deployment"
	case strings.Contains(r.Path, "/revisions/"):
		return "GET of " + words + " revision"
	}
	return "GET of " + words + " deployment"
}

// objectOf names the object in a response for the beginning of a title.
func objectOf(r exchange.Request) string {
	switch {
	case r.Method == http.MethodPost:
		return "The response to a create request"
	case r.Method == http.MethodPatch:
		return "The response to an update"
	case strings.Contains(r.Path, "/revisions/"):
		return "The revision"
	}
	return "The deployment"
}

// compared returns the exchanges of two responses that a violation compares. Either may be nil.
func compared(shown, with *exchange.Response) outcome.Comparison {
	if shown == nil || with == nil {
		return outcome.Comparison{}
	}
	return outcome.Comparison{Shown: shown.ID, With: with.ID}
}

// Instant returns the time of a date-time with any offset and precision, and reports whether the value is a valid one.
func Instant(v gjson.Result) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v.String())) // RFC 3339 allows a small t and z
	return t, err == nil
}

// sameInstant compares two date-times with the precision of the less precise one, because a response may show a time
// before the server has stored it.
func sameInstant(a, b gjson.Result) (same, comparable bool) {
	at, isTime := Instant(a)
	bt, isTime2 := Instant(b)
	unit := time.Second
	for range min(digits(a.String()), digits(b.String())) {
		unit = max(unit/10, 1)
	}
	return at.Sub(bt).Abs() < unit, isTime && isTime2
}

// IsBefore reports whether a date-time is before another one, with the precision of the less precise one.
func IsBefore(a, b gjson.Result) bool {
	same, comparable := sameInstant(a, b)
	if same || !comparable {
		return false
	}
	at, _ := Instant(a)
	bt, _ := Instant(b)
	return at.Before(bt)
}

// digits returns the number of digits in the fraction of a second.
func digits(dateTime string) int {
	_, fraction, _ := strings.Cut(dateTime, ".")
	return len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
}

// differ reports whether two responses show different values of a field. Times differ only if both are present.
func differ(field string, a, b gjson.Result) bool {
	switch field {
	case "created_at":
		same, comparable := sameInstant(a, b)
		return comparable && !same
	case "id":
		return !exchange.SameID(a.String(), b.String())
	}
	return a.String() != b.String()
}

// containsID reports whether a text contains an id in any case.
func containsID(text, id string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(id))
}
