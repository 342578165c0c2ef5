package story_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/story"
)

// TestSourceOfTheFinding checks that the sentences about a deployment show the value that the finding is about.
func TestSourceOfTheFinding(t *testing.T) {
	long := strings.Repeat("x", 50)
	created := exchange("create-deployment", "POST", "/v2/deployments", `{"name":"n","source":"git_host",
		"source_revision_config":{"graph_config_path":"`+long+`","repo_ref":"broken"}}`, 201, `{"id":"d","latest_revision_id":"r1"}`, -1)
	updated := exchange("update-deployment", "PATCH", "/v2/deployments/d", `{"created_at":"`+long+`","id":"`+long+`","status":"`+long+`",
		"source_revision_config":{"repo_ref":"main"}}`, 200, `{}`, -1)
	read := exchange("get-deployment", "GET", "/v2/deployments/d", "", 200, `{"id":"d","latest_revision_id":"r1"}`, -1)
	r := reports.Result{Target: reports.Target{ControlPlane: base}, Exchanges: reports.Record(nil, created, updated, read)}
	for pointer, want := range map[string][2]string{
		"/source_revision_config/repo_ref": {`Create a deployment from repo_ref "broken", `, `Update the deployment: repo_ref "main", `},
		"/source":                          {"Create a deployment", `Update the deployment: created_at "x`},
	} {
		f := reports.Finding{Exchange: 3, Pointer: pointer, Exchanges: []reports.Link{
			{Exchange: 1, Part: reports.SetUp}, {Exchange: 2, Part: reports.Act}, {Exchange: 3, Part: reports.Act}}}
		s := story.Of(&r, &f)
		assert.Len(t, s.Steps, 3)
		for i, text := range want {
			assert.True(t, strings.HasPrefix(s.Steps[i].Text, text), "%s: %s", pointer, s.Steps[i].Text)
		}
	}
}
