package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// TestDeploymentsOfLostRuns finds those with the names that runs give and of the age, and removes nothing else.
func TestDeploymentsOfLostRuns(t *testing.T) {
	t.Parallel()
	var past atomic.Int64
	v := startVendor(t, 0, func(o *reference.Options) {
		o.Now = func() time.Time { return time.Now().Add(-time.Duration(past.Load())) }
	})
	create := func(name string, age time.Duration) string {
		past.Store(int64(age))
		body := v.Fixtures().Create
		body["name"] = name
		id, _ := v.ask(t, http.MethodPost, "/v2/deployments", body)["id"].(string)
		require.NotEmpty(t, id)
		past.Store(0)
		return id
	}
	old := create("agentconform-0a1b2c3d-shared-1", 3*time.Hour)
	for name, age := range map[string]time.Duration{
		"agentconform-0a1b2c3d-history-12": time.Hour, "agentconform-production-1": 9 * time.Hour, "agentconform-0a1b2c3d-shared": 9 * time.Hour,
		"agentconform-0a1b2c3d-shared-1-copy": 9 * time.Hour, "my-agentconform-0a1b2c3d-shared-1": 9 * time.Hour, "agentconform-0A1B2C3D-shared-1": 9 * time.Hour,
	} {
		create(name, age)
	}
	c := addresses(t, v.ControlPlaneURL(), "", v.key)
	before, _ := v.count(t)
	left, ageless, err := steps.Lost(t.Context(), c, 2*time.Hour)
	require.NoError(t, err)
	assert.Empty(t, ageless)
	require.Len(t, left, 1)
	assert.Equal(t, old, left[0].ID)
	assert.Equal(t, "0a1b2c3d", left[0].Run)
	require.NoError(t, steps.Clean(t.Context(), c, left, func(_ evidence.Left, problem string) { assert.Empty(t, problem) }))
	after, _ := v.count(t)
	assert.Equal(t, before-1, after)
}

// TestNamesOfRunsAreKnown holds the names of a run to what finds them again.
func TestNamesOfRunsAreKnown(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	c := everything(t, v)
	o := optionsAlone(t, c)
	o.ID, o.Select.Only, o.Keep = runID(), []string{"CP-AUTH-*", "CP-CREATE-*"}, true
	_, err := steps.Run(t.Context(), o)
	require.NoError(t, err)
	all, _ := v.ask(t, http.MethodGet, "/v2/deployments?limit=100", nil)["resources"].([]any)
	require.NotEmpty(t, all)
	for _, each := range all {
		name, _ := each.(map[string]any)["name"].(string)
		assert.Equal(t, o.ID, target.RunOf(name), name)
	}
	left, _, err := steps.Lost(t.Context(), c, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, left, "they are new")
}

// TestLostWithoutAListOrAnAge removes nothing of which the age is not known, and says that there is no list.
func TestLostWithoutAListOrAnAge(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"detail": "Not Found"}`: "does not list deployments",
		`{"resources": [{"id": "5f0c8a54-7ac1-4e29-9d0d-8f1f3b4f7a10", "name": "agentconform-0a1b2c3d-shared-1", "created_at": 7}], "offset": 1}`: "",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if want != "" || strings.HasSuffix(r.URL.Path, "/revisions") {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		left, ageless, err := steps.Lost(t.Context(), addresses(t, s.URL, "", "the-key"), time.Hour)
		assert.Empty(t, left)
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []string{"deployment agentconform-0a1b2c3d-shared-1"}, ageless)
	}
}

// TestThreadsOfLostRuns finds those of each user by their metadata.
func TestThreadsOfLostRuns(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	whole := everything(t, v)
	c := addresses(t, "", v.AgentURL(), "")
	c.Users = whole.Users
	require.Greater(t, len(c.Users), 1)
	require.NoError(t, c.Complete())
	for _, u := range c.Users[:2] {
		for _, metadata := range []string{`{"agentconform": "agentconform-0a1b2c3d-listed-1"}`, `{"agentconform": "mine"}`, `{}`} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.AgentURL()+"/threads", strings.NewReader(`{"metadata": `+metadata+`}`))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+u.Token)
			a, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			_ = a.Body.Close()
			require.Equal(t, http.StatusOK, a.StatusCode)
		}
	}
	left, ageless, err := steps.Lost(t.Context(), c, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Empty(t, ageless)
	left, _, err = steps.Lost(t.Context(), c, time.Nanosecond)
	require.NoError(t, err)
	require.Len(t, left, 2)
	assert.Equal(t, []string{"users.0", "users.1"}, []string{left[0].Owner, left[1].Owner})
	require.NoError(t, steps.Clean(t.Context(), c, left, func(_ evidence.Left, problem string) { assert.Empty(t, problem) }))
	left, _, err = steps.Lost(t.Context(), c, time.Nanosecond)
	require.NoError(t, err)
	assert.Empty(t, left)
}
