package reports_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

var word = regexp.MustCompile(`^('[^']*'|\\'|[\w./:@%+,=-]|"\$AGENTCONFORM_PROXY")*$`)

// FuzzAddress: the host of an address is found, and replaced alone; what curl gets of a connection are words of a shell.
func FuzzAddress(f *testing.F) {
	for _, a := range []string{"http://h", "https://H:1/a?b#c", "http://[::1]:80/", "http://u:p@h/", "//h", "http:/h", "http://h:port/", "http://h\n", "https://%41/", "javascript:x"} {
		f.Add(a, "value", "10.0.0.1")
		f.Add(a, "a'; touch x; '", "::1")
	}
	f.Fuzz(func(t *testing.T, address, value, ip string) {
		at := reports.HostPort(address)
		c := &reports.Connection{CA: value, Cert: value, Key: value, ServerName: "name.example", Proxy: value, Resolve: map[string]string{"h": ip}, Sockets: map[string]string{"h:1": value}, Hosts: []string{at}}
		arguments, authority := c.Curl(address)
		for _, a := range arguments {
			if !strings.Contains(a, "\x00") {
				assert.Regexp(t, word, a)
			}
		}
		u, err := url.Parse(address)
		if at == "" || err != nil {
			require.Empty(t, arguments)
			return
		}
		if strings.Contains(address, "://"+u.Host) && !strings.Contains(address, `\`) {
			moved, err := url.Parse(reports.WithAuthority(address, "other.example:2"))
			require.NoError(t, err)
			require.Equal(t, "other.example:2", moved.Host)
			require.Equal(t, u.Path+"?"+u.RawQuery, moved.Path+"?"+moved.RawQuery)
		}
		require.True(t, authority == "" || strings.HasPrefix(authority, "name.example:"))
	})
}
