package controlplane_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/stretchr/testify/require"
)

// updatesBeyondTheDocument are the updates that the document does not allow and the server accepts, with the reason.
var updatesBeyondTheDocument = map[string]string{
	"read-only fields": "read-only fields are ignored, as JSON Schema allows; kin-openapi refuses them",
}

func TestAnUpdateCreatesARevisionExactlyWhenAskedTo(t *testing.T) {
	for _, c := range []struct {
		name, create, body string
		revisions          int
		ref, path, image   string
	}{
		{"repo_ref", gitBody, patch(`{"repo_ref":"next"}`), 2, `"next"`, `"agent.json"`, `null`},
		{"the same repo_ref", gitBody, patch(`{"repo_ref":"main"}`), 2, `"main"`, `"agent.json"`, `null`},
		{"graph_config_path", gitBody, patch(`{"graph_config_path":"b.json"}`), 2, `"main"`, `"b.json"`, `null`},
		{"both", gitBody, patch(`{"repo_ref":"next","graph_config_path":"b.json"}`), 2, `"next"`, `"b.json"`, `null`},
		{"image_uri", imageBody, patch(`{"image_uri":"i:2"}`), 2, `null`, `null`, `"i:2"`},
		{"with null beside", gitBody, patch(`{"repo_ref":"next","graph_config_path":null,"image_uri":null}`), 2, `"next"`, `"agent.json"`, `null`},
		{"nothing", gitBody, `{}`, 1, `"main"`, `"agent.json"`, `null`},
		{"all null", gitBody, patch(`{"repo_ref":null,"graph_config_path":null,"image_uri":null}`), 1, `"main"`, `"agent.json"`, `null`},
		{"null config", gitBody, patch(`null`), 1, `"main"`, `"agent.json"`, `null`},
		{"empty config", gitBody, patch(`{}`), 1, `"main"`, `"agent.json"`, `null`},
		{"build_on_push alone", gitBody, `{"source_config":{"build_on_push":true}}`, 1, `"main"`, `"agent.json"`, `null`},
		{"name alone", gitBody, `{"name":"e"}`, 1, `"main"`, `"agent.json"`, `null`},
		{"read-only fields", gitBody, `{"id":"` + unknownID + `","latest_revision_id":"` + unknownID + `","created_at":"2000-01-01T00:00:00Z","source_revision_config":{"repo_commit_sha":"abc"}}`, 1, `"main"`, `"agent.json"`, `null`},
		{"the same source", gitBody, `{"source":"git_host"}`, 1, `"main"`, `"agent.json"`, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			edition := controlplane.Cloud
			if c.create == imageBody {
				edition = controlplane.SelfHosted
			}
			r := newRig(t, edition)
			id, first := r.create(c.create)
			before := r.want(200, "GET", "/v2/deployments/"+id+"/revisions/"+first, "")
			d := r.wantBeyond(updatesBeyondTheDocument[c.name], http.StatusOK, "PATCH", "/v2/deployments/"+id, c.body)
			require.Equal(t, d.Raw, r.want(200, "GET", "/v2/deployments/"+id, "").Raw)
			require.Equal(t, id, d.Get("id").String())
			require.Equal(t, c.revisions, r.count(id))
			require.Len(t, r.submitted, c.revisions)
			require.Equal(t, d.Get("latest_revision_id").String(), r.revisions(id, "limit=1").Get("resources.0.id").String())
			require.Equal(t, c.revisions == 1, d.Get("latest_revision_id").String() == first)
			require.Equal(t, c.ref, d.Get("source_revision_config.repo_ref").Raw)
			require.Equal(t, c.path, d.Get("source_revision_config.graph_config_path").Raw)
			require.Equal(t, c.image, d.Get("source_revision_config.image_uri").Raw)
			require.Equal(t, `null`, d.Get("source_revision_config.repo_commit_sha").Raw)
			require.NotContains(t, d.Get("created_at").String(), "2000-01-01")
			require.Greater(t, d.Get("updated_at").String(), d.Get("created_at").String())
			require.Equal(t, before.Raw, r.want(200, "GET", "/v2/deployments/"+id+"/revisions/"+first, "").Raw, "a revision's own")
		})
	}
}

func TestAnUpdateThatIsRefusedChangesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"another source":   {`{"source":"internal_container","source_revision_config":{"repo_ref":"next"}}`, 400},
		"no source":        {`{"source":"elsewhere"}`, 422},
		"wrong type":       {patch(`{"repo_ref":1}`), 422},
		"empty ref":        {patch(`{"repo_ref":""}`), 422},
		"no object":        {`{"source_revision_config":"main"}`, 422},
		"image for git":    {patch(`{"image_uri":"i:2"}`), 422},
		"array":            {`[]`, 422},
		"no JSON":          {`{`, 422},
		"push as a string": {`{"source_config":{"build_on_push":"true"}}`, 422},
		"tag with push":    {`{"source_config":{"build_on_push":true},"source_revision_config":{"repo_ref":"refs/tags/v1"}}`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, controlplane.Cloud)
			id, _ := r.create(gitBody)
			before := r.want(200, "GET", "/v2/deployments/"+id, "")
			r.want(c.status, "PATCH", "/v2/deployments/"+id, c.body)
			require.Equal(t, before.Raw, r.want(200, "GET", "/v2/deployments/"+id, "").Raw)
			require.Equal(t, 1, r.count(id))
			require.Len(t, r.submitted, 1)
		})
	}
}

func TestTheTagRuleHoldsAgainstWhatIsStored(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, _ := r.create(gitBody)
	at := "/v2/deployments/" + id
	r.want(200, "PATCH", at, `{"source_config":{"build_on_push":true}}`)
	r.want(400, "PATCH", at, patch(`{"repo_ref":"refs/tags/v1"}`))
	r.want(200, "PATCH", at, `{"source_config":{"build_on_push":false},"source_revision_config":{"repo_ref":"refs/tags/v1"}}`)
	r.want(400, "PATCH", at, `{"source_config":{"build_on_push":true}}`)
	r.want(400, "PATCH", at, `{"source_config":{"build_on_push":true},"source_revision_config":{"graph_config_path":"b.json"}}`)
	tagged := r.want(200, "GET", at, "")
	require.Equal(t, "false", tagged.Get("source_config.build_on_push").Raw)
	r.want(200, "PATCH", at, `{"source_config":{"build_on_push":true},"source_revision_config":{"repo_ref":"main"}}`)
	r.want(400, "POST", at+"/revisions/"+tagged.Get("latest_revision_id").String()+"/redeploy", "")
	require.Equal(t, 3, r.count(id))
}

func TestSecretsAreReplacedAndKeptByName(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, _ := r.create(gitBody)
	at := "/v2/deployments/" + id
	d := r.want(200, "PATCH", at, `{"secrets":[{"name":"S"},{"name":"T","value":"t"},{"name":"new without value"}]}`)
	require.Equal(t, `[{"name":"S"},{"name":"T"}]`, d.Get("secrets").Raw)
	stored, err := r.store.Deployment(t.Context(), "a", id)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"S": "hunter2", "T": "t"}, stored.Env())
	require.Equal(t, d.Get("secrets").Raw, r.want(200, "PATCH", at, `{"name":"e"}`).Get("secrets").Raw)
	require.Equal(t, `[]`, r.want(200, "PATCH", at, `{"secrets":[]}`).Get("secrets").Raw)
}

func TestRedeployBuildsTheSameAgain(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, first := r.create(gitBody)
	r.want(200, "PATCH", "/v2/deployments/"+id, patch(`{"repo_ref":"next"}`))
	again := r.want(200, "POST", "/v2/deployments/"+id+"/revisions/"+first+"/redeploy", "")
	require.Equal(t, "main", again.Get("source_revision_config.repo_ref").String())
	require.NotEqual(t, first, again.Get("id").String())
	require.Equal(t, again.Get("id").String(), r.want(200, "GET", "/v2/deployments/"+id, "").Get("latest_revision_id").String())
	require.Equal(t, 3, r.count(id))
	require.Len(t, r.submitted, 3)
	r.want(404, "POST", "/v2/deployments/"+id+"/revisions/"+unknownID+"/redeploy", "")
}

func TestADeletedDeploymentIsGoneAtOnce(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, first := r.create(gitBody)
	resp, _ := r.send("DELETE", "/v2/deployments/"+id, "")
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Empty(t, resp.Header.Get("Content-Type"))
	require.Equal(t, []string{id}, r.removed)
	for _, request := range operations(id, first) {
		if strings.Contains(request[1], id) {
			r.want(http.StatusNotFound, request[0], request[1], request[2])
		}
	}
	require.Empty(t, r.want(200, "GET", "/v2/deployments", "").Get("resources").Array())
}
