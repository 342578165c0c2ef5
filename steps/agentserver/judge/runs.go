package judge

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/tidwall/gjson"
)

// AcceptsCredentials blocks if a response to the user refuses the credentials (AS-AUTH-5).
func AcceptsCredentials(a *exchange.Response) error {
	if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return outcome.Blocked("valid credentials are refused (AS-AUTH-5): %s", outcome.Seen(a)).ByRequirement("AS-AUTH-5")
	}
	return nil
}

// nameOf returns a name of a request for the beginning of a title.
func nameOf(r exchange.Request) string {
	object := ""
	switch {
	case strings.HasSuffix(r.Path, "/threads/search"), strings.HasSuffix(r.Path, "/threads") && r.Method == http.MethodGet:
		return "The list of threads"
	case strings.HasSuffix(r.Path, "/threads"):
		object = "a thread"
	case strings.HasSuffix(r.Path, "/state"):
		object = "the thread state"
	case strings.HasSuffix(r.Path, "/join"):
		return "The join of a run"
	case strings.HasSuffix(r.Path, "/runs") && gjson.GetBytes(r.Body, "multitask_strategy").Str == "rollback":
		object = "a run with rollback"
	case strings.HasSuffix(r.Path, "/runs"):
		object = "a run"
	case strings.Contains(r.Path, "/runs/"):
		object = "the run"
	default:
		return r.Name()
	}
	return r.Method + " of " + object
}

// notServed returns the kind of the violation by a response that must have status 2xx.
func notServed(a *exchange.Response) outcome.Kind {
	switch {
	case a.Status >= http.StatusInternalServerError:
		return outcome.ServerError
	case a.IsRefused():
		return outcome.Refused
	}
	return outcome.WrongStatus
}

// HoldsID judges that a creation returns 2xx with a non-empty id in the field. The contract judges the JSON type of the
// id.
func HoldsID(a *exchange.Response, field, hint string) error {
	if a.OK() && a.Get(field).String() != "" {
		return nil
	}
	return outcome.Fails(a, noID(a, field, hint))
}

// RunIsAccepted judges the response to the creation of a run. id is the id of the run, or "" if the response has none.
func RunIsAccepted(a *exchange.Response, id string) error {
	if id != "" {
		return nil
	}
	return outcome.Fails(a, noID(a, "run_id", ""))
}

// RunsDiffer judges that two requests start two runs (section 4).
func RunsDiffer(first, second Run) error {
	if !exchange.SameID(first.ID, second.ID) {
		return nil
	}
	return outcome.Fails(second.Created, outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  "POST of a run with the same input as an earlier one returns the earlier run_id",
		Expected: "a new run_id",
		Actual:   "run_id " + second.ID + ", of the earlier run",
		Pointer:  "/run_id",
	})
}

func noID(a *exchange.Response, field, hint string) outcome.Violation {
	v := outcome.Violation{
		Kind:     outcome.Missing,
		Summary:  fmt.Sprintf("%s returns no %s", nameOf(a.Request), field),
		Expected: "2xx, with a " + field,
		Pointer:  "/" + field,
		Hint:     hint,
	}
	if !a.OK() {
		v.Kind = notServed(a)
		v.Pointer = "" // the report then shows the error instead
		v.Check = &reports.Check{Statuses: []string{"2XX"}, Contains: []string{field}}
		v.Summary = fmt.Sprintf("%s returns %d instead of a %s", nameOf(a.Request), a.Status, field)
	}
	return v
}

// RunIsAcceptedInTime judges that the creation of a run returns while the run is in progress. The run is in progress at
// least until end.
func RunIsAcceptedInTime(r Run, end time.Time) error {
	if r.Created.Ended().Before(end) {
		return nil
	}
	return outcome.Fails(r.Created, outcome.Violation{
		Kind:     outcome.NoResponse,
		Summary:  "POST of a run returns only after the run has ended",
		Expected: "a response while the run is in progress",
		Actual:   fmt.Sprintf("a response after %s, for a run of %s", r.Created.Took.Round(time.Millisecond), r.Hold),
	})
}

// IsRun judges that a response to the user has the id of the run.
func IsRun(a *exchange.Response, r Run) error {
	if err := AcceptsCredentials(a); err != nil {
		return err
	}
	id := a.Get("run_id").String()
	if a.OK() && exchange.SameID(id, r.ID) {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  nameOf(a.Request) + " returns another run",
		Expected: "run_id " + r.ID,
		Pointer:  "/run_id",
	}
	switch {
	case !a.OK():
		v.Kind = notServed(a)
		v.Check = &reports.Check{Statuses: []string{"2XX"}, Contains: []string{r.ID}}
		v.Summary = fmt.Sprintf("%s returns %d", nameOf(a.Request), a.Status)
	case id == "":
		v.Kind = outcome.Missing
		v.Summary = nameOf(a.Request) + " returns no run_id"
	}
	return outcome.Fails(a, v).Comparing(a, r.Created)
}

// IsRunOrError judges a GET of a run by another form of its id: it shows that run, or returns an HTTP error status. form
// describes the id ("the id in braces").
func IsRunOrError(a *exchange.Response, form, id string) error {
	shown := a.Get("run_id").String()
	if a.Status >= http.StatusBadRequest || a.OK() && exchange.MeansSame(shown, id) {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.WrongValue,
		Summary:  fmt.Sprintf("%s by %s returns another run", a.Request.Method, form),
		Expected: "400 or above, or run_id " + id,
		Pointer:  "/run_id",
	}
	if shown == "" {
		v.Kind = outcome.Accepted
		v.Summary = fmt.Sprintf("%s by %s returns %d without the run", a.Request.Method, form, a.Status)
	}
	return outcome.Fails(a, v)
}

// IsError judges that a request returns an HTTP error status. The interface does not define which one. class describes
// the mistake of the request if the act sends several requests: "the id of the thread as run id".
func IsError(a *exchange.Response, class string) error {
	if a.Status >= http.StatusBadRequest {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.Accepted,
		Class:    class,
		Summary:  fmt.Sprintf("%s returns %d instead of an error", nameOf(a.Request), a.Status),
		Expected: "400 or above", Check: outcome.Statuses("4XX", "5XX"),
	}
	if class != "" {
		v.Summary = fmt.Sprintf("%s returns %d for %s", nameOf(a.Request), a.Status, class)
	}
	return outcome.Fails(a, v)
}
