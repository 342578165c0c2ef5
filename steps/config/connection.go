package config

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
)

// Names tells whether the configuration names the origin of an address: that of target or of agent_target.
func (c *Config) Names(address string) bool {
	origin := Origin(address)
	return origin != "" && slices.Contains([]string{Origin(c.Target), Origin(c.AgentTarget)}, origin)
}

// Origin is the origin of an address, "" where it has none.
func Origin(address string) string {
	u, err := url.Parse(address)
	if at := reports.HostPort(address); err == nil && at != "" {
		return u.Scheme + "://" + at
	}
	return ""
}

// Header is the header with which the user asks.
func (u User) Header() http.Header {
	if len(u.Headers) > 0 {
		return HeaderOf(u.Headers)
	}
	return http.Header{"Authorization": {"Bearer " + u.Token}}
}

// HeaderOf is a header with the values of a configuration.
func HeaderOf(values map[string]string) http.Header {
	h := http.Header{}
	for name, value := range values {
		h.Set(name, value)
	}
	return h
}

// Connection is how the configured addresses are reached, as reports hold it: without secrets. It is nil where no key
// says more than the addresses.
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

// Client returns the settings of TLS connections to the addresses that the configuration names. Where no key is set
// these are the defaults. The error names the key.
func (t TLS) Client() (*tls.Config, *Error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName,
		InsecureSkipVerify: t.Insecure} //nolint:gosec // the user asks for it, and every report says it
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		text, err := outfile.Read(t.CA, maxFile)
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("it holds no certificate in PEM form")
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

// Every is how much time lies between two requests at least by the key rate ("5/s", "300/m", "1000/h"), 0 where there
// is no limit. The configuration was validated.
func (c *Config) Every() time.Duration {
	number, unit, _ := strings.Cut(c.Rate, "/")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit] / time.Duration(n)
}
