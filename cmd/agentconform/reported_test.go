package main

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
)

// TestMinimalClaim checks that a server that implements nothing is not conformant with the smallest possible claims.
func TestMinimalClaim(t *testing.T) {
	t.Parallel()
	for _, null := range faults.NullImplementations() {
		if null.Name != "everything-is-null" && null.Name != "everything-is-not-found" {
			continue
		}
		for _, words := range [][]string{{"control-plane-core"}, {"agent-server-core"}, {"studio", "tenants"}} {
			t.Run(fmt.Sprint(null.Name, words), func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(null.Serve)
				defer server.Close()
				defer server.CloseClientConnections()
				c := startWith(t)
				c.Target, c.AgentTarget, c.Supports = server.URL, server.URL, words
				c.Timeouts = config.Timeouts{Request: 2 * time.Second, Poll: time.Second, Run: time.Second}
				r := judge(t, c)
				assert.NotEqual(t, reports.Conformant, r.Verdict, overview.Of(r).FirstLine())
				judged := slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.Verdict != reports.Skipped })
				assert.True(t, judged, "the core is judged or blocked")
			})
		}
	}
}

// TestWrongVocabulary judges targets that do not use the words of the vocabulary. The key blocks, and nothing fails.
func TestWrongVocabulary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words map[string]string
		layer []string
		key   string // "" if the vocabulary has no effect
	}{
		{map[string]string{"git_host": "kilnhub"}, nil, "vocabulary.git_host"},
		{map[string]string{"graph_config_path": "kiln_path"}, nil, "vocabulary.graph_config_path"},
		{map[string]string{"git_host": "quelle"}, []string{"branded-words"}, "vocabulary.git_host"},
		{map[string]string{"internal_container": "bundle", "graph_auth_user": "kiln_user"}, nil, ""},
	} {
		cfg := startWith(t, c.layer...)
		cfg.Vocabulary = c.words
		r := judge(t, cfg, "CP-CREATE-*", "CP-GET-*", "CP-CONTRACT-*")
		failed, keys := verdicts(r, reports.Failed, reports.ByKey)
		assert.Empty(t, failed)
		if c.key == "" {
			assert.Equal(t, reports.Conformant, r.Verdict)
			continue
		}
		assert.Equal(t, reports.Incomplete, r.Verdict)
		assert.Equal(t, []string{c.key}, keys)
	}
}

// TestAFaultInOtherWords checks that a fault of a server with other words fails as with the words of the interface, and
// that the exchange has the words of the server.
func TestAFaultInOtherWords(t *testing.T) {
	t.Parallel()
	r := judge(t, startWith(t, "first-revision-shows-another-source", "branded-words"), "CP-CREATE-3")
	x, err := r.Exchange(findingOf(t, r, "CP-CREATE-3").Exchange)
	require.NoError(t, err)
	assert.Contains(t, x.Response.Body, "kiln_bundle")
	assert.NotContains(t, x.Response.Body, spec.Unmapped)
}

// TestListingByDefault judges a server that lists threads only with POST. The result has a note, and a failure if
// agent.listing is get.
func TestListingByDefault(t *testing.T) {
	t.Parallel()
	_, cfg := startAgent(t, withFaults(t, "list-threads-is-405"))
	r := judge(t, cfg, "AS-THREAD-*")
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	notes := notesOf(r, reports.NoteListing)
	require.Len(t, notes, 1)
	x, err := r.Exchange(notes[0].Exchange)
	require.NoError(t, err)
	assert.Equal(t, 405, x.Status)
	cfg.Agent.Listing = "get"
	r = judge(t, cfg, "AS-THREAD-*", "AS-CONTRACT-list-threads")
	assert.Equal(t, reports.NonConformant, r.Verdict, r.Headline)
	assert.Empty(t, notesOf(r, reports.NoteListing))
}

// TestOwnTokenIsNoted judges a server whose runs contain the caller's token. The result has a note without the token.
func TestOwnTokenIsNoted(t *testing.T) {
	t.Parallel()
	_, cfg := startAgent(t, withFaults(t, "answers-hold-the-token"))
	r := judge(t, cfg, "AS-RUN-*", "AS-STATE-*", "AS-ROLLBACK-*")
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	notes := notesOf(r, reports.NoteOwnToken)
	require.Len(t, notes, 1)
	const pointer = "/kwargs/config/configurable/graph_auth_user/token"
	assert.Equal(t, pointer, notes[0].Pointer)
	x, err := r.Exchange(notes[0].Exchange)
	require.NoError(t, err)
	assert.Contains(t, x.Response.Body, `"token":"$AGENTCONFORM_USERS_`)
}

// TestRefusalsInTextAreNoted checks that a refusal in plain text passes AS-AUTH-3, and that a note names the exchange.
func TestRefusalsInTextAreNoted(t *testing.T) {
	t.Parallel()
	_, cfg := startAgent(t, withFaults(t, "rejection-is-a-text"))
	r := judge(t, cfg, "AS-AUTH-3")
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	notes := notesOf(r, reports.NoteDetail)
	require.Len(t, notes, 2, "without credentials, and with an unknown token")
	for _, n := range notes {
		x, err := r.Exchange(n.Exchange)
		require.NoError(t, err)
		assert.Equal(t, "Invalid credentials", x.Response.Body)
	}
	_, cfg = startAgent(t, reference.Options{})
	assert.Empty(t, notesOf(judge(t, cfg, "AS-AUTH-3"), reports.NoteDetail))
}
