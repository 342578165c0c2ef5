package controlplane_test

import (
	"net/http"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/stretchr/testify/require"
)

// operations are all operations, with a deployment and a revision to be filled in.
func operations(id, revision string) map[string][3]string {
	at := "/v2/deployments/" + id
	return map[string][3]string{
		"create":    {"POST", "/v2/deployments", gitBody},
		"list":      {"GET", "/v2/deployments", ""},
		"get":       {"GET", at, ""},
		"update":    {"PATCH", at, patch(`{"repo_ref":"x"}`)},
		"delete":    {"DELETE", at, ""},
		"list revs": {"GET", at + "/revisions", ""},
		"get rev":   {"GET", at + "/revisions/" + revision, ""},
		"redeploy":  {"POST", at + "/revisions/" + revision + "/redeploy", ""},
	}
}

func TestEveryOperationIsRefusedWithoutValidCredentials(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, revision := r.create(gitBody)
	r.submitted = nil
	bad := map[string][]string{
		"none":                        {"X-Other: 1"},
		"unknown key":                 {"X-Api-Key: nope"},
		"empty key":                   {"X-Api-Key: "},
		"blank key":                   {"X-Api-Key:    "},
		"prefix of a key":             {"X-Api-Key: key-"},
		"key of another scheme":       {"X-Api-Key: bearer-a"},
		"two keys":                    {"X-Api-Key: key-a", "X-Api-Key: key-a"},
		"unknown tenant":              {"X-Tenant-Id: nope"},
		"empty tenant":                {"X-Tenant-Id: "},
		"unknown bearer":              {"Authorization: Bearer nope"},
		"empty bearer":                {"Authorization: Bearer "},
		"bearer only":                 {"Authorization: Bearer"},
		"another scheme":              {"Authorization: Basic bearer-a"},
		"bare token":                  {"Authorization: bearer-a"},
		"key with foreign tenant":     {"X-Api-Key: key-a", "X-Tenant-Id: tenant-b"},
		"bad key with good tenant":    {"X-Api-Key: nope", "X-Tenant-Id: tenant-a"},
		"empty key with good bearer":  {"X-Api-Key: ", "Authorization: Bearer bearer-a"},
		"good key with foreign token": {"X-Api-Key: key-a", "Authorization: Bearer bearer-b"},
		"a scheme the tenant has not": {"X-Tenant-Id: tenant-c", "X-Api-Key: "},
	}
	for name, headers := range bad {
		for _, known := range []string{id, unknownID, "no-uuid"} {
			for operation, request := range operations(known, revision) {
				resp, answer := r.send(request[0], request[1]+"?limit=bad", "{", headers...)
				require.Equal(t, http.StatusUnauthorized, resp.StatusCode, "%s: %s", name, operation)
				require.NotEmpty(t, answer.Get("detail").String())
				require.NotContains(t, answer.Raw, "nope")
				require.NotEmpty(t, resp.Header.Get("WWW-Authenticate"))
			}
		}
	}
	require.Empty(t, r.submitted)
	require.Empty(t, r.removed)
	require.Equal(t, 1, r.count(id))
	require.Len(t, r.want(200, "GET", "/v2/deployments", "").Get("resources").Array(), 1)
}
