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
	d := r.want(http.StatusCreated, "POST", "/v2/deployments", strings.Replace(gitBody, `"repo_url"`, `"custom_url":"http://mine","repo_url"`, 1))
	require.NotContains(t, d.Raw, "hunter2")
	for path, want := range map[string]string{
		"secrets":                      `[{"name":"S"}]`,
		"source_config.integration_id": `12345678901234567890`,
		"source_config.custom_url":     `"http://agents.example/` + d.Get("id").String() + `"`,
	} {
		require.Equal(t, want, d.Get(path).Raw, path)
	}
	require.Equal(t, d.Raw, r.want(200, "GET", "/v2/deployments/"+d.Get("id").String(), "").Raw)
}

func TestEveryProblemOfABodyIsNamedOnce(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	for body, want := range map[string][]string{
		`[]`: {"body"}, `{`: {"body"}, ``: {"body"},
		`{}`: {"body.name", "body.source"},
		`{"name":"","source":"x","source_config":5,"secrets":[{"value":"hunter2"},7]}`: {
			"body.source_config", "body.name", "body.source", "body.secrets.0.name", "body.secrets.1"},
		`{"name":"d","source":"git_host","source_config":5}`:                           {"body.source_config"},
		`{"name":"d","source":"git_host","source_config":{"build_on_push":"hunter2"}}`: {"body.source_config.build_on_push", "body.source_config.repo_url"},
		`{"name":"d","source":"external_container","source_revision_config":{"repo_ref":"main"}}`: {
			"body.source_revision_config.image_uri", "body.source_revision_config.repo_ref"},
	} {
		answer := r.want(422, "POST", "/v2/deployments", body)
		require.ElementsMatch(t, want, places(answer), body)
		require.NotContains(t, answer.Raw, "hunter2")
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
