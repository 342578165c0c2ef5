package controlplane_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/stretchr/testify/require"
)

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
	require.Equal(t, []string{"query.limit"}, places(r.want(422, "GET", "/v2/deployments?limit=0", "")))
}
