package controlplane_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/store"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

func TestSecretsAreReplacedAndNotShown(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, _ := r.create(gitBody)
	at := "/v2/deployments/" + id
	d := r.want(200, "PATCH", at, `{"secrets":[{"name":"T","value":"t"},{"name":"S","value":"s"}]}`)
	require.Equal(t, `[{"name":"S"},{"name":"T"}]`, d.Get("secrets").Raw)
	require.NoError(t, r.opts.Store.View(func(tx *bbolt.Tx) error {
		stored, err := store.Get[controlplane.Deployment](tx.Bucket([]byte("deployments")), id, errors.New("not kept"))
		require.Equal(t, map[string]string{"S": "s", "T": "t"}, stored.Env)
		return err
	}))
	require.Equal(t, d.Get("secrets").Raw, r.want(200, "PATCH", at, `{"name":"e"}`).Get("secrets").Raw)
	require.Equal(t, `[]`, r.want(200, "PATCH", at, `{"secrets":[]}`).Get("secrets").Raw)
}

func TestADeletedDeploymentIsGoneAtOnce(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, first := r.create(gitBody)
	resp, _ := r.send("DELETE", "/v2/deployments/"+id, "")
	require.Equal(t, http.StatusNoContent, resp.StatusCode)
	require.Empty(t, resp.Header.Get("Content-Type"))
	for _, request := range operations(id, first) {
		if strings.Contains(request[1], id) {
			r.want(http.StatusNotFound, request[0], request[1], request[2])
		}
	}
	require.Empty(t, r.want(200, "GET", "/v2/deployments", "").Get("resources").Array())
}
