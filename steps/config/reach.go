package config

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/reports"
)

// reach validates the keys that say how the target is reached.
func (v *validator) reach(c *Config) {
	v.gateway(c)
	if _, err := c.TLS.Client(); err != nil {
		v.problems = append(v.problems, err)
	}
	if c.TLS.ServerName != "" && !httpguts.ValidHostHeader(c.TLS.ServerName) || strings.ContainsAny(c.TLS.ServerName, ":/") {
		v.add("tls.server_name", fmt.Sprintf("%q is not a host name", c.TLS.ServerName), "use the name in the server's certificate, without a port")
	}
	v.proxy(c)
	for host, ip := range c.Resolve {
		v.resolve(host, ip)
	}
	if c.Socket != (Sockets{}) && c.Target == "" && c.AgentTarget == "" {
		v.add("socket", "is set, but neither target nor agent_target", "set target or agent_target to the URL that the server has on the socket, such as http://localhost")
	}
	if a, b := c.Socket.ControlPlane, c.Socket.AgentServer; a != b && c.Target != "" && reports.HostPort(c.Target) == reports.HostPort(c.AgentTarget) {
		v.add("socket.agent_server", "target and agent_target have the same host and port, but not the same socket", "use another host name in one of the two URLs")
	}
}

// ownHeaders are set by the client itself.
var ownHeaders = []string{"Connection", "Content-Length", "Content-Type", "Host", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// gateway validates headers: none of them is one that decides who asks.
func (v *validator) gateway(c *Config) {
	for group, headers := range map[string]map[string]string{"control_plane": c.Headers.ControlPlane, "agent_server": c.Headers.AgentServer} {
		seen := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			key, canonical := "headers."+group+"."+name, http.CanonicalHeaderKey(name)
			if plainWord(headers[name]) {
				v.header(key, name, "plain") // the name alone is judged
			} else {
				v.header(key, name, headers[name])
			}
			switch instead := c.credentialKey(canonical, group == "agent_server"); {
			case headers[name] == "":
				v.add(key, "is empty", "set its value, or remove it")
			case seen[canonical]:
				v.add(key, "is set twice, in upper and lower case", "remove one of the two")
			case slices.Contains(ownHeaders, canonical):
				v.add(key, "is set by the suite itself", "remove it")
			case canonical == "Proxy-Authorization":
				v.add(key, "is for the proxy", "write user name and password into the URL of proxy")
			case instead != "":
				v.add(key, "is a credential of the target: it would be sent with requests that must have none", "set "+instead+" instead")
			}
			seen[canonical] = true
		}
	}
}

// credentialKey is the key of the credentials that are sent in the header, "" where none are.
func (c *Config) credentialKey(header string, agentServer bool) string {
	is := func(name string) bool { return http.CanonicalHeaderKey(name) == header }
	hasHeader := func(all map[string]string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(name string) bool { return is(name) && !public(name) })
	}
	switch names := c.CredentialHeaders; {
	case agentServer && is("Authorization"):
		return "users.0.token"
	case is(names.APIKey):
		return "credentials.api_key"
	case is(names.TenantID):
		return "credentials.tenant_id"
	case is(names.Bearer), is("Authorization"):
		return "credentials.bearer"
	}
	for i, u := range c.Users {
		if hasHeader(u.Headers) {
			return fmt.Sprintf("users.%d.headers", i)
		}
	}
	if hasHeader(c.Agent.StudioHeaders) {
		return "agent.studio_headers"
	}
	return ""
}

// plainWord tells whether the value of a gateway's header is no secret but a word such as "true" or "qa": replaced wherever it occurs it
// would spoil every report.
func plainWord(value string) bool {
	return value != "" && len(value) < 8 && strings.IndexFunc(value, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

func (v *validator) proxy(c *Config) {
	if c.Proxy == "" {
		return
	}
	const example = "http://proxy.example:3128"
	u, err := url.Parse(c.Proxy)
	switch {
	case err != nil:
		v.add("proxy", "is not a URL", "use a URL such as "+example)
	case !slices.Contains([]string{"http", "https", "socks5h"}, u.Scheme) || u.Hostname() == "" || u.Port() == "":
		v.add("proxy", "is not an http, https or socks5h URL with a port", "use a URL such as "+example)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		v.add("proxy", "has a path, a query or a fragment", "use a URL such as "+example)
	case u.User != nil:
		if secrets := ProxySecrets(c.Proxy); len(secrets[len(secrets)-1]) < ShortestSecret {
			v.add("proxy", fmt.Sprintf("has a password of fewer than %d characters: too short to redact it in reports", ShortestSecret), "use a longer password")
		}
	}
}

func (v *validator) resolve(host, ip string) {
	key := "resolve." + host
	if _, err := netip.ParseAddr(ip); err != nil {
		v.add(key, fmt.Sprintf("%q is not an IP address", ip), "use an address such as 127.0.0.1, without a port: the port is that of the URL")
	}
	if _, err := netip.ParseAddr(host); err == nil || !httpguts.ValidHostHeader(host) || host == "" || strings.ContainsAny(host, ":/") {
		v.add(key, fmt.Sprintf("%q is not a host name", host), "use the host of target or agent_target, without a port")
	}
}

// Client returns the settings of TLS connections to the addresses that the configuration names. Where no key is set these are
// the defaults. The error names the key.
func (t TLS) Client() (*tls.Config, *Error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.Insecure} //nolint:gosec // the user asks for it, and every report says it
	if t.CA != "" {
		text, err := readBounded(t.CA)
		if err != nil {
			return nil, unusable("tls.ca", t.CA, reason(err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, unusable("tls.ca", t.CA, "it holds no certificate in PEM form")
		}
	}
	if t.Cert == "" {
		if t.Key != "" {
			return nil, &Error{Source: "configuration", Key: "tls.key", Problem: "is set, but tls.cert is not", Remedy: "set tls.cert to the file of the client certificate"}
		}
		return c, nil
	}
	certificate, err := t.certificate()
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{certificate}
	return c, nil
}

// certificate reads the client certificate with its key.
func (t TLS) certificate() (none tls.Certificate, wrong *Error) {
	keyFile, key := t.Key, "tls.key"
	if keyFile == "" {
		keyFile, key = t.Cert, "tls.cert"
	}
	chain, err := readBounded(t.Cert)
	if err != nil {
		return none, unusable("tls.cert", t.Cert, reason(err))
	}
	private, err := readBounded(keyFile)
	switch {
	case err != nil:
		return none, unusable(key, keyFile, reason(err))
	case !holds(chain, func(kind string) bool { return kind == "CERTIFICATE" }):
		return none, unusable("tls.cert", t.Cert, "it holds no certificate in PEM form")
	case holds(private, func(kind string) bool { return kind == "ENCRYPTED PRIVATE KEY" }):
		return none, unusable(key, keyFile, "its key is encrypted")
	case !holds(private, func(kind string) bool { return strings.HasSuffix(kind, "PRIVATE KEY") }):
		return none, unusable(key, keyFile, "it holds no private key in PEM form")
	}
	pair, err := tls.X509KeyPair(chain, private)
	if err != nil {
		return none, &Error{Source: "configuration", Key: key, Problem: fmt.Sprintf("the key in %s is not that of the certificate in %s, or one of the two is damaged", keyFile, t.Cert), Remedy: "name the key that belongs to the first certificate of tls.cert"}
	}
	return pair, nil
}

func holds(text []byte, is func(kind string) bool) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if is(block.Type) {
			return true
		}
	}
	return false
}

func unusable(key, path, problem string) *Error {
	return &Error{Source: "configuration", Key: key, Problem: fmt.Sprintf("the file %s cannot be used: %s", path, problem), Remedy: "name a readable PEM file"}
}

// besideFile makes relative paths of a configuration file relative to its folder. It is called before other sources are read.
func (c *Config) besideFile(file string) {
	for _, path := range []*string{&c.TLS.CA, &c.TLS.Cert, &c.TLS.Key, &c.Socket.ControlPlane, &c.Socket.AgentServer} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(file), *path)
		}
	}
}
