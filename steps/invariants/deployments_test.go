package invariants

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/target"
)

// TestValuesThatADeploymentNeverHad judges histories that end with the read to judge, or with a list after it, one second
// after the previous exchange.
func TestValuesThatADeploymentNeverHad(t *testing.T) {
	const (
		latest = `no deployment names a revision of another deployment, or one that it never had`
		source = `all GETs of a deployment and its revisions show the same source`
		only   = `each deployment has only its first revision until its first update`
	)
	deployed := func(h *history, id, revision string) {
		h.plane(target.TheClient, "POST", "/v2/deployments", `{}`, 201, `{"id":"`+id+`","latest_revision_id":"`+revision+`","source":"git_host"}`)
	}
	names := func(h *history, id, revision string) {
		h.plane(target.TheClient, "GET", "/v2/deployments/"+id, "", 200, `{"id":"`+id+`","latest_revision_id":"`+revision+`"}`)
	}
	shows := func(h *history, source string) {
		h.plane(target.TheClient, "GET", "/v2/deployments/"+one, "", 200, `{"id":"`+one+`","source":`+source+`}`)
	}
	lists := func(h *history, who target.Sender, query string) {
		h.plane(who, "GET", "/v2/deployments/"+one+"/revisions"+query, "", 200, `{"resources":[{"id":"`+two+`"}],"offset":1}`)
	}
	listsBoth := func(h *history, other string) {
		h.plane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions", "", 200,
			`{"resources":[{"id":"`+other+`"},{"id":"`+two+`"}],"offset":2}`)
	}
	for _, row := range []struct {
		name, step string
		history    func(h *history)
		fails      bool
	}{
		{"a deployment names its revision", latest, func(h *history) {
			deployed(h, one, two)
			names(h, one, two)
			lists(h, target.TheClient, "")
		}, false},
		{"a deployment names a revision that an update may have created", latest, func(h *history) {
			deployed(h, one, two)
			names(h, one, "three")
		}, false},
		{"a deployment names the revision of another one", latest, func(h *history) {
			deployed(h, one, two)
			deployed(h, "four", "five")
			names(h, one, "five")
		}, true},
		{"a deployment names a revision that a later list lacks", latest, func(h *history) {
			deployed(h, one, two)
			names(h, one, "three")
			lists(h, target.TheClient, "")
		}, true},
		{"an earlier list lacks the revision", latest, func(h *history) {
			deployed(h, one, two)
			lists(h, target.TheClient, "")
			names(h, one, "three")
		}, false},
		{"a list within patience lacks the revision", latest, func(h *history) {
			h.target.Config.Patience = 2 * time.Second
			deployed(h, one, two)
			names(h, one, "three")
			lists(h, target.TheClient, "")
		}, false},
		{"a full page lacks the revision", latest, func(h *history) {
			deployed(h, one, two)
			names(h, one, "three")
			lists(h, target.TheClient, "?limit=1")
		}, false},
		{"a filtered list lacks the revision", latest, func(h *history) {
			deployed(h, one, two)
			names(h, one, "three")
			lists(h, target.TheClient, "?status=DEPLOYED")
		}, false},
		{"the list of another caller lacks the revision", latest, func(h *history) {
			deployed(h, one, two)
			names(h, one, "three")
			lists(h, target.Nobody, "")
		}, false},

		{"a new deployment has one revision", only, func(h *history) {
			deployed(h, one, two)
			lists(h, target.TheClient, "")
		}, false},
		{"a new deployment has two revisions", only, func(h *history) {
			deployed(h, one, two)
			listsBoth(h, three)
			h.patches(`{}`, 200, `{}`)
		}, true},
		{"an update may have created the second one", only, func(h *history) {
			deployed(h, one, two)
			lists(h, target.TheClient, "")
			h.patches(`{}`, 401, `{}`)
			listsBoth(h, three)
		}, false},
		{"the second one belongs to another deployment", only, func(h *history) {
			deployed(h, one, two)
			deployed(h, "four", three)
			listsBoth(h, three)
		}, false},

		{"a deployment shows its source", source, func(h *history) {
			deployed(h, one, two)
			shows(h, `"git_host"`)
		}, false},
		{"a deployment does not show its source", source, func(h *history) {
			deployed(h, one, two)
			shows(h, `"git_host"`)
			shows(h, `null`)
		}, false},
		{"a deployment shows another source", source, func(h *history) {
			deployed(h, one, two)
			shows(h, `"external_container"`)
		}, true},
		{"a revision shows another source", source, func(h *history) {
			deployed(h, one, two)
			h.plane(target.TheClient, "GET", "/v2/deployments/"+one+"/revisions/"+two, "", 200, `{"id":"`+two+`","source":"external_container"}`)
		}, true},
		{"another deployment has another source", source, func(h *history) {
			deployed(h, "four", "five")
			shows(h, `"external_container"`)
			shows(h, `"external_container"`)
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			row.history(h)
			_, o := h.judged(row.step)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}
