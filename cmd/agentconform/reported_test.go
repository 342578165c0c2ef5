package main

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
)

// TestTheCoreAloneDoesNotConform: a server that implements nothing, and claims as little as can be claimed, is not
// conformant.
func TestTheCoreAloneDoesNotConform(t *testing.T) {
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

// TestAWrongVocabularyIsNotTheTargetsFault: the target uses the interface's words, or others than the vocabulary says.
func TestAWrongVocabularyIsNotTheTargetsFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words    map[string]string
		layer    []string
		headline string
	}{
		{map[string]string{"git_host": "kilnhub"}, nil, `the target never showed "kilnhub": correct vocabulary.git_host`},
		{map[string]string{"graph_config_path": "kiln_path"}, nil, `the target uses "graph_config_path" and never "kiln_path": remove or correct vocabulary.graph_config_path`},
		{map[string]string{"git_host": "quelle"}, []string{"branded-words"}, `the target never showed "quelle": correct vocabulary.git_host`},
		{map[string]string{"internal_container": "bundle", "graph_auth_user": "kiln_user"}, nil, ""}, // of no use at all
	} {
		cfg := startWith(t, c.layer...)
		cfg.Vocabulary = c.words
		r := judge(t, cfg, "CP-CREATE-*", "CP-GET-*", "CP-CONTRACT-*")
		want := reports.Incomplete
		if c.headline == "" {
			want = reports.Conformant
		}
		assert.Equal(t, want, r.Verdict)
		assert.Equal(t, c.headline, r.Headline)
	}
}

// TestAFaultInOtherWords: a fault of a server with its own words fails as it does without, and is shown as it is on the
// wire.
func TestAFaultInOtherWords(t *testing.T) {
	t.Parallel()
	r := judge(t, startWith(t, "first-revision-shows-another-source", "branded-words"), "CP-CREATE-3")
	x, err := r.Exchange(findingOf(t, r, "CP-CREATE-3").Exchange)
	require.NoError(t, err)
	assert.Contains(t, x.Response.Body, "kiln_bundle")
	assert.NotContains(t, x.Response.Body, spec.Unmapped)
}

// TestListingByDefault judges a server that lists threads with POST only: that is noted, and fails where agent.listing says
// that it has GET.
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

// TestOwnTokenIsNoted judges a server whose runs hold the caller's token. The report says so, and shows none.
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
