package target

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

func TestDisguise_Paths(t *testing.T) {
	const id = "0a1b2c3d-4e5f-4000-8000-00000000abcd"
	cfg := config.Default()
	target, err := New(Options{Config: &cfg})
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })
	for how, want := range map[string]string{
		"a doubled slash within":      "/threads//" + id + "/state",
		"a path parameter":            "/threads;x=1/" + id + "/state",
		"a path parameter at the end": "/threads/" + id + "/state;x=1",
		"capital letters":             "/THREADS/" + id + "/STATE",
		"dot segments":                "/./threads/" + id + "/state",
		"ids in braces":               "/threads/%7B" + id + "%7D/state",
		"ids after urn:uuid:":         "/threads/urn:uuid:" + id + "/state",
	} {
		d, err := target.Disguise(how, id)
		require.NoError(t, err, how)
		assert.Empty(t, d.Claim, how)
		assert.Equal(t, want, d.Paths("/threads/" + id + "/state")[0], how)
	}
	other, err := target.Disguise("another version")
	require.NoError(t, err)
	assert.Equal(t, []string{"/v1/deployments", "/v3/deployments", "/deployments", "/api/v2/deployments"}, other.Paths("/v2/deployments"))
	d, err := target.Disguise("ids in braces", id)
	require.NoError(t, err)
	assert.Empty(t, d.Paths("/threads"), "a path without the id has no other form")
	_, err = target.Disguise("ids in braces", "thread-1")
	assert.True(t, outcome.Is(err, reports.Skipped), "%v", err)
	d, err = target.Disguise("headers that override the path")
	require.NoError(t, err)
	assert.Equal(t, []string{"/threads"}, d.Paths("/threads"))
}

func TestWithCookiesOf(t *testing.T) {
	response := func(cookies ...string) *exchange.Response {
		return &exchange.Response{Header: http.Header{"Set-Cookie": cookies}}
	}
	cfg := config.Default()
	target, err := New(Options{Config: &cfg})
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })
	d, err := target.WithCookiesOf(response("b=1; Path=/", "a=2"), response(), response("b=3; HttpOnly"))
	require.NoError(t, err)
	assert.Equal(t, http.Header{"Cookie": {"a=2; b=3"}}, d.Claim)
	_, err = target.WithCookiesOf(response())
	assert.True(t, outcome.Is(err, reports.Skipped), "%v", err)

	cfg.Users = []config.User{{Name: "ada", Headers: map[string]string{"cookie": "sid=secret"}}}
	withCookie, err := New(Options{Config: &cfg})
	require.NoError(t, err)
	t.Cleanup(func() { _ = withCookie.Close() })
	_, err = withCookie.WithCookiesOf(response("sid=1"))
	assert.True(t, outcome.Is(err, reports.Skipped), "the credentials of a user are a cookie: %v", err)
}
