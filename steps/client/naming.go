package client

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// The keys of the configuration that allow a refused address.
const (
	KeyPrivate = "allow_private"
	KeyAgent   = "agent_target"
)

// Naming decides whether requests may be sent to the agent server addresses that a control plane returns. An untrusted
// control plane must not direct requests, with the tokens of users, into the network of the machine on which the suite
// runs. Therefore an agent server must be at least as public as the control plane. The address is checked first, and then
// each connection, since a name may resolve to another IP address each time. The methods may be called concurrently.
type Naming struct {
	Plane        string // base URL of the control plane, or ""
	Agent        string // base URL of the agent server in the configuration, or ""
	AllowPrivate bool   // the key allow_private
	Route        Route  // how addresses are reached

	seen atomic.Int32 // 1 + the most public place at which a connection reached the control plane, or 0
}

// refuse returns the error for an address that is refused unless the key is set. If agent_target is set, it is not a
// remedy, because it does not replace the address of a deployment.
func (r *Naming) refuse(key, why string) *exchange.RefusedAddress {
	switch {
	case key == KeyPrivate:
		return &exchange.RefusedAddress{Why: why, Key: key, Remedy: "set allow_private to true if it is right"}
	case r.Agent != "":
		return &exchange.RefusedAddress{Why: why, Remedy: "correct the address that the target gives to the deployment"}
	}
	return &exchange.RefusedAddress{Why: why, Key: key, Remedy: "set agent_target if it is right"}
}

// Base checks whether requests may be sent to the agent server URL that the control plane returned, and returns it as
// a base URL. The error is an [exchange.RefusedAddress].
func (r *Naming) Base(address string) (base string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", r.refuse(KeyAgent, "it is not a URL")
	}
	host := canonical(u.Hostname())
	at, written := placeOfHost(host)
	why := ""
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		why = "it does not begin with http:// or https://"
	case host == "":
		why = "it has no host"
	case u.User != nil:
		why = "it contains a user name or password"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		why = "it has a query or a fragment"
	case u.Scheme == "http" && strings.HasPrefix(strings.ToLower(r.Plane), "https:") && at != loopback:
		why = "it uses http, and the control plane uses https"
	}
	if why != "" {
		return "", r.refuse(KeyAgent, why)
	}
	refused := r.allows(at)
	switch {
	case r.holds(host):
	case written && refused != nil:
		return "", refused
	case !written && !r.AllowPrivate && r.Route.ProxyOf(address) != nil:
		return "", r.refuse(KeyPrivate, "to where its host name leads is not seen behind a proxy")
	}
	return strings.TrimRight(address, "/"), nil
}

// allows returns an error if an agent server must not be at the place.
func (r *Naming) allows(at place) *exchange.RefusedAddress {
	plane := r.plane()
	switch {
	case at >= link:
		const why = "it is a multicast, unspecified or reserved address, or one at which a cloud metadata service may be"
		return r.refuse(KeyAgent, why)
	case at == loopback && plane != loopback:
		return r.refuse(KeyAgent, "it is on this machine (loopback), and the control plane is not")
	case at == private && plane == public && !r.AllowPrivate:
		return r.refuse(KeyPrivate, "it is on a private network, and the control plane is not")
	}
	return nil
}

// connects checks the IP address of a host before a connection is made. The error is an [exchange.RefusedAddress]. A host
// of the configuration may resolve to any address whose place is not never. An IP address in the configuration is always
// allowed.
func (r *Naming) connects(host string, ip netip.Addr) error {
	if r == nil {
		return nil
	}
	host = canonical(host)
	_, notIP := netip.ParseAddr(host)
	at := placeOf(ip)
	refused := r.allows(at)
	if refused == nil || r.holds(host) && (notIP == nil || at != never) {
		return nil
	}
	return &exchange.RefusedAddress{Why: fmt.Sprintf("it leads to %s: %s", ip, refused.Why), Key: refused.Key, Remedy: refused.Remedy}
}

// connected records the address of a connection to a host and port.
func (r *Naming) connected(hostPort string, at net.Addr) {
	if r == nil || r.Plane == "" || hostPort != reports.HostPort(r.Plane) {
		return
	}
	reached, err := netip.ParseAddrPort(at.String())
	if err != nil {
		return
	}
	is := int32(placeOf(reached.Addr())) + 1
	for before := r.seen.Load(); before == 0 || is < before; before = r.seen.Load() {
		if r.seen.CompareAndSwap(before, is) {
			return
		}
	}
}

// plane returns the place of the control plane according to the configuration, or the most public place at which a
// connection reached it. Behind a proxy this is unknown, and plane returns public.
func (r *Naming) plane() place {
	host := hostOf(r.Plane)
	if r.Route.Sockets[reports.HostPort(r.Plane)] != "" {
		return loopback
	}
	if ip := r.Route.Resolve[host]; ip != "" {
		host = ip
	}
	at, written := placeOfHost(host)
	if !written {
		at = place(max(r.seen.Load()-1, 0))
	}
	if at >= link { // the control plane is there, so that this is the user's own network
		at = private
	}
	return at
}

// holds reports whether the configuration contains a host.
func (r *Naming) holds(host string) bool {
	return host == hostOf(r.Plane) || host == hostOf(r.Agent) || r.Route.Resolve[host] != ""
}

// hostOf returns the host of a URL in lower case without a final dot, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return canonical(u.Hostname())
}

func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// place is how accessible an address is. Higher values are less accessible.
type place int

const (
	public   place = iota
	private        // a private network
	loopback       // this machine
	link           // IPv4 link-local, where clouds have load balancers
	never          // multicast, unspecified, reserved, or possibly a cloud metadata service
)

// blocks lists the address blocks that are not public. The first that contains an address counts.
var blocks = []struct {
	at       place
	prefixes []netip.Prefix
}{
	// Clouds serve credentials at these addresses to everybody. Not even a host name of the configuration may resolve to
	// them.
	{never, prefixes("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "169.254.42.42/32",
		"169.254.0.23/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
		"fd00:ec2::/32", "fd20:ce::254/128", "fe80::a9fe:a9fe/128")},
	{loopback, prefixes("127.0.0.0/8", "::1/128")},
	{link, prefixes("169.254.0.0/16")},
	// Most of the IPv6 blocks contain arbitrary IPv4 addresses.
	{never, prefixes("0.0.0.0/8", "224.0.0.0/3", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "2002::/16", "ff00::/8")},
	{private, prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fe80::/10", "fec0::/10")},
	// Blocks of carriers, of protocols, for benchmarks and for documentation.
	{private, prefixes("100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "2001::/23", "2001:db8::/32", "100::/64")},
}

// nat64 contains IPv4 addresses. Networks with IPv6 only reach public servers through it.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(all ...string) (parsed []netip.Prefix) {
	for _, p := range all {
		parsed = append(parsed, netip.MustParsePrefix(p))
	}
	return parsed
}

// placeOf returns the kind of network of an IP address, or of the IPv4 address that it contains.
func placeOf(ip netip.Addr) place {
	ip = ip.Unmap().WithZone("")
	carries := nat64.Contains(ip)
	if carries {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	holds := func(p netip.Prefix) bool { return p.Contains(ip) }
	for _, b := range blocks {
		if slices.ContainsFunc(b.prefixes, holds) {
			if carries && b.at > private {
				return never
			}
			return b.at
		}
	}
	return public
}

// OnThisMachine reports whether an address is on the loopback interface. It does not resolve names.
func OnThisMachine(address string) bool {
	at, _ := placeOfHost(hostOf(address))
	return at == loopback
}

// placeOfHost returns the place of a host without resolving names. Written is false if the place of a name is unknown.
func placeOfHost(host string) (at place, written bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return placeOf(ip), true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "localhost", strings.HasSuffix(host, ".localhost"):
		return loopback, true
	case strings.Trim(last, "0123456789") == "", strings.HasPrefix(last, "0x"): // an address for some resolvers: 127.1
		return never, true
	}
	return never, slices.Contains([]string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
		"instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net"}, host)
}
