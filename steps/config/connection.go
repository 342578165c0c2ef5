package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Headers are sent with every request to the addresses that the configuration names (target, agent_target), also with those
// without credentials: what a gateway in front of the target wants. The names are those of headers, the values are secrets.
type Headers struct {
	ControlPlane map[string]string `yaml:"control_plane"`
	AgentServer  map[string]string `yaml:"agent_server"`
}

// TLS says how certificates are verified and which client certificate is shown. The files are PEM; a relative path in a
// configuration file is relative to its folder.
type TLS struct {
	CA         string `yaml:"ca"`          // trusted in place of the system's authorities
	Cert       string `yaml:"cert"`        // shown to target and agent_target only
	Key        string `yaml:"key"`         // of Cert; "": it is in the same file
	ServerName string `yaml:"server_name"` // expected of target and agent_target in place of the host
	Insecure   bool   `yaml:"insecure"`    // certificates are not verified
}

// Sockets are the paths of Unix domain sockets through which the hosts of target and agent_target are reached.
type Sockets struct {
	ControlPlane string `yaml:"control_plane"`
	AgentServer  string `yaml:"agent_server"`
}

// Names tells whether the configuration names the origin of an address: that of target or of agent_target.
func (c *Config) Names(address string) bool {
	origin := originOf(address)
	return origin != "" && slices.Contains([]string{originOf(c.Target), originOf(c.AgentTarget)}, origin)
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if at := reports.HostPort(address); err == nil && at != "" {
		return u.Scheme + "://" + at
	}
	return ""
}

// Gateway returns the headers of a group, which go to an address that the configuration names.
func (group Headers) Gateway(agentServer bool) http.Header {
	values := group.ControlPlane
	if agentServer {
		values = group.AgentServer
	}
	h := http.Header{}
	for name, value := range values {
		h[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return h
}

// Connection is how the configured addresses are reached, as reports hold it: without secrets. It is nil where no key says
// more than the addresses.
func (c *Config) Connection() *reports.Connection {
	if c.TLS == (TLS{}) && c.Proxy == "" && len(c.Resolve) == 0 && c.Socket == (Sockets{}) {
		return nil
	}
	via := &reports.Connection{CA: c.TLS.CA, Cert: c.TLS.Cert, Key: c.TLS.Key, ServerName: c.TLS.ServerName, Insecure: c.TLS.Insecure,
		Proxy: c.Proxy, Resolve: map[string]string{}, Sockets: map[string]string{}}
	if u, err := url.Parse(c.Proxy); err == nil && u.User != nil {
		via.Proxy = reports.ProxyVariable
	}
	for host, ip := range c.Resolve {
		via.Resolve[strings.ToLower(host)] = ip
	}
	for _, each := range []struct{ address, socket string }{{c.Target, c.Socket.ControlPlane}, {c.AgentTarget, c.Socket.AgentServer}} {
		at := reports.HostPort(each.address)
		if at != "" && !slices.Contains(via.Hosts, at) {
			via.Hosts = append(via.Hosts, at)
		}
		if at != "" && each.socket != "" {
			via.Sockets[at] = each.socket
		}
	}
	return via
}

// ProxySecrets are the parts of a proxy's URL that nobody may see. As in HTTP_PROXY the scheme may be missing.
func ProxySecrets(address string) (secrets []string) {
	user := userOf(address)
	if user == nil {
		return nil
	}
	secret, both := user.Password()
	if !both {
		secret = user.Username() // a token
	}
	return []string{address, user.String(), user.Username() + ":" + secret, secret}
}
