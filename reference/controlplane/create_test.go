package controlplane_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/stretchr/testify/require"
)

func TestCreateAnswersWhatWasAskedFor(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	body := strings.Replace(gitBody, `{"name"`, `{"id":"x","status":"DEPLOYED","created_at":1,"unknown":[],"name"`, 1)
	body = strings.Replace(body, `"repo_ref"`, `"repo_commit_sha":"abc","repo_ref"`, 1)
	body = strings.Replace(body, `"repo_url"`, `"custom_url":"http://mine","repo_url"`, 1)
	d := r.wantBeyond("read-only fields are ignored, as JSON Schema allows; kin-openapi refuses them", http.StatusCreated, "POST", "/v2/deployments", body)
	id, revision := d.Get("id").String(), d.Get("latest_revision_id").String()
	require.Equal(t, []string{id}, r.submitted)
	require.NotContains(t, d.Raw, "hunter2")
	for path, want := range map[string]string{
		"name":                            `"d"`,
		"source":                          `"git_host"`,
		"status":                          `"READY"`,
		"active_revision_id":              `null`,
		"secrets":                         `[{"name":"S"}]`,
		"source_config.repo_url":          `"https://example.org/r.git"`,
		"source_config.build_on_push":     `false`,
		"source_config.integration_id":    `12345678901234567890`,
		"source_config.custom_url":        `"http://agents.example/` + id + `"`,
		"source_revision_config.repo_ref": `"main"`,
		"source_revision_config.graph_config_path": `"agent.json"`,
		"source_revision_config.image_uri":         `null`,
		"source_revision_config.repo_commit_sha":   `null`,
	} {
		require.Equal(t, want, d.Get(path).Raw, path)
	}
	require.Equal(t, d.Raw, r.want(200, "GET", "/v2/deployments/"+id, "").Raw)
	require.Equal(t, d.Raw, r.want(200, "GET", "/v2/deployments/"+strings.ToUpper(id), "").Raw, "a uuid in upper case is the same")
	list := r.revisions(id, "")
	require.Equal(t, "1", list.Get("offset").Raw)
	require.Len(t, list.Get("resources").Array(), 1)
	rev := r.want(200, "GET", "/v2/deployments/"+id+"/revisions/"+revision, "")
	require.Equal(t, list.Get("resources.0").Raw, rev.Raw)
	require.Equal(t, `"CREATING"`, rev.Get("status").Raw)
	require.Equal(t, `null`, rev.Get("source_revision_config.repo_commit_sha").Raw)
}

func TestCreateNamesAllThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"nothing":       {``, []string{"body"}},
		"no JSON":       {`{"name":`, []string{"body"}},
		"more":          {gitBody + `{}`, []string{"body"}},
		"no text":       {"{\"name\":\"\xff\"}", []string{"body"}},
		"array":         {`[]`, []string{"body"}},
		"null":          {`null`, []string{"body"}},
		"string":        {`"x"`, []string{"body"}},
		"empty":         {`{}`, []string{"body.name", "body.source"}},
		"unknown":       {`{"name":"d","source":"elsewhere"}`, []string{"body.source"}},
		"wrong case":    {`{"name":"d","source":"GIT_HOST"}`, []string{"body.source"}},
		"null source":   {`{"name":"d","source":null}`, []string{"body.source"}},
		"source number": {`{"name":"d","source":1}`, []string{"body.source"}},
		"empty name":    {`{"name":"","source":"internal_container","source_revision_config":{"image_uri":"i"}}`, []string{"body.name"}},
		"bare git":      {`{"name":"d","source":"git_host"}`, []string{"body.source_config.repo_url"}},
		"bare image":    {`{"name":"d","source":"internal_container"}`, []string{"body.source_revision_config.image_uri"}},
		"no objects": {`{"name":"d","source":"git_host","source_config":1,"source_revision_config":[],"secrets":{}}`,
			[]string{"body.source_config", "body.source_revision_config", "body.secrets"}},
		"wrong types": {`{"name":1,"source":"git_host","source_config":{"repo_url":2,"build_on_push":"yes"},"source_revision_config":{"repo_ref":3,"graph_config_path":{},"image_uri":true}}`,
			[]string{"body.name", "body.source_config.repo_url", "body.source_config.build_on_push", "body.source_revision_config.repo_ref", "body.source_revision_config.graph_config_path", "body.source_revision_config.image_uri"}},
		"empty ref": {strings.Replace(gitBody, `"main"`, `""`, 1), []string{"body.source_revision_config.repo_ref"}},
		"secrets": {strings.Replace(gitBody, `[{"name":"S","value":"hunter2"}]`, `[{"name":"S","value":"hunter2"},{"value":"hunter2"},{"name":1,"value":["hunter2"]},"hunter2"]`, 1),
			[]string{"body.secrets.1.name", "body.secrets.2.name", "body.secrets.2.value", "body.secrets.3"}},
		"field of another source": {strings.Replace(gitBody, `"repo_ref"`, `"image_uri":"i","repo_ref"`, 1), []string{"body.source_revision_config.image_uri"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, controlplane.Cloud)
			answer := r.want(http.StatusUnprocessableEntity, "POST", "/v2/deployments", c.body)
			require.ElementsMatch(t, c.want, places(answer), answer.Raw)
			require.NotContains(t, answer.Raw, "hunter2")
			for _, problem := range answer.Get("detail").Array() {
				require.NotEmpty(t, problem.Get("msg").String())
				require.NotEmpty(t, problem.Get("type").String())
			}
			require.Empty(t, r.submitted)
			require.Empty(t, r.want(200, "GET", "/v2/deployments", "").Get("resources").Array())
		})
	}
}

func TestTheBodysKindAndSizeAreHeld(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	for kind, status := range map[string]int{
		"application/json": 201, "Application/JSON; Charset=UTF-8": 201,
		"text/plain": 422, "application/problem+json": 422, "application/x-www-form-urlencoded": 422, "nonsense; ;": 422,
	} {
		r.want(status, "POST", "/v2/deployments", gitBody, "X-Api-Key: key-a", "Content-Type: "+kind)
	}
	huge := strings.Replace(gitBody, `"d"`, `"`+strings.Repeat("d", 1<<20)+`"`, 1)
	require.NotEmpty(t, r.want(http.StatusRequestEntityTooLarge, "POST", "/v2/deployments", huge).Get("detail").String())
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	r.want(http.StatusUnprocessableEntity, "POST", "/v2/deployments", deep)
}
