package controlplane_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/stretchr/testify/require"
)

func (r *rig) ids(id, query string) (list []string, offset int) {
	page := r.revisions(id, query)
	list = []string{}
	for _, rev := range page.Get("resources").Array() {
		list = append(list, rev.Get("id").String())
	}
	return list, int(page.Get("offset").Int())
}

func TestRevisionsOfAUsersOwnClusterAreReconciledRemotely(t *testing.T) {
	r := newRig(t, controlplane.SelfHosted)
	id, revision := r.create(imageBody)
	got, _ := r.ids(id, "remote_reconciled=true")
	require.Equal(t, []string{revision}, got)
	got, _ = r.ids(id, "remote_reconciled=false")
	require.Empty(t, got)
}

func TestFaultyParametersAreNamedAllAtOnce(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, _ := r.create(gitBody)
	for query, want := range map[string][]string{
		"limit=0": {"query.limit"}, "limit=101": {"query.limit"}, "limit=-1": {"query.limit"}, "limit=1.5": {"query.limit"},
		"limit=1.0": {"query.limit"}, "limit=": {"query.limit"}, "limit": {"query.limit"}, "limit=ten": {"query.limit"},
		"limit=99999999999999999999": {"query.limit"}, "limit=-99999999999999999999": {"query.limit"}, "limit=1e1": {"query.limit"},
		"limit=%zz": {"query.limit"}, "limit=1;2": {"query.limit"}, "limit=+1": {"query.limit"}, "limit=0x10": {"query.limit"}, "limit=1_0": {"query.limit"},
		"limit=--1": {"query.limit"}, "limit=null": {"query.limit"}, "limit=%20": {"query.limit"}, "limit=1%00": {"query.limit"},
		"offset=-1": {"query.offset"}, "offset=0.5": {"query.offset"}, "offset=": {"query.offset"}, "offset=x": {"query.offset"},
		"remote_reconciled=maybe": {"query.remote_reconciled"}, "remote_reconciled=": {"query.remote_reconciled"}, "remote_reconciled=2": {"query.remote_reconciled"},
		"status=NOPE": {"query.status"}, "status=": {"query.status"}, "status=DEPLOYED,": {"query.status"}, "status=deployed": {"query.status"},
		"limit=0&offset=-1&remote_reconciled=x&status=x": {"query.limit", "query.offset", "query.remote_reconciled", "query.status"},
	} {
		answer := r.want(http.StatusUnprocessableEntity, "GET", "/v2/deployments/"+id+"/revisions?"+query, "")
		require.ElementsMatch(t, want, places(answer), query)
	}
	answer := r.want(http.StatusUnprocessableEntity, "GET", "/v2/deployments/no-uuid/revisions?limit=0&offset=-1", "")
	require.ElementsMatch(t, []string{"path.deployment_id", "query.limit", "query.offset"}, places(answer))
	for _, bad := range []string{"no-uuid", "1", "%20", unknownID + "0", strings.ReplaceAll(unknownID, "-", ""), "%7B" + unknownID + "%7D", "urn:uuid:" + unknownID, "a%2Fb"} {
		for _, target := range []string{"/v2/deployments/" + bad, "/v2/deployments/" + bad + "/revisions"} {
			require.Equal(t, []string{"path.deployment_id"}, places(r.want(http.StatusUnprocessableEntity, "GET", target, "")), target)
		}
	}
	answer = r.want(http.StatusUnprocessableEntity, "GET", "/v2/deployments/x/revisions/y", "")
	require.Equal(t, []string{"path.deployment_id", "path.revision_id"}, places(answer))
}

func TestWhatDoesNotExistIsNamed(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	id, revision := r.create(gitBody)
	other, _ := r.create(gitBody)
	for target, detail := range map[string]string{
		"/v2/deployments/" + unknownID:                            "Deployment ID " + unknownID + " not found.",
		"/v2/deployments/" + unknownID + "/revisions":             "Deployment ID " + unknownID + " not found.",
		"/v2/deployments/" + unknownID + "/revisions/" + revision: "Deployment ID " + unknownID + " not found.",
		"/v2/deployments/" + id + "/revisions/" + unknownID:       "Revision ID " + unknownID + " not found.",
		"/v2/deployments/" + other + "/revisions/" + revision:     "Revision ID " + revision + " not found.",
		"/v2/deployments/" + id + "/":                             "Not Found",
		"/v2/deployments//revisions":                              "Not Found",
		"/v2//deployments":                                        "Not Found",
		"/v2/deployments/../deployments":                          "Not Found",
		"/v2/deployments/" + id + "/other":                        "Not Found",
		"/v1/deployments":                                         "Not Found",
		"/":                                                       "Not Found",
	} {
		resp, answer := r.send("GET", target, "")
		require.Equal(t, http.StatusNotFound, resp.StatusCode, target)
		require.Equal(t, detail, answer.Get("detail").String(), target)
	}
	for target, methods := range map[string]string{
		"/v2/deployments": "PATCH GET, POST", "/v2/deployments/" + id: "PUT DELETE, GET, PATCH", "/v2/deployments/" + id + "/revisions": "POST GET",
	} {
		method, allow, _ := strings.Cut(methods, " ")
		resp, answer := r.send(method, target, "")
		require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
		require.Equal(t, allow, resp.Header.Get("Allow"))
		require.Equal(t, "Method Not Allowed", answer.Get("detail").String())
	}
}

func TestDeploymentsAreListed(t *testing.T) {
	r := newRig(t, controlplane.Cloud)
	var want []string
	for i := range 23 {
		d := r.want(201, "POST", "/v2/deployments", strings.Replace(gitBody, `"d"`, fmt.Sprintf(`"d-%d"`, i), 1))
		want = append([]string{d.Get("id").String()}, want...)
	}
	r.want(201, "POST", "/v2/deployments", gitBody, "X-Api-Key: key-b")
	list := func(query string) []string {
		ids := []string{}
		for _, d := range r.want(200, "GET", "/v2/deployments?"+query, "").Get("resources").Array() {
			ids = append(ids, d.Get("id").String())
		}
		return ids
	}
	require.Equal(t, want[:20], list(""))
	require.Equal(t, want, list("limit=100"))
	require.Equal(t, want[20:], list("offset=20"))
	require.Equal(t, []string{want[0], want[1], want[2], want[20]}, list("name_contains=d-2"))
	require.Equal(t, want[:20], list("status=READY,UNUSED"))
	require.Empty(t, list("status=UNUSED"))
	require.Equal(t, []string{"query.limit", "query.status"}, places(r.want(422, "GET", "/v2/deployments?limit=0&status=x", "")))
}
