package config

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
)

// Names reports whether target or agent_target has the origin of an address.
func (c *Config) Names(address string) bool {
	origin := Origin(address)
	return origin != "" && slices.Contains([]string{Origin(c.Target), Origin(c.AgentTarget)}, origin)
}

// TakesHeaders reports whether the headers for a gateway are sent to an address: the configuration contains the address,
// or its host is one of header_hosts.
func (c *Config) TakesHeaders(address string) bool {
	return c.Names(address) || slices.ContainsFunc(c.HeaderHosts, func(listed string) bool { return isAt(address, listed) })
}

// isAt reports whether the host of an address is one of header_hosts: "host" with any port, "host:port", or "*.domain"
// for hosts with one more label.
func isAt(address, listed string) bool {
	at := reports.HostPort(address)
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return false
	}
	wanted, ofPort, err := net.SplitHostPort(strings.ToLower(listed))
	if err != nil { // without a port
		wanted = strings.Trim(strings.ToLower(listed), "[]")
		ofPort = port
	}
	domain, isWildcard := strings.CutPrefix(wanted, "*.")
	if isWildcard {
		_, host, _ = strings.Cut(host, ".")
		wanted = domain
	}
	return host == wanted && port == ofPort
}

// Origin returns the origin of an address, or "" if it has none.
func Origin(address string) string {
	u, err := url.Parse(address)
	at := reports.HostPort(address)
	if err != nil || at == "" {
		return ""
	}
	return u.Scheme + "://" + at
}

// Header returns the header with the credentials of the user.
func (u User) Header() http.Header {
	if len(u.Headers) > 0 {
		return HeaderOf(u.Headers)
	}
	return http.Header{"Authorization": {"Bearer " + u.Token}}
}

// WithToken returns the header of the user with another token in place of each secret, after the scheme.
func (u User) WithToken(token string) http.Header {
	h := u.Header()
	for name := range h {
		value := h.Get(name)
		if isPublic("users.0.headers."+name, value) {
			continue
		}
		scheme := value[:strings.IndexByte(value, ' ')+1]
		h.Set(name, scheme+token)
	}
	return h
}

// HeaderOf returns a header with configured values.
func HeaderOf(values map[string]string) http.Header {
	h := http.Header{}
	for name, value := range values {
		h.Set(name, value)
	}
	return h
}

// Connection returns how the configured addresses are reached, without secrets, for the reports. It returns nil if only
// the addresses are configured.
func (c *Config) Connection() *reports.Connection {
	if c.TLS == (TLS{}) && c.Proxy == "" && len(c.Resolve) == 0 && c.Socket == (Sockets{}) {
		return nil
	}
	via := &reports.Connection{
		CA: c.TLS.CA, Cert: c.TLS.Cert, Key: c.TLS.Key,
		ServerName: c.TLS.ServerName, Insecure: c.TLS.Insecure,
		Proxy:   c.Proxy,
		Resolve: map[string]string{}, Sockets: map[string]string{},
	}
	if len(ProxySecrets(c.Proxy)) > 0 {
		via.Proxy = reports.ProxyVariable
	}
	for host, ip := range c.Resolve {
		via.Resolve[strings.ToLower(host)] = ip
	}
	for _, each := range [][2]string{{c.Target, c.Socket.ControlPlane}, {c.AgentTarget, c.Socket.AgentServer}} {
		at, socket := reports.HostPort(each[0]), each[1]
		if at != "" && !slices.Contains(via.Hosts, at) {
			via.Hosts = append(via.Hosts, at)
		}
		if at != "" && socket != "" {
			via.Sockets[at] = socket
		}
	}
	return via
}

// Client returns the settings of TLS connections to the addresses that the configuration names. Keys that are not set
// have their defaults. The error names the key.
func (t TLS) Client() (*tls.Config, *Error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName,
		InsecureSkipVerify: t.Insecure} //nolint:gosec // the user has set the key, and every report shows it
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		text, err := outfile.Read(t.CA, maxFile)
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("it does not contain a certificate in PEM form")
		}
		if err != nil {
			return nil, &Error{"configuration", "tls.ca", "the file " + t.CA + " cannot be used: " + reason(err),
				"name a readable PEM file"}
		}
	}
	if t.Cert == "" {
		if t.Key != "" {
			return nil, &Error{"configuration", "tls.key", "is set, but tls.cert is not",
				"set tls.cert to the file of the client certificate"}
		}
		return c, nil
	}
	key := cmp.Or(t.Key, t.Cert)
	pair, err := tls.LoadX509KeyPair(t.Cert, key)
	if err != nil {
		problem := fmt.Sprintf("%s with the key in %s cannot be used: %s", t.Cert, key, err)
		return nil, &Error{"configuration", "tls.cert", problem,
			"name PEM files of a certificate and of its private key, which is not encrypted"}
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// Every returns the minimum time between two requests by the key rate ("5/s", "300/m", "1000/h"), or 0 if there is no
// limit. The configuration must have been validated.
func (c *Config) Every() time.Duration {
	number, unit, _ := strings.Cut(c.Rate, "/")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	period := time.Second
	switch unit {
	case "m":
		period = time.Minute
	case "h":
		period = time.Hour
	}
	return period / time.Duration(n)
}
