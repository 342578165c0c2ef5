package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
	"github.com/agentconform/agentconform/steps/target"
)

// withFixtures starts a reference and returns a minimal configuration: its address, a key, users and fixtures.
func withFixtures(t *testing.T, edition string) *config.Config {
	t.Helper()
	server, _ := start(t, reference.Options{Edition: edition})
	c := config.Default()
	c.Target, c.Credentials.APIKey = server.ControlPlaneURL(), server.Fixtures().Owner.APIKey
	c.Users = []config.User{{Name: "alice", Token: "the-token-of-alice"}, {Name: "bob", Token: "the-token-of-bob"}}
	c.Fixtures = config.Fixtures{Serve: "127.0.0.1:0", Graph: config.Starlark}
	require.NoError(t, c.Complete())
	return &c
}

func serveFor(t *testing.T, c *config.Config) target.Fixtures {
	t.Helper()
	served, stop, err := startFixtures(c)
	require.NoError(t, err)
	t.Cleanup(stop)
	return served
}

// TestFixturesAreEnough judges requirements about sources with a minimal configuration. Only requirements of the other
// edition are skipped.
func TestFixturesAreEnough(t *testing.T) {
	t.Parallel()
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		t.Run(edition, func(t *testing.T) {
			t.Parallel()
			c := withFixtures(t, edition)
			if edition == config.SelfHosted {
				c.Edition = edition
			}
			served := serveFor(t, c)
			o := options(t, c, "CP-CREATE-*", "CP-POLL-*", "CP-REV-*", "CP-UPDATE-*", "E2E-1")
			o.Fixtures = served
			r := run(t, o)
			assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
			for _, q := range r.Requirements {
				if q.Verdict == reports.Skipped {
					assert.Contains(t, []string{"create.body.source", "edition"}, q.Skip.Key, q.ID)
				}
			}
			assert.Positive(t, served.Fetched())
			assert.Empty(t, notesOf(r, reports.NoteFixtures))
			var written bytes.Buffer
			require.NoError(t, r.WriteJSON(&written))
			for _, u := range c.Users {
				assert.NotContains(t, written.String(), u.Token)
			}
		})
	}
}

// TestFixturesKnowTheOptionalUsers judges a third user with the identity of the first and a blocked token.
func TestFixturesKnowTheOptionalUsers(t *testing.T) {
	t.Parallel()
	c := withFixtures(t, config.Cloud)
	c.Users[0].Fields = map[string]any{config.TeamField: "north"}
	c.Users = append(c.Users, config.User{Name: "carol", Token: "the-token-of-carol", SameIdentity: true,
		Fields: map[string]any{config.TeamField: "south"}})
	c.Agent.BlockedToken = "the-token-of-eve"
	require.NoError(t, c.Complete())
	served := serveFor(t, c)
	o := options(t, c, "AS-AUTHZ-1", "AS-AUTHZ-2", "AS-AUTHZ-3", "AS-AUTH-2", "AS-AUTH-3")
	o.Fixtures = served
	r := run(t, o)
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	optional := 0
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if strings.Contains(s.Name, "same identity") || strings.Contains(s.Name, "blocked token") {
				assert.Equal(t, reports.Passed, s.Verdict, "%s: %s", s.Name, s.Reason)
				optional++
			}
		}
	}
	assert.Positive(t, optional)
}

// TestFixturesThatTheBuilderCannotReach checks that the finding and all blocked requirements name the key.
func TestFixturesThatTheBuilderCannotReach(t *testing.T) {
	t.Parallel()
	c := withFixtures(t, config.Cloud)
	c.Fixtures.Serve, c.Fixtures.Advertise = "127.0.0.1:0", "http://127.0.0.1:9"
	served, stop, err := startFixturesUnchecked(t, c)
	require.NoError(t, err)
	t.Cleanup(stop)
	o := options(t, c, "CP-POLL-1", "CP-POLL-2", "CP-LIST-2")
	o.Fixtures = served
	r := run(t, o)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, "CP-POLL-1", r.Findings[0].Requirement)
	assert.Contains(t, r.Findings[0].Hint, "fixtures.advertise")
	assert.NotContains(t, r.Findings[0].Hint, "create.body", "there is no other source to choose")
	for _, q := range r.Requirements {
		if q.ID != "CP-POLL-1" {
			assert.Equal(t, reports.Blocked, q.Verdict, q.ID)
			assert.Contains(t, q.BlockedBy, reports.Blocker{Kind: reports.ByKey, Name: "fixtures.advertise"}, q.ID)
		}
	}
	require.Len(t, notesOf(r, reports.NoteFixtures), 1)
	assert.Contains(t, notesOf(r, reports.NoteFixtures)[0].Text, "http://127.0.0.1:9")

	e, err := doctor.Examine(t.Context(), o, false)
	require.NoError(t, err)
	at := slices.IndexFunc(e.Checks, func(c doctor.Check) bool { return c.Subject == "fixtures.advertise" })
	require.GreaterOrEqual(t, at, 0)
	assert.Equal(t, doctor.Noted, e.Checks[at].State, "a builder elsewhere may reach it")
	assert.Contains(t, e.Checks[at].Found, "this machine cannot reach http://127.0.0.1:9")
	assert.Contains(t, e.Checks[at].Remedy, "correct fixtures.advertise")
	assert.True(t, e.Testable())
}

// startFixturesUnchecked advertises a URL at which no server listens, which the validation of a configuration refuses.
func startFixturesUnchecked(t *testing.T, c *config.Config) (target.Fixtures, func(), error) {
	t.Helper()
	material, err := materialIn(c.Fixtures.Graph)
	require.NoError(t, err)
	host, err := material.Serve(c.Fixtures.Serve, c.Fixtures.Advertise)
	require.NoError(t, err)
	c.Fixtures = config.Fixtures{Graph: c.Fixtures.Graph}
	return host, func() { assert.NoError(t, host.Close()) }, fillFrom(c, material, host.Place())
}

func TestFixturesFillWhatIsNotSet(t *testing.T) {
	t.Parallel()
	for graph, file := range map[string]string{config.Starlark: "agent.json", config.Python: "langgraph.json", config.JavaScript: "langgraph.json"} {
		c := config.Default()
		c.Target, c.Fixtures = "http://127.0.0.1:9", config.Fixtures{Serve: "127.0.0.1:0", Graph: graph}
		c.Users = []config.User{{Name: "alice", Token: "the-token-of-alice", Identity: "alice@x"}, {Name: "bob", Token: "the-token-of-bob", Fields: map[string]any{"role": "reader"}}}
		c.Create.Body = map[string]any{
			"source_config": map[string]any{"integration_id": "i-1"},
			"secrets":       []any{map[string]any{"name": "OTHER", "value": "kept-as-it-is"}},
		}
		c.Alternatives.RepoRef = "main"
		require.NoError(t, c.Complete())
		served := serveFor(t, &c)
		body := c.Create.Body
		assert.Equal(t, config.GitHost, c.Source())
		assert.Equal(t, map[string]any{"integration_id": "i-1", "build_on_push": false, "repo_url": served.Advertised() + "/conformance.git"}, body["source_config"])
		assert.Equal(t, map[string]any{"repo_ref": "main", "graph_config_path": file}, body["source_revision_config"])
		secrets := map[any]any{}
		for _, item := range body["secrets"].([]any) {
			secrets[item.(map[string]any)["name"]] = item.(map[string]any)["value"]
		}
		assert.Equal(t, "kept-as-it-is", secrets["OTHER"])
		var users []map[string]string
		require.NoError(t, json.Unmarshal([]byte(secrets["CONFORMANCE_USERS"].(string)), &users))
		assert.Equal(t, []map[string]string{
			{"name": "alice", "token": "the-token-of-alice", "identity": "alice@x", "role": "role-1"},
			{"name": "bob", "token": "the-token-of-bob", "identity": "bob", "role": "reader"},
		}, users)
		assert.Equal(t, map[string]any{"role": "role-1"}, c.Users[0].Fields)
		assert.Equal(t, "main", c.Alternatives.RepoRef, "a key that is set does not change")
		assert.Equal(t, "refs/tags/v1.0.0", c.Alternatives.TagRef)
		assert.Equal(t, "alternative.json", c.Alternatives.GraphConfigPath)
		assert.Equal(t, []string{"broken", "main", "refs/tags/Stable/v1.1.0", "refs/tags/v1.0.0", "release/next"}, slices.Sorted(maps.Keys(c.Alternatives.Commits)))
		assert.Equal(t, config.ExternalContainer, c.Create.Refused["source"])
		assert.Contains(t, c.Secrets(), secrets["CONFORMANCE_USERS"])
	}
}

// TestFixturesWithAgentTarget checks that users and refusals of another agent server are not filled.
func TestFixturesWithAgentTarget(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Target, c.AgentTarget, c.Fixtures = "http://127.0.0.1:9", "http://127.0.0.1:10", config.Fixtures{Serve: "127.0.0.1:0", Graph: config.Python}
	c.Users = []config.User{{Name: "alice", Token: "the-token-of-alice"}, {Name: "carol", Headers: map[string]string{"X-Session": "the-session-of-carol"}}}
	require.NoError(t, c.Complete())
	without := c
	without.Users = nil
	serveFor(t, &c)
	assert.Empty(t, c.Users[0].Fields)
	assert.Empty(t, c.Agent.RejectedDetail)
	serveFor(t, &without)
	assert.Equal(t, []any{}, without.Create.Body["secrets"], "there are no users")
}
