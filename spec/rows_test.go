package spec

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// judged is one response with the violations that the oracle must return.
type judged struct {
	name string
	x    Exchange
	want []string // "pointer keyword" of each violation; none for a good answer

	// kin explains a different verdict of kin-openapi. Verdicts are compared as valid or invalid. An explanation without a
	// difference is an error too.
	kin string
}

func rows() []judged { return append(controlPlaneRows(), agentServerRows()...) }

// TestTheOracleJudgesEachRow checks the violations of each row. TestTheOracleAgreesWithKin uses the same rows.
func TestTheOracleJudgesEachRow(t *testing.T) {
	names := map[string]bool{}
	for _, row := range rows() {
		require.False(t, names[row.name], "two rows are named %q", row.name)
		names[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, v := range shared.JudgeResponse(row.x) {
				got = append(got, v.Pointer+" "+v.Keyword)
				assert.Equal(t, row.x.Status, v.Status)
				assert.NotEmpty(t, v.Operation)
				assert.NotEmpty(t, v.Expected)
				assert.NotEmpty(t, v.Actual)
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// Bodies that the rows change.
const (
	goodSourceConfig = `{"repo_ref":"main","graph_config_path":"agent.json","image_uri":null,"repo_commit_sha":"abc"}`
	goodDeployment   = `{"id":"0b5e9a52-1111-4222-8333-123456789abc","latest_revision_id":"0b5e9a52-1111-4222-8333-123456789abd",` +
		`"source":"git_host","source_config":{"build_on_push":false},"source_revision_config":` + goodSourceConfig + `}`
	goodProblem = `{"detail":[{"loc":["query","limit",0],"msg":"too large","type":"less_than_equal","input":"101","ctx":{"le":100},"url":"x"}]}`
)

// revision returns a valid revision with one field changed, or removed if the value is empty.
func revision(field, value string) string {
	fields := []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}
	values := map[string]string{
		"id": `"0b5e9a52-1111-4222-8333-123456789abd"`, "created_at": `"2025-01-02T03:04:05Z"`,
		"updated_at": `"2025-01-02T03:04:06Z"`, "status": `"DEPLOYED"`, "source": `"git_host"`,
		"source_revision_config": goodSourceConfig,
	}
	if _, known := values[field]; !known && field != "" {
		fields = append(fields, field)
	}
	values[field] = value
	var parts []string
	for _, f := range fields {
		if values[f] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", f, values[f]))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func typed(x Exchange, contentType string) Exchange {
	x.Header = http.Header{}
	if contentType != "" {
		x.Header.Set("Content-Type", contentType)
	}
	return x
}

func oneRevision(body string) Exchange    { return answer("GET", revisionPath, 200, body) }
func list(body string) Exchange           { return answer("GET", revisionsPath, 200, body) }
func page(resources string) Exchange      { return list(`{"resources":[` + resources + `],"offset":20}`) }
func created(s int, body string) Exchange { return answer("POST", "/v2/deployments", s, body) }
func got(body string) Exchange            { return answer("GET", deploymentPath, 200, body) }
func updated(s int, body string) Exchange { return answer("PATCH", deploymentPath, s, body) }
func refused(s int, body string) Exchange { return answer("GET", revisionsPath, s, body) }

func bad(faults ...string) []string { return faults }
