package controlplane_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/store"
)

func TestSecretsAreReplacedAndNotShown(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	d := r.want(http.StatusCreated, "POST", "/v2/deployments", gitBody)
	require.NotContains(t, d.Raw, "hunter2")
	require.Equal(t, `[{"name":"S"}]`, d.Get("secrets").Raw)
	require.Equal(t, "12345678901234567890", d.Get("source_config.integration_id").Raw, "numbers stay as they are")
	id := d.Get("id").String()
	at := "/v2/deployments/" + id
	require.Equal(t, d.Raw, r.want(200, "GET", at, "").Raw)
	for body, shown := range map[string]string{
		`{"secrets":[{"name":"T","value":"t"},{"name":"S","value":"s"}]}`: `[{"name":"S"},{"name":"T"}]`,
		`{"secrets":[]}`: `[]`,
	} {
		require.Equal(t, shown, r.want(200, "PATCH", at, body).Get("secrets").Raw)
		require.Equal(t, shown, r.want(200, "PATCH", at, `{"name":"e"}`).Get("secrets").Raw)
	}
	r.want(200, "PATCH", at, `{"secrets":[{"name":"T","value":"t"}]}`)
	require.NoError(t, r.opts.Store.View(func(tx *bbolt.Tx) error {
		stored, err := store.Get[controlplane.Deployment](tx.Bucket([]byte("deployments")), id, errors.New("not kept"))
		require.Equal(t, map[string]string{"T": "t"}, stored.Env)
		return err
	}))
}

func TestInvalidBodies(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	for body, want := range map[string][]string{
		`[]`: {"body"}, `{`: {"body"}, ``: {"body"},
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000): {"body"},
		`{}`: {"body.name", "body.source"},
		`{"name":"","source":"x","source_config":5,"secrets":[{"value":"hunter2"},7]}`: {
			"body.source_config", "body.name", "body.source", "body.secrets.0.name", "body.secrets.1"},
		`{"name":"d","source":"git_host","source_config":5}`:                           {"body.source_config"},
		`{"name":"d","source":"git_host","source_config":{"build_on_push":"hunter2"}}`: {"body.source_config.build_on_push", "body.source_config.repo_url"},
		`{"name":"d","source":"external_container","source_revision_config":{"repo_ref":"main"}}`: {
			"body.source_revision_config.image_uri", "body.source_revision_config.repo_ref"},
	} {
		refusal := r.want(422, "POST", "/v2/deployments", body)
		require.ElementsMatch(t, want, places(refusal), body)
		require.NotContains(t, refusal.Raw, "hunter2")
	}
}

func TestContentTypes(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	for kind, status := range map[string]int{
		"Application/JSON; Charset=UTF-8": 201, "text/plain": 422, "application/problem+json": 422, "nonsense; ;": 422,
	} {
		r.want(status, "POST", "/v2/deployments", gitBody, "Content-Type: "+kind)
	}
}
