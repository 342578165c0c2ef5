package main

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps/config"
)

// TestAClaimBinds: a SHOULD of a capability that is claimed by name fails the run.
func TestAClaimBinds(t *testing.T) {
	t.Parallel()
	for claim, want := range map[string]reports.Conclusion{"": reports.Conformant, features.ControlPlane: reports.Conformant, "tenants": reports.NonConformant} {
		c := startWith(t, "other-tenant-lists")
		if claim != "" {
			c.Supports = []string{claim}
		}
		require.NoError(t, c.Complete())
		r := judge(t, c, "CP-AUTH-6", "CP-GET-1")
		assert.Equal(t, want, r.Verdict, "%q: %s", claim, overview.Of(r).FirstLine())
	}
}

// TestTheCoreAloneDoesNotConform: a server that implements nothing, and claims as little as can be claimed, is not
// conformant.
func TestTheCoreAloneDoesNotConform(t *testing.T) {
	t.Parallel()
	for _, null := range faults.NullImplementations() {
		switch null.Name {
		case "everything-is-null":
			assertTheCoreAloneDoesNotConform(t, null, []string{"control-plane-core"})
			assertTheCoreAloneDoesNotConform(t, null, []string{"agent-server-core"})
		case "everything-is-not-found":
			assertTheCoreAloneDoesNotConform(t, null, []string{"studio", "tenants"})
		}
	}
}

func assertTheCoreAloneDoesNotConform(t *testing.T, null faults.NullImplementation, words []string) {
	t.Run(fmt.Sprint(null.Name, words), func(t *testing.T) {
		t.Parallel()
		c := config.Default()
		stop, err := startBundled(t.Context(), &c, "")
		require.NoError(t, err)
		defer stop()
		server := httptest.NewServer(null.Handler())
		defer server.Close()
		defer server.CloseClientConnections()
		c.Target, c.AgentTarget, c.Supports = server.URL, server.URL, words
		c.Timeouts = config.Timeouts{Request: 2 * time.Second, Poll: time.Second, Run: time.Second}
		require.NoError(t, c.Complete())
		r := judge(t, &c)
		assert.NotEqual(t, reports.Conformant, r.Verdict, overview.Of(r).FirstLine())
		judged := slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.Verdict != reports.Skipped })
		assert.True(t, judged, "the core is judged or blocked")
	})
}
