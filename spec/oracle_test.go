package spec

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var shared *Oracle

func TestMain(m *testing.M) {
	var err error
	if shared, err = New(); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	deploymentPath = "/v2/deployments/0b5e9a52-1111-4222-8333-123456789abc"
	revisionsPath  = deploymentPath + "/revisions"
	revisionPath   = revisionsPath + "/0b5e9a52-1111-4222-8333-123456789abd"
)

const goodRevision = `{"id":"0b5e9a52-1111-4222-8333-123456789abd","created_at":"2025-01-02T03:04:05Z",` +
	`"updated_at":"2025-01-02T03:04:06.123456+02:00","status":"DEPLOYED","source":"git_host",` +
	`"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json","image_uri":null,"repo_commit_sha":"abc"}}`

func answer(method, path string, status int, body string) Exchange {
	side := ControlPlane
	if len(path) > 2 && path[:2] == "/t" {
		side = AgentServer
	}
	return Exchange{
		Side: side, Method: method, Path: path, Status: status,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
	}
}

func TestSmoke(t *testing.T) {
	require.Empty(t, shared.JudgeResponse(answer("GET", revisionPath, 200, goodRevision)))
	v := shared.JudgeResponse(answer("GET", revisionsPath, 200, `{"resources":[`+goodRevision+`,{"id":"x","status":"NO"},null],"offset":"1"}`))
	for _, x := range v {
		t.Log(x.String(), "|", x.Key())
	}
	assert.NotEmpty(t, v)
	t.Log(shared.Enums(), RevisionStatuses(), FailedStatuses(), Sources())
	for _, s := range Sides() {
		for _, op := range shared.Operations(s) {
			t.Logf("%+v", op)
		}
	}
}
