package controlplane_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/stretchr/testify/require"
)

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
