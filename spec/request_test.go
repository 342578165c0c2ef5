package spec

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJudgeRequest(t *testing.T) {
	const template = `{"name":"n","source":"git_host","source_config":{"repo_url":"u","build_on_push":false},` +
		`"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json"},"secrets":[]}`
	const input = `{"assistant_id":"conformance","input":{"messages":[{"role":"user","content":"hi"}]}`
	for _, c := range []struct {
		name, method, path, query, body, kind string
		want                                  []string
	}{
		{name: "list", method: "GET", path: revisionsPath},
		{name: "list with everything", method: "GET", path: revisionsPath, query: "limit=100&offset=0&status=DEPLOYED,SKIPPED&remote_reconciled=true"},
		{name: "limit too high", method: "GET", path: revisionsPath, query: "limit=101", want: bad("/query/limit maximum")},
		{name: "limit twice", method: "GET", path: revisionsPath, query: "limit=1&limit=2", want: bad("/query/limit parameter")},
		{name: "limit misspelt", method: "GET", path: revisionsPath, query: "limits=1", want: bad("/query/limits parameter")},
		{name: "an unknown status", method: "GET", path: revisionsPath, query: "status=DEPLOYED,UP", want: bad("/query/status enum")},
		{name: "no boolean", method: "GET", path: revisionsPath, query: "remote_reconciled=1", want: bad("/query/remote_reconciled type")},
		{name: "a query that is broken", method: "GET", path: revisionsPath, query: "limit=%zz", want: bad("/query parameter")},
		{name: "a deployment id that is not a valid UUID", method: "GET", path: "/v2/deployments/x/revisions", want: bad("/path/deployment_id format")},
		{name: "an escape that is broken", method: "GET", path: "/v2/deployments/%zz/revisions", want: bad("/path/deployment_id format")},
		{name: "a body where none belongs", method: "GET", path: revisionsPath, body: "{}", want: bad("/body body")},
		{name: "create", method: "POST", path: "/v2/deployments", body: template},
		{name: "create without body", method: "POST", path: "/v2/deployments", want: bad("/body body")},
		{name: "create without source", method: "POST", path: "/v2/deployments", body: `{}`, want: bad("/body/source required")},
		{name: "create with a key twice", method: "POST", path: "/v2/deployments", body: `{"source":"git_host","source":"git_host"}`, want: bad("/body/source duplicate-key")},
		{name: "update with nulls", method: "PATCH", path: deploymentPath, body: `{"source_revision_config":{"repo_ref":null,"graph_config_path":null,"image_uri":null}}`},
		{name: "update with a number", method: "PATCH", path: deploymentPath, body: `{"source_revision_config":{"repo_ref":1}}`, want: bad("/body/source_revision_config/repo_ref type")},
		{name: "a thread", method: "POST", path: "/threads", body: `{}`},
		{name: "a body as text", method: "POST", path: "/threads", body: `{}`, kind: "text/plain", want: bad("/header/Content-Type content-type")},
		{name: "search", method: "POST", path: "/threads/search", body: `{"limit":10,"metadata":{"a":1},"ids":["t"]}`},
		{name: "a run", method: "POST", path: "/threads/t/runs", body: input + `}`},
		{name: "a run of a message without role", method: "POST", path: "/threads/t/runs", body: `{"assistant_id":"a","input":{"messages":[{"content":"x"}]}}`,
			want: bad("/body/input/messages/0/role required")},
		{name: "a thread with a pair of surrogates", method: "POST", path: "/threads", body: `{"metadata":{"a":"\ud834\udd1e"}}`},
		{name: "a thread with an escaped backslash", method: "POST", path: "/threads", body: `{"metadata":{"a":"\\ud834"}}`},
		{name: "a thread with the first of two surrogates", method: "POST", path: "/threads", body: `{"metadata":{"a":"\ud834x"}}`,
			want: bad("/body encoding")},
		{name: "a thread with the second of two surrogates", method: "POST", path: "/threads", body: `{"metadata":{"a":"\udd1e"}}`,
			want: bad("/body encoding")},
		{name: "an unknown operation", method: "PUT", path: "/threads", query: "%zz", body: "<"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := answer(c.method, c.path, 0, "")
			x.Query, x.RequestBody = c.query, []byte(c.body)
			x.RequestHeader = http.Header{}
			if c.body != "" {
				x.RequestHeader.Set("Content-Type", cmp.Or(c.kind, "application/json"))
			}
			var got []string
			for _, v := range shared.JudgeRequest(x) {
				got = append(got, v.Pointer+" "+v.Keyword)
				assert.Zero(t, v.Status)
				assert.NotEmpty(t, v.Expected)
				assert.NotEmpty(t, v.Actual)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestBoundaryCasesOfAnEnum(t *testing.T) {
	sort := Parameter{Name: "sort", In: "query", Type: "string", Enum: []string{"created_at", "name"}}
	status := Parameter{Name: "status", In: "query", Type: "string", Enum: []string{"NEW"}, List: true}
	op := Operation{Parameters: []Parameter{sort, status}}
	valid := map[string]bool{}
	for _, c := range BoundaryCases(op, "sort") {
		valid[c.Value] = c.Valid
		assert.Equal(t, c.Valid, sort.ClassOf(c.Value) == "", c.Value)
	}
	assert.Equal(t, map[string]bool{"created_at": true, "name": true, "no-created_at": false, "created_at,created_at": false}, valid)
	assert.Empty(t, BoundaryCases(op, "status"))
}

// TestBoundaryCasesAreTheContracts checks the validity of the derived cases with the oracle.
func TestBoundaryCasesAreTheContracts(t *testing.T) {
	op, found := shared.Find(ControlPlane, "GET", revisionsPath)
	require.True(t, found)
	judged := map[string]int{}
	for _, p := range op.Parameters {
		for _, c := range BoundaryCases(*op, p.Name) {
			judged[p.Name]++
			x := answer("GET", revisionsPath, 0, "")
			x.Query = url.Values{p.Name: {c.Value}}.Encode()
			assert.Equal(t, c.Valid, len(shared.JudgeRequest(x)) == 0, "%s %q (%s)", p.Name, c.Value, c.Why)
			assert.Equal(t, c.Valid, p.ClassOf(c.Value) == "", "%s %q has the class %q", p.Name, c.Value, p.ClassOf(c.Value))
		}
	}
	assert.Equal(t, map[string]int{"limit": 26, "offset": 14, "remote_reconciled": 4}, judged)
}

func TestParameter_ClassOf(t *testing.T) {
	op, found := shared.Find(ControlPlane, "GET", revisionsPath)
	require.True(t, found)
	for _, c := range []struct{ parameter, value, want string }{
		{"limit", "1", ""}, {"limit", "100", ""}, {"limit", "0", "out of range"}, {"limit", "101", "out of range"},
		{"limit", "99999999999999999999", "out of range"}, {"limit", "1.5", "not an integer"}, {"limit", "", "empty"},
		{"offset", "0", ""}, {"offset", "-1", "out of range"}, {"offset", "9223372036854775807", ""},
		{"offset", "9223372036854775808", "out of range"}, {"offset", "ten", "not an integer"},
		{"remote_reconciled", "true", ""}, {"remote_reconciled", "false", ""}, {"remote_reconciled", "", "empty"},
		{"remote_reconciled", "tru", "not a boolean"}, {"status", "DEPLOYED,QUEUED", ""},
		{"status", "DEPLOYED,NO_SUCH", "unknown value"}, {"status", "DEPLOYED\x00", "control character"},
	} {
		i := slices.IndexFunc(op.Parameters, func(p Parameter) bool { return p.Name == c.parameter })
		assert.Equal(t, c.want, op.Parameters[i].ClassOf(c.value), "%s=%s", c.parameter, c.value)
	}
	notList := Parameter{Type: "string", Enum: []string{"DEPLOYED", "QUEUED"}}
	assert.Equal(t, "", notList.ClassOf("DEPLOYED"))
	assert.Equal(t, "unknown value", notList.ClassOf("DEPLOYED,QUEUED"))
}
