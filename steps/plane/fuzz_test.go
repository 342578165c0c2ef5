package plane

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

// FuzzAddressesIn: what is found is few, a URL with a host, and stands where the path says.
func FuzzAddressesIn(f *testing.F) {
	f.Add([]byte(`{"id":"d","source_config":{"repo_url":"https://git.example/r"},"extra":[{"agent.url":"http://a.example:1/"}]}`), []byte(`{"repo_url":"https://git.example/r"}`))
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
