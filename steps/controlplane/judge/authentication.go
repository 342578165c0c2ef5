package judge

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// RefusesCredentials judges that a request with wrong credentials, or without any, was refused with 401 or 403 (section
// 5). class describes the credentials ("empty").
func RefusesCredentials(a *exchange.Response, class string) error {
	if refusesCredentials(a) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     unrefused(a),
		Class:    class,
		Summary:  acceptedOrReturns(a, withCredentials(a, class)),
		Expected: "401 or 403", Check: outcome.Statuses("401", "403"),
	})
}

// RefusesCredentialsOfEmpty is RefusesCredentials for a create request whose body is the empty object, which the suite
// sends if it cannot create a deployment. A server may check the body before the credentials.
func RefusesCredentialsOfEmpty(a *exchange.Response, class string) error {
	if a.IsRefused() && !refusesCredentials(a) {
		return outcome.NotConfigured("create.body", "the empty object was refused with status %d before the credentials "+
			"were checked: set create.body", a.Status)
	}
	return RefusesCredentials(a, class)
}

func refusesCredentials(a *exchange.Response) bool {
	return a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
}

// withCredentials names a request with credentials for the beginning of a title.
func withCredentials(a *exchange.Response, class string) string {
	if class == "" {
		return nameOf(a.Request) + " without credentials"
	}
	return nameOf(a.Request) + " with wrong credentials (" + class + ")"
}

// OpensWithScheme judges that a request with the credential of one scheme was served (section 5). all is the response to
// the same request with all credentials, or nil if it was not sent. If that request was not served either, the scheme is
// not the cause.
func OpensWithScheme(a, all *exchange.Response) error {
	if a.OK() {
		return nil
	}
	if all != nil && !all.OK() {
		return outcome.Inconclusive("the request fails with all configured credentials too: %s", outcome.Seen(all))
	}
	return outcome.Fails(a, outcome.Violation{Kind: unserved(a), Expected: "2xx", Check: outcome.Statuses("2XX"),
		Summary: returns(a) + " with the credential of " + cmp.Or(a.Request.Caller.Name, "one scheme") + " only"})
}

// IsAsForUnknown judges that a response equals the response for an unknown deployment to the same caller. revision is the
// id of a revision of the deployment.
func IsAsForUnknown(a, unknown *exchange.Response, revision string) error {
	v := outcome.Violation{
		Expected: fmt.Sprintf("%d, as for an unknown deployment", unknown.Status),
		Actual:   outcome.Got(a),
		Compared: compared(a, unknown),
	}
	if a.Status != unknown.Status {
		v.Check = outcome.Statuses(strconv.Itoa(unknown.Status))
	}
	switch {
	case a.OK() && containsID(string(a.Body), revision):
		v.Kind = outcome.Leak
		v.Summary = nameWith(a.Request, "another tenant's") + " shows it"
		v.Expected = fmt.Sprintf("%d without the deployment, as for an unknown one", unknown.Status)
	case a.Status != unknown.Status:
		v.Kind = outcome.WrongStatus
		v.Summary = fmt.Sprintf("%s returns %d instead of %d", nameWith(a.Request, "another tenant's"), a.Status, unknown.Status)
	default:
		return nil
	}
	return outcome.Fails(a, v)
}

// HidesName judges that a response does not contain the name of a deployment that the caller must not see. The requests
// do not contain the name, so it cannot be an echo. name is "" if the deployment has none.
func HidesName(a *exchange.Response, name string) error {
	if name == "" || !strings.Contains(string(a.Body), name) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.Leak,
		Summary:  nameOf(a.Request) + " shows the name of another tenant's deployment",
		Expected: "a response without the name of the deployment",
		Actual:   outcome.Got(a),
	})
}

// HidesDeployment judges that a list of deployments does not contain the deployment of another tenant.
func HidesDeployment(list *exchange.Response, id string) error {
	if !list.OK() {
		return nil
	}
	for i, row := range list.Get("resources").Array() {
		if exchange.SameID(row.Get("id").String(), id) {
			return outcome.Fails(list, outcome.Violation{
				Kind:     outcome.Leak,
				Summary:  "GET /v2/deployments shows the deployment of another tenant",
				Expected: "the deployments of the caller, or a refusal",
				Actual:   "the list contains deployment " + id,
				Pointer:  pointerTo("resources." + strconv.Itoa(i) + ".id"),
			})
		}
	}
	return nil
}

// ShowNothing judges that no response without credentials shows a deployment. It looks only for members that these
// responses have, because other responses may repeat the path of the request.
func ShowNothing(responses []*exchange.Response) error {
	for _, a := range responses {
		for _, member := range []string{"latest_revision_id", "source_revision_config", "resources.0"} {
			if a.OK() && a.Get(member).Exists() {
				return outcome.Fails(a, outcome.Violation{
					Kind:     outcome.Leak,
					Summary:  a.Request.Name() + a.Request.WithHeaders() + " shows the deployment without credentials",
					Expected: "401 or 403, or nothing of the deployment",
					Actual:   outcome.Got(a),
					Pointer:  pointerTo(member),
				})
			}
		}
	}
	return nil
}
