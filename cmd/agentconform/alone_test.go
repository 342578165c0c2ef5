package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
)

// vendor is a reference on which somebody has deployed something, and the requests that a run sent to it.
type vendor struct {
	*reference.Server
	key        string
	deployment string

	mu       sync.Mutex
	watching bool
	requests []string // "PATCH /v2/deployments/..."
	keys     []string // API keys that were sent
}

// startVendor starts a reference with a deployment of so many revisions, none where that is 0.
func startVendor(t *testing.T, revisions int, layers ...faults.Layer) *vendor {
	t.Helper()
	v := &vendor{}
	o := reference.Options{}
	for _, apply := range layers {
		apply(&o)
	}
	inner := o.WrapHTTP
	o.WrapHTTP = func(next http.Handler) http.Handler {
		if inner != nil {
			next = inner(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			v.note(r)
			next.ServeHTTP(w, r)
		})
	}
	var err error
	v.Server, err = reference.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, v.Close()) })
	v.key = v.Fixtures().Owner.APIKey
	if revisions > 0 {
		v.deploy(t, revisions)
	}
	v.watching = true
	return v
}

func (v *vendor) note(r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watching {
		v.requests = append(v.requests, r.Method+" "+r.URL.Path)
		v.keys = append(v.keys, r.Header["X-Api-Key"]...)
	}
}

// ask sends a request as the vendor.
func (v *vendor) ask(t *testing.T, method, path string, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, v.ControlPlaneURL()+path, bytes.NewReader(text))
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", v.key)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	var object map[string]any
	_ = json.Unmarshal(answer, &object) // a faulty target may answer anything
	return object
}

func (v *vendor) deploy(t *testing.T, revisions int) {
	t.Helper()
	set := v.Fixtures()
	made := v.ask(t, "POST", "/v2/deployments", set.Create)
	v.deployment = fmt.Sprint(made["id"])
	for n := 1; n <= revisions; n++ {
		if n > 1 {
			v.ask(t, "PATCH", "/v2/deployments/"+v.deployment, map[string]any{"source_revision_config": map[string]any{"repo_ref": set.SecondRef}})
		}
		require.Eventually(t, func() bool {
			d := v.ask(t, "GET", "/v2/deployments/"+v.deployment, nil)
			return v.ask(t, "GET", fmt.Sprintf("/v2/deployments/%s/revisions/%s", v.deployment, d["latest_revision_id"]), nil)["status"] == "DEPLOYED"
		}, 20*time.Second, 5*time.Millisecond)
	}
}

// count returns how many deployments there are, and how many revisions the vendor's has.
func (v *vendor) count(t *testing.T) (deployments, revisions int) {
	t.Helper()
	all, _ := v.ask(t, "GET", "/v2/deployments?limit=100", nil)["resources"].([]any)
	own, _ := v.ask(t, "GET", "/v2/deployments/"+v.deployment+"/revisions?limit=100", nil)["resources"].([]any)
	return len(all), len(own)
}

// addresses are what a user gives who has read nothing: an address, and perhaps a key.
func addresses(t *testing.T, target, agent, key string) *config.Config {
	t.Helper()
	c := config.Default()
	c.Target, c.AgentTarget, c.Credentials.APIKey = target, agent, key
	c.Timeouts.Request = 4 * time.Second
	require.NoError(t, c.Complete())
	return &c
}

// promised is how many requirements doctor promises.
func promised(t *testing.T, c *config.Config) int {
	t.Helper()
	catalogue, oracle := catalogueAndOracle(t)
	e, err := steps.Examine(t.Context(), c, catalogue, oracle, doctor.Options{})
	require.NoError(t, err)
	require.True(t, e.Testable(), e.Conclusion())
	return e.Judged
}

func judgedIn(r *reports.Result) (n int) {
	for _, q := range r.Requirements {
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			n++
		}
	}
	return n
}

// enabling counts for each key the requirements that are skipped because it is missing.
func enabling(r *reports.Result) map[string]int {
	keys := map[string]int{}
	for _, q := range r.Requirements {
		if q.Verdict == reports.Skipped && q.Skip.Kind == reports.NotConfigured {
			keys[q.Skip.Key]++
		}
	}
	return keys
}

// TestAnAddressAlone judges what needs no credentials, sends none and writes nothing.
func TestAnAddressAlone(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 1)
	c := addresses(t, v.ControlPlaneURL(), "", "")
	expected := promised(t, c)
	r := judge(t, c)
	requests, keys := slices.Clone(v.requests), slices.Clone(v.keys)
	assert.GreaterOrEqual(t, judgedIn(r), 8)
	assert.Equal(t, expected, judgedIn(r), "what doctor promises")
	assert.Equal(t, reports.Incomplete, r.Verdict)
	assert.Equal(t, exitIncomplete, concluded(r, nil))
	assert.Equal(t, []string{features.ControlPlane}, r.Unseen)
	assert.Equal(t, "no successful answer of the control plane was seen: set credentials.api_key", r.Headline)
	assert.Equal(t, map[string]int{"credentials.api_key": len(r.Requirements) - judgedIn(r)}, enabling(r))
	assert.NotContains(t, keys, v.key)
	assert.NotContains(t, strings.Join(requests, "\n"), v.deployment)
	assert.Empty(t, r.Ledger)
}

// TestAKeyAlone judges an existing deployment, and only reads it.
func TestAKeyAlone(t *testing.T) {
	t.Parallel()
	for revisions, least := range map[int]int{1: 25, 8: 30} {
		t.Run(fmt.Sprint(revisions, " revisions"), func(t *testing.T) {
			t.Parallel()
			v := startVendor(t, revisions)
			c := addresses(t, v.ControlPlaneURL(), "", v.key)
			deployments, before := v.count(t)
			v.requests = nil
			expected := promised(t, c)
			r := judge(t, c)
			requests := slices.Clone(v.requests)
			for _, q := range r.Requirements {
				assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
			assert.GreaterOrEqual(t, judgedIn(r), least)
			assert.Equal(t, expected, judgedIn(r), "what doctor promises")
			assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
			assert.Equal(t, exitConformant, concluded(r, nil))
			assert.Positive(t, r.LeftOut())
			assert.Empty(t, r.Unseen)
			keys := enabling(r)
			for key, n := range keys {
				assert.LessOrEqual(t, n, keys["create.body"], key)
			}
			now, after := v.count(t)
			assert.Equal(t, []int{deployments, before}, []int{now, after}, "deployments and revisions")
			assert.Empty(t, r.Ledger)
			read := 0
			for _, request := range requests {
				if strings.Contains(request, v.deployment) {
					assert.True(t, strings.HasPrefix(request, "GET "), request)
					read++
				}
			}
			assert.Positive(t, read)
		})
	}
}

// TestAnAgentServerAlone judges refusals without users, and all of it with them.
func TestAnAgentServerAlone(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	c := addresses(t, "", v.AgentURL(), "")
	expected := promised(t, c)
	r := judge(t, c)
	assert.Equal(t, expected, judgedIn(r), "what doctor promises")
	assert.GreaterOrEqual(t, judgedIn(r), 8)
	assert.Equal(t, reports.Incomplete, r.Verdict)
	assert.Equal(t, []string{features.AgentServer}, r.Unseen)
	assert.Equal(t, "no successful answer of the agent server was seen: set users", r.Headline)
	full := config.Default()
	describe(&full, v.Server)
	c.Users, c.AssistantID = full.Users, full.AssistantID
	require.NoError(t, c.Complete())
	expected = promised(t, c)
	r = judge(t, c)
	assert.Equal(t, expected, judgedIn(r), "what doctor promises, with users")
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
}
