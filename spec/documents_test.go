package spec

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// node is a place in a document; steps follow references.
type node struct {
	t    *testing.T
	root map[string]any
	at   any
}

func document(t *testing.T, side Side) node {
	t.Helper()
	var root map[string]any
	require.NoError(t, yaml.Unmarshal(Document(side), &root))
	return node{t, root, root}
}

func (n node) get(steps ...string) node {
	n.t.Helper()
	for _, step := range steps {
		fields, ok := n.at.(map[string]any)
		require.True(n.t, ok, "no object before %q", step)
		value, ok := fields[step]
		require.True(n.t, ok, "%q is missing", step)
		n.at = value
		n = n.follow()
	}
	return n
}

func (n node) follow() node {
	for {
		fields, ok := n.at.(map[string]any)
		if !ok {
			return n
		}
		reference, ok := fields["$ref"].(string)
		if !ok {
			return n
		}
		n.at = n.root
		for _, step := range strings.Split(strings.TrimPrefix(reference, "#/"), "/") {
			n.at = n.at.(map[string]any)[step]
		}
	}
}

func (n node) schema(name string) node { return n.get("components", "schemas", name) }

func (n node) texts() []string {
	var list []string
	switch v := n.at.(type) {
	case string:
		list = append(list, v)
	case []any:
		for _, item := range v {
			list = append(list, item.(string))
		}
	}
	return list
}

func TestTheHeadOfTheDocument(t *testing.T) {
	d := document(t, ControlPlane)
	assert.Equal(t, "3.1.0", d.get("openapi").at)
	assert.Equal(t, "0.1.0", d.get("info", "version").at)
	assert.Equal(t, "3.1.0", document(t, AgentServer).get("openapi").at)

	alternatives := d.get("security").at.([]any)
	require.Len(t, alternatives, 3)
	var schemes []string
	for _, alternative := range alternatives {
		require.Len(t, alternative, 1, "each scheme alone opens an operation")
		for key := range alternative.(map[string]any) {
			schemes = append(schemes, d.get("components", "securitySchemes", key, "x-scheme-name").at.(string))
		}
	}
	assert.Equal(t, []string{"API Key", "Tenant ID", "Bearer Auth"}, schemes)
	assert.Equal(t, "X-Api-Key", d.get("components", "securitySchemes", "API-Key", "name").at)

	for path, item := range d.get("paths").at.(map[string]any) {
		for method, operation := range item.(map[string]any) {
			if method == "parameters" {
				continue
			}
			assert.Equal(t, []any{"Deployments (v2)"}, operation.(map[string]any)["tags"], "%s %s", method, path)
			assert.NotContains(t, operation, "security", "the three alternatives hold for every operation")
		}
	}
}

// TestEveryOperationOfTheInterface is section 4, and the vendor extensions, which are marked as such.
func TestEveryOperationOfTheInterface(t *testing.T) {
	want := map[Side][]string{
		ControlPlane: {
			"POST /v2/deployments create-deployment", "GET /v2/deployments list-deployments (field)",
			"GET /v2/deployments/{deployment_id} get-deployment", "PATCH /v2/deployments/{deployment_id} update-deployment",
			"DELETE /v2/deployments/{deployment_id} delete-deployment (field)",
			"GET /v2/deployments/{deployment_id}/revisions list-revisions",
			"GET /v2/deployments/{deployment_id}/revisions/{revision_id} get-revision",
			"POST /v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy redeploy-revision (field)",
		},
		AgentServer: {
			"GET /ok get-ok (field)", "GET /info get-info (field)",
			"POST /assistants/search search-assistants (field)", "POST /assistants/count count-assistants (field)",
			"GET /assistants/{assistant_id} get-assistant (field)", "GET /assistants/{assistant_id}/graph get-assistant-graph (field)",
			"GET /assistants/{assistant_id}/schemas get-assistant-schemas (field)",
			"GET /assistants/{assistant_id}/subgraphs get-assistant-subgraphs (field)",
			"POST /threads create-thread", "GET /threads list-threads", "POST /threads/search search-threads", "POST /threads/count count-threads (field)",
			"GET /threads/{thread_id} get-thread (field)", "PATCH /threads/{thread_id} update-thread (field)", "DELETE /threads/{thread_id} delete-thread (field)",
			"POST /threads/{thread_id}/copy copy-thread (field)",
			"POST /threads/{thread_id}/state update-state (field)", "GET /threads/{thread_id}/state get-state",
			"POST /threads/{thread_id}/state/checkpoint find-checkpoint (field)",
			"GET /threads/{thread_id}/state/{checkpoint_id} get-checkpoint (field)",
			"POST /threads/{thread_id}/history search-history (field)", "GET /threads/{thread_id}/history get-history (field)",
			"POST /threads/{thread_id}/runs create-run", "GET /threads/{thread_id}/runs list-runs (field)",
			"GET /threads/{thread_id}/runs/{run_id} get-run", "DELETE /threads/{thread_id}/runs/{run_id} delete-run (field)", "GET /threads/{thread_id}/runs/{run_id}/join join-run",
			"POST /threads/{thread_id}/runs/wait wait-run (field)", "POST /threads/{thread_id}/runs/stream stream-run (field)",
			"GET /threads/{thread_id}/runs/{run_id}/stream join-run-stream (field)", "POST /threads/{thread_id}/runs/{run_id}/cancel cancel-run (field)",
			"POST /runs create-stateless-run (field)", "POST /runs/wait wait-stateless-run (field)", "POST /runs/stream stream-stateless-run (field)",
			"POST /runs/batch create-run-batch (field)", "POST /runs/cancel cancel-runs (field)",
		},
	}
	for side, operations := range want {
		var got []string
		for _, op := range shared.Operations(side) {
			line := op.Method + " " + op.Path + " " + op.ID
			if op.Field {
				line += " (field)"
			}
			got = append(got, line)
		}
		assert.Equal(t, operations, got)
	}
}

// TestEveryParameterOfTheInterface is the two tables of List Revisions in section 4, and section 8.
func TestEveryParameterOfTheInterface(t *testing.T) {
	one, hundred, zero := 1.0, 100.0, 0.0
	id := Parameter{Name: "deployment_id", In: "path", Required: true, Type: "string", Format: "uuid"}
	assert.Equal(t, []Parameter{
		id,
		{Name: "limit", In: "query", Type: "integer", Default: 20, Minimum: &one, Maximum: &hundred},
		{Name: "offset", In: "query", Type: "integer", Default: 0, Minimum: &zero},
		{Name: "status", In: "query", Type: "string", Nullable: true, Enum: RevisionStatuses(), List: true},
		{Name: "remote_reconciled", In: "query", Type: "boolean", Nullable: true},
	}, find(t, "list-revisions").Parameters)
	assert.Equal(t, []Parameter{id}, find(t, "get-deployment").Parameters)
	assert.Equal(t, []Parameter{id}, find(t, "update-deployment").Parameters)
	assert.Equal(t, []Parameter{id, {Name: "revision_id", In: "path", Required: true, Type: "string", Format: "uuid"}},
		find(t, "get-revision").Parameters)
	assert.Empty(t, find(t, "create-deployment").Parameters)
}

// TestEveryResponseOfTheInterface: "open" is a response without a declared body.
func TestEveryResponseOfTheInterface(t *testing.T) {
	for id, want := range map[string]string{
		"create-deployment": "200 201 202 401open 403open 4XXopen",
		"get-deployment":    "200 401open 403open 404open 4XXopen",
		"update-deployment": "200 201 202 204open 401open 403open 404open 4XXopen",
		"list-revisions":    "200 401open 403open 404 422",
		"get-revision":      "200 401open 403open 404open 4XXopen",
		"create-thread":     "200 201 202 4XXopen",
		"list-threads":      "200 4XXopen",
		"search-threads":    "200 4XXopen",
		"get-state":         "200 4XXopen",
		"create-run":        "200 201 202 4XXopen",
		"get-run":           "200 4XXopen",
		"join-run":          "200 204open 4XXopen",
	} {
		var got []string
		for _, r := range find(t, id).Responses {
			if len(r.ContentTypes) == 0 {
				r.Status += "open"
			} else {
				wanted := []string{"application/json"}
				if id == "join-run" || id == "update-deployment" {
					wanted = append(wanted, "text/plain") // what they respond with is not shown
				}
				assert.Equal(t, wanted, r.ContentTypes)
			}
			got = append(got, r.Status)
		}
		assert.Equal(t, want, strings.Join(got, " "), id)
	}
}

// TestEveryFieldOfTheInterface is section 2: "name type", with format, null where allowed, and * where required.
func TestEveryFieldOfTheInterface(t *testing.T) {
	for _, c := range []struct {
		side   Side
		schema string
		fields []string
	}{
		{ControlPlane, "Revision", []string{"id* string uuid", "created_at* string date-time", "updated_at* string date-time",
			"status* string", "source* string", "source_revision_config* object"}},
		{ControlPlane, "SourceRevisionConfig", []string{"repo_ref string|null", "graph_config_path string|null", "image_uri string|null", "repo_commit_sha string|null"}},
		{ControlPlane, "RevisionsList", []string{"resources* array", "offset* integer"}},
		{ControlPlane, "HTTPValidationError", []string{"detail array"}},
		{ControlPlane, "ValidationError", []string{"loc* array", "msg* string", "type* string"}},
		{ControlPlane, "NotFound", []string{"detail* string"}},
		{ControlPlane, "Deployment", []string{"id* string uuid", "latest_revision_id string|null uuid", "source string", "source_config object", "source_revision_config object"}},
		{ControlPlane, "CreatedDeployment", []string{"id* string uuid", "latest_revision_id* string uuid", "source string", "source_config object", "source_revision_config object"}},
		{ControlPlane, "SourceConfig", []string{"build_on_push boolean|null"}},
		{AgentServer, "Thread", []string{"thread_id* string|integer"}},
		{AgentServer, "Run", []string{"run_id* string|integer"}},
		{AgentServer, "State", []string{"values* object"}},
		{AgentServer, "Message", []string{"type* string", "content* string|array"}},
		{AgentServer, "CreateRun", []string{"assistant_id* string", "input* object", "multitask_strategy string"}},
	} {
		t.Run(c.schema, func(t *testing.T) {
			schema := document(t, c.side).schema(c.schema)
			assert.Equal(t, "object", schema.get("type").at)
			assert.NotContains(t, schema.at, "additionalProperties", "further fields are allowed")
			assert.ElementsMatch(t, c.fields, fieldsOf(schema))
		})
	}
	d := document(t, ControlPlane)
	assert.Equal(t, []string{"string", "integer"}, d.schema("ValidationError").get("properties", "loc", "items", "type").texts())
	assert.Equal(t, []string{"string"}, d.schema("Revision").get("properties", "id", "type").texts())
	for _, field := range []string{"id", "created_at", "updated_at"} {
		assert.Equal(t, true, d.schema("Revision").get("properties", field, "readOnly").at)
	}
	assert.Equal(t, true, d.schema("SourceRevisionConfig").get("properties", "repo_commit_sha", "readOnly").at)
	messages := document(t, AgentServer).schema("State").get("properties", "values", "properties", "messages")
	assert.Equal(t, "array", messages.get("type").at)
}

func fieldsOf(schema node) []string {
	var required []string
	if fields := schema.at.(map[string]any); fields["required"] != nil {
		required = schema.get("required").texts()
	}
	var list []string
	for name := range schema.get("properties").at.(map[string]any) {
		property := schema.get("properties", name)
		if slices.Contains(required, name) {
			name += "*"
		}
		line := name + " " + strings.Join(property.get("type").texts(), "|")
		if format, ok := property.at.(map[string]any)["format"].(string); ok {
			line += " " + format
		}
		list = append(list, line)
	}
	return list
}

// TestEveryValueOfTheInterface is section 3 and the source of section 2.
func TestEveryValueOfTheInterface(t *testing.T) {
	statuses := strings.Fields("CREATING QUEUED AWAITING_BUILD BUILDING AWAITING_DEPLOY DEPLOYING CREATE_FAILED BUILD_FAILED " +
		"DEPLOY_FAILED DEPLOYED SKIPPED INTERRUPTED UNKNOWN")
	sources := []string{"git_host", "external_container", "internal_container"}
	assert.Equal(t, statuses, RevisionStatuses())
	assert.Equal(t, []string{"CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED"}, FailedStatuses())
	assert.Subset(t, statuses, FailedStatuses())
	assert.Equal(t, sources, Sources())
	assert.Equal(t, map[string][]string{
		"Revision.status": statuses, "Revision.source": sources,
		"Message.type": {"human", "ai", "tool"}, "CreateRun.multitask_strategy": {"rollback"},
	}, shared.Enums())
}

// TestTheKeywordsThatTheOracleRelies on: long arrays are judged in parts, and each violation has one cause. Neither would be
// right with keywords that speak of an array as a whole, or that join schemas.
func TestTheKeywordsThatTheOracleReliesOn(t *testing.T) {
	forbidden := []string{"minItems", "maxItems", "uniqueItems", "contains", "prefixItems", "unevaluatedItems", "anyOf", "oneOf",
		"allOf", "not", "if", "const", "pattern", "patternProperties", "propertyNames", "dependentRequired", "additionalProperties",
		"writeOnly"}
	for _, side := range Sides() {
		d := document(t, side)
		walk(d.at, "", func(path string, fields map[string]any) {
			for _, keyword := range forbidden {
				assert.NotContains(t, fields, keyword, "%s %s", side, path)
			}
		})
	}
}

// TestRequestsRequireNothingThatOnlyTheServerSets: validators do not ask a request for a field that is readOnly. The oracle
// compiles a schema the same way for both directions.
func TestRequestsRequireNothingThatOnlyTheServerSets(t *testing.T) {
	for _, side := range Sides() {
		d := document(t, side)
		for _, op := range shared.Operations(side) {
			declared := d.get("paths", op.Path, strings.ToLower(op.Method))
			if _, ok := declared.at.(map[string]any)["requestBody"]; ok {
				requiresNoReadOnly(t, op.ID, declared.get("requestBody", "content", "application/json", "schema"))
			}
		}
	}
}

func requiresNoReadOnly(t *testing.T, path string, schema node) {
	keywords := schema.at.(map[string]any)
	properties, _ := keywords["properties"].(map[string]any)
	required, _ := keywords["required"].([]any)
	for name := range properties {
		property := schema.get("properties", name)
		assert.False(t, property.at.(map[string]any)["readOnly"] == true && slices.Contains(required, any(name)), "%s/%s", path, name)
		requiresNoReadOnly(t, path+"/"+name, property)
	}
	if keywords["items"] != nil {
		requiresNoReadOnly(t, path+"/*", schema.get("items"))
	}
}

func walk(value any, path string, visit func(string, map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(path, v)
		for key, child := range v {
			walk(child, path+"/"+key, visit)
		}
	case []any:
		for i, child := range v {
			walk(child, path+"/"+strconv.Itoa(i), visit)
		}
	}
}
