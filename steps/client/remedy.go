package client

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// The remedies for requests without a response. They never name a key that is already set or has no effect on the
// address: tls.cert, tls.key and tls.server_name apply only to addresses of the configuration.

// keyOf returns the key of the configuration with the host and port of a base address, or "".
func (r *Route) keyOf(base string) string {
	at := reports.HostPort(base)
	switch {
	case r.Names == nil:
	case base == r.Names.Agent, at == reports.HostPort(r.Names.Agent) && at != reports.HostPort(r.Names.Plane):
		return "agent_target"
	case at == reports.HostPort(r.Names.Plane):
		return "target"
	}
	return ""
}

// remedyOfTCP returns the remedy for a connection that cannot be made.
func (r *Route) remedyOfTCP(base string) string {
	socket, key := r.Sockets[reports.HostPort(base)], r.keyOf(base)
	switch {
	case socket != "":
		return "start the target, or correct socket (it is " + socket + ")"
	case key == "":
		return "start the server, or correct the URL that the control plane names"
	}
	return "start the target, or correct " + key
}

// remedyOfDNS returns the remedy for a host name that is not resolved.
func (r *Route) remedyOfDNS(base string) string {
	host, _, _ := net.SplitHostPort(reports.HostPort(base))
	name := "the host name in " + r.keyOf(base)
	if r.keyOf(base) == "" {
		name = "the URL that the control plane names"
	}
	return "correct " + name + "; if only a proxy knows it, set proxy; if no DNS server does, set resolve with the IP address of " + host
}

// toScheme returns the remedy for an address with the wrong scheme.
func (r *Route) toScheme(base, scheme string) string {
	key := r.keyOf(base)
	if key == "" {
		return "have the control plane name an " + scheme + ":// address"
	}
	if base != r.Names.Plane && base != r.Names.Agent {
		return "use " + scheme + ":// in " + key
	}
	_, rest, _ := strings.Cut(base, "://")
	return "set " + key + " to " + scheme + "://" + rest
}

// remedyOfProxy returns the remedy for a proxy that does not connect to the target.
func (r *Route) remedyOfProxy(base string, status int) string {
	if status == http.StatusProxyAuthRequired {
		return r.ProxyPassword(base)
	}
	return "correct the address, let the proxy connect to it, or set resolve to go past the proxy"
}

// ProxyPassword returns the remedy for a proxy that refuses the user name and password, or requires them.
func (r *Route) ProxyPassword(base string) string {
	proxy := "HTTP_PROXY or HTTPS_PROXY"
	if r.Proxy != nil {
		proxy = "proxy"
	}
	request, err := http.NewRequest(http.MethodGet, base, nil)
	if err == nil {
		used, err := r.proxy(request)
		if err == nil && used != nil && used.User != nil {
			return "correct user name and password in the URL of " + proxy
		}
	}
	return "write user name and password into the URL of " + proxy
}

// remedyOfTLS returns the remedy for a failed TLS connection. It never suggests turning verification off, because the
// requests carry credentials.
func (r *Route) remedyOfTLS(base string, err error) string {
	secure, isNamed := r.TLS, r.keyOf(base) != "" || slices.Contains(r.Hosts, reports.HostPort(base))
	if secure == nil {
		secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name) && isNamed && secure.ServerName != "":
		return "correct tls.server_name: the certificate is for " + namesOf(name.Certificate)
	case errors.As(err, &name) && isNamed:
		return "use a host name of the certificate (" + namesOf(name.Certificate) + "), or set tls.server_name"
	case errors.As(err, &name):
		return "have the control plane name a host of the certificate: " + namesOf(name.Certificate)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the certificate, or correct the clock"
	case errors.As(err, &unverified):
		return remedyOfAuthority(secure.RootCAs != nil, unverified.UnverifiedCertificates)
	case errors.As(err, new(tls.RecordHeaderError)):
		return "the server does not speak TLS: " + r.toScheme(base, "http")
	case isNamed && len(secure.Certificates) > 0:
		return "correct tls.cert and tls.key if the server refuses this client certificate, " +
			"else have it speak TLS 1.2 or newer for this host"
	case !isNamed && r.Names != nil && r.Names.Agent != "": // agent_target is set, but is not the address of the deployment
		return "have the server demand no client certificate (only target and agent_target get one), " +
			"and speak TLS 1.2 or newer for this host"
	case !isNamed:
		return "set agent_target if the server wants a client certificate (only target and agent_target get one), " +
			"else have it speak TLS 1.2 or newer for this host"
	}
	return "set tls.cert and tls.key if the server wants a client certificate, " +
		"else have it speak TLS 1.2 or newer for this host"
}

// remedyOfAuthority returns the remedy for a certificate of an unknown authority. The authority of a self-signed
// certificate is the certificate itself.
func remedyOfAuthority(hasCA bool, chain []*x509.Certificate) string {
	file := "the certificate of its authority"
	if len(chain) > 0 {
		file += fmt.Sprintf(" (%.200q)", chain[len(chain)-1].Issuer.String())
		if len(chain) == 1 && bytes.Equal(chain[0].RawIssuer, chain[0].RawSubject) {
			file = "that certificate (it is self-signed)"
		}
	}
	if hasCA {
		return "add " + file + " to the file of tls.ca"
	}
	return "set tls.ca to a file with " + file
}
