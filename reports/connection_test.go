package reports_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

func TestCurlOfAConnection(t *testing.T) {
	hosts := []string{"agents.example:443", "agents.example:8080"}
	for name, c := range map[string]struct {
		via            *reports.Connection
		url            string
		want, shownURL string
	}{
		"none":                   {nil, "https://agents.example/a", "", "https://agents.example/a"},
		"a private CA":           {&reports.Connection{CA: "my ca.pem"}, "https://agents.example/a", "--cacert 'my ca.pem'", "https://agents.example/a"},
		"no TLS":                 {&reports.Connection{CA: "ca.pem", Insecure: true, Cert: "c", ServerName: "n", Hosts: hosts}, "http://agents.example:8080/a", "", "http://agents.example:8080/a"},
		"insecure":               {&reports.Connection{Insecure: true}, "https://agents.example/a", "--insecure", "https://agents.example/a"},
		"a client certificate":   {&reports.Connection{Cert: "a:b.pem", Key: "k", Hosts: hosts}, "https://Agents.example/a", `--cert 'a\:b.pem' --key k`, "https://Agents.example/a"},
		"at another host":        {&reports.Connection{Cert: "c", Key: "k", ServerName: "n", Hosts: hosts}, "https://other.example/a", "", "https://other.example/a"},
		"another name":           {&reports.Connection{ServerName: "name.example", Hosts: hosts}, "https://agents.example/a?b=c", "-H 'Host: agents.example' --connect-to name.example:443:agents.example:443", "https://name.example:443/a?b=c"},
		"another name, resolved": {&reports.Connection{ServerName: "name.example", Resolve: map[string]string{"agents.example": "::1"}, Hosts: hosts}, "https://agents.example/a", "-H 'Host: agents.example' --connect-to 'name.example:443:[::1]:443' --noproxy name.example", "https://name.example:443/a"},
		"resolved":               {&reports.Connection{Resolve: map[string]string{"agents.example": "::1"}, Proxy: "http://p:1"}, "http://agents.example:8080/a", "--connect-to 'agents.example:8080:[::1]:8080' --noproxy agents.example", "http://agents.example:8080/a"},
		"a proxy":                {&reports.Connection{Proxy: "http://p:1"}, "http://agents.example/a", "--proxy http://p:1", "http://agents.example/a"},
		"a proxy with a secret":  {&reports.Connection{Proxy: reports.ProxyVariable}, "http://agents.example/a", `--proxy "$AGENTCONFORM_PROXY"`, "http://agents.example/a"},
		"a socket":               {&reports.Connection{Proxy: "http://p:1", Sockets: map[string]string{"localhost:80": "/run/a b.sock"}}, "http://localhost/a", "--unix-socket '/run/a b.sock'", "http://localhost/a"},
	} {
		t.Run(name, func(t *testing.T) {
			arguments, authority := c.via.Curl(c.url)
			assert.Equal(t, c.want, strings.Join(arguments, " "))
			assert.Equal(t, c.shownURL, reports.WithAuthority(c.url, authority))
		})
	}
}

// TestCurlExpandsNothingElse: a result file may come from anywhere.
func TestCurlExpandsNothingElse(t *testing.T) {
	const evil = "$AGENTCONFORM_PROXY $(reboot)`x`'\"\n;"
	via := &reports.Connection{CA: evil, Cert: evil, Key: evil, Proxy: evil, Hosts: []string{"h:443"}}
	arguments, _ := via.Curl("https://h/a")
	shell := exec.CommandContext(t.Context(), "sh", "-c", "printf '%s|' "+strings.Join(arguments, " "))
	shell.Env = []string{"AGENTCONFORM_PROXY=expanded"}
	out, err := shell.Output()
	require.NoError(t, err)
	assert.Equal(t, strings.Join([]string{"--cacert", evil, "--cert", evil, "--key", evil, "--proxy", evil, ""}, "|"), string(out))
}

func TestHostPort(t *testing.T) {
	for address, want := range map[string]string{
		"https://A.example": "a.example:443", "http://a/b": "a:80", "http://[::1]/b": "[::1]:80", "https://a:1/b": "a:1", "nothing": "", "http://": "", "%": "",
	} {
		assert.Equal(t, want, reports.HostPort(address), address)
	}
}
