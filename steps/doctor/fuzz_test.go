package doctor

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

// FuzzBaseOf: what is proposed as an address is one for the configuration.
func FuzzBaseOf(f *testing.F) {
	for _, to := range []string{"https://h/v2/deployments", "/login", "javascript://h/v2/deployments", "http://u:p@h/v2/deployments/", "//h/a/v2/deployments?x", "http://h\n/v2/deployments", "http://%00/v2/deployments"} {
		f.Add(to, "/v2/deployments")
	}
	f.Fuzz(func(t *testing.T, location, path string) {
		base := baseOf(&probe{request: client.Request{Base: "http://target.example", Path: path}}, location)
		if base == "its base URL" {
			return
		}
		u, err := url.Parse(base)
		require.NoError(t, err)
		require.Contains(t, []string{"http", "https"}, u.Scheme)
		require.NotEmpty(t, u.Host)
		require.Nil(t, u.User)
		require.Empty(t, u.RawQuery+u.Fragment)
	})
}
