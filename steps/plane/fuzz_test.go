package plane

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

// FuzzAddressesIn checks that AddressesIn returns only a few strings, and that all of them are URLs with a host.
func FuzzAddressesIn(f *testing.F) {
	deployment := `{"id":"d","source_config":{"repo_url":"https://git.example/r"},"extra":[{"agent.url":"http://a.example:1/"}]}`
	f.Add([]byte(deployment), []byte(`{"repo_url":"https://git.example/r"}`))
	f.Add([]byte(`["http://a","http://b","http://c","http://d"]`), []byte(`{}`))
	f.Add([]byte(`{"":{"*":"http://a","a\\b":"http://b","#":"http://c"}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, body, sent []byte) {
		a := &exchange.Response{Status: 200, Body: body}
		found := AddressesIn(a, sent)
		require.LessOrEqual(t, len(found), 3)
		for _, at := range found {
			u, err := url.Parse(at.URL)
			require.NoError(t, err)
			require.Contains(t, []string{"http", "https"}, u.Scheme)
			require.NotEmpty(t, u.Host)
		}
	})
}
