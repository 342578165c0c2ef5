package client

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// NamedBy checks whether the credentials of users may be sent to the agent server URL that a control plane returned, and
// returns it as a base URL. A configured URL is not checked.
func NamedBy(plane, address string) (base string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("it is not a URL")
	}
	p, err := url.Parse(plane)
	if err != nil {
		return "", err
	}
	ip, noIP := netip.ParseAddr(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("it does not begin with http:// or https://")
	case u.Hostname() == "":
		return "", errors.New("it has no host")
	case u.User != nil:
		return "", errors.New("it contains a user name or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("it has a query or a fragment")
	case !sameHost(u, p) && (noIP == nil && isReserved(ip) || isMetadata(u.Hostname())):
		return "", errReserved
	case p.Scheme == "https" && u.Scheme == "http" && !loopback(u.Hostname()):
		return "", errors.New("it uses http, and the control plane uses https")
	}
	return strings.TrimRight(address, "/"), nil
}

func sameHost(a, b *url.URL) bool { return strings.EqualFold(a.Hostname(), b.Hostname()) }

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		host = strings.ToLower(host)
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	return ip.Unmap().IsLoopback()
}

// Guard makes the client refuse connections to the host of a base address that a target has named, unless it is also
// that of the configured one, if the name resolves to a reserved address.
func (c *Client) Guard(plane, base string) {
	p, err1 := url.Parse(plane)
	u, err2 := url.Parse(base)
	if err1 == nil && err2 == nil && !sameHost(p, u) {
		c.guarded.Store(strings.ToLower(u.Hostname()), true)
	}
}
