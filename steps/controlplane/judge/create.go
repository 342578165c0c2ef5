package judge

import (
	common "github.com/agentconform/agentconform/steps/common/judge"

	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// IsCreated judges that a create request returned 200, 201 or 202 (section 4).
func IsCreated(a *exchange.Response) error {
	if slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, a.Status) {
		return nil
	}
	v := outcome.Violation{
		Kind:     unserved(a),
		Summary:  returns(a),
		Expected: "200, 201 or 202", Check: outcome.Statuses("200", "201", "202"),
	}
	if a.IsRefused() {
		v.Hint = "correct create.body if the target is right to refuse it"
	}
	return outcome.Fails(a, v)
}

// uuidForm is the form of a UUID with hyphens.
var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// HasUUIDs judges that id and latest_revision_id of a response are strings with a UUID (section 2).
func HasUUIDs(a *exchange.Response) error {
	for _, field := range []string{"id", "latest_revision_id"} {
		value := a.Get(field)
		if value.Type == gjson.String && uuidForm.MatchString(value.Str) {
			continue
		}
		v := outcome.Violation{
			Kind:     outcome.WrongForm,
			Summary:  a.Request.Name() + " returns no UUID as " + field,
			Expected: "a UUID as " + field,
		}
		if !value.Exists() {
			v.Kind = outcome.Missing
			v.Summary = a.Request.Name() + " returns no " + field
		}
		return fieldFails(a, field, v)
	}
	return nil
}

// RefusesInvalid judges that an invalid request was refused: with 422 and an HTTPValidationError, or with another 4xx.
// The interface shows only the 422, but some deployed servers refuse semantic mistakes with other statuses. class is the
// kind of the mistake ("wrong type").
func RefusesInvalid(a *exchange.Response, class string) error {
	if !a.IsRefused() {
		return outcome.Fails(a, outcome.Violation{
			Kind:     unrefused(a),
			Class:    class,
			Summary:  acceptedOrReturns(a, invalidName(a, class)),
			Expected: "4xx", Check: outcome.Statuses("4XX"),
		})
	}
	if a.Status != http.StatusUnprocessableEntity {
		return nil
	}
	return common.ValidationError(a)
}

// invalidName names an invalid request for the beginning of a title.
func invalidName(a *exchange.Response, class string) string {
	if class == "" {
		return nameOf(a.Request)
	}
	return nameOf(a.Request) + " (" + class + ")"
}

// CreatesNothing judges that a create request that must be refused has created no deployment. found has the ids of the
// deployments with its name or id. If the server listed deployments before and no longer does, the judgement is
// inconclusive.
func CreatesNothing(a *exchange.Response, found []string, listedBefore, listsNow bool) error {
	if len(found) > 0 {
		return outcome.Fails(a, outcome.Violation{
			Kind:     outcome.Changed,
			Summary:  "An invalid create request creates a deployment",
			Expected: "no new deployment",
			Actual:   "deployment " + strings.Join(found, ", "),
		})
	}
	if listedBefore && !listsNow {
		return outcome.Inconclusive("the list of deployments no longer returns 2xx")
	}
	return nil
}

// IgnoresReadOnly judges that no response with a deployment shows a read-only value from the request (section 2). sent is
// the JSON body of the request. Another requirement judges values of revisions.
func IgnoresReadOnly(sent []byte, responses ...*exchange.Response) error {
	for _, a := range responses {
		for _, path := range []string{"id", "latest_revision_id", "created_at", "updated_at", "status"} {
			got := a.Get(path)
			if !exchange.SameID(got.String(), gjson.GetBytes(sent, path).Str) {
				continue
			}
			name := nameAt(path)
			return outcome.Fails(a, outcome.Violation{
				Kind:     outcome.WrongValue,
				Summary:  objectOf(a.Request) + " takes its " + name + " from the request",
				Expected: name + " set by the server",
				Actual:   outcome.Shown(got) + ", which the request sent",
				Pointer:  pointerTo(path),
			})
		}
	}
	return nil
}

// TagDeployment is a deployment after a request with a tag.
type TagDeployment struct {
	Act     *exchange.Response // to the request
	Now     *exchange.Response // the deployment after the request
	Tag     string             // the ref in the request, under refs/tags/
	Sent    bool               // whether build_on_push was sent, or may have been, so that the server must show it
	WasTrue bool               // whether the deployment has shown build_on_push true; if it has, an absent field now counts as false
}

// NeverBuildsTagOnPush judges that a deployment does not show a tag together with build_on_push true (section 2).
func NeverBuildsTagOnPush(d TagDeployment) error {
	if !d.Now.OK() {
		return outcome.Inconclusive("the deployment cannot be retrieved: %s", outcome.Seen(d.Now))
	}
	ref, push := d.Now.Get("source_revision_config.repo_ref"), d.Now.Get("source_config.build_on_push")
	isTag := ref.String() == d.Tag || ref.String() == strings.TrimPrefix(d.Tag, "refs/tags/")
	if isTag && push.Type == gjson.True {
		return outcome.Fails(d.Now, outcome.Violation{
			Kind:     outcome.WrongValue,
			Summary:  "The deployment has build_on_push true with a tag",
			Expected: "build_on_push false, because repo_ref is a tag",
			Actual:   "build_on_push true, with repo_ref " + outcome.Shown(ref),
			Pointer:  "/source_config/build_on_push",
		})
	}
	if d.Act.OK() && (!ref.Exists() || !push.Exists() && d.Sent && !d.WasTrue) {
		return outcome.Inconclusive("the deployment lacks repo_ref or build_on_push: %s", outcome.Seen(d.Now))
	}
	return nil
}
