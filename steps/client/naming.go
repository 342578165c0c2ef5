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

// The keys of the configuration with which a user says that a refused address is right.
const (
	KeyPrivate = "allow_private"
	KeyAgent   = "agent_target"
)

// Naming says which addresses a control plane may name: those of agent servers. An untrusted control plane must not
// lead the tokens of users, or any request, into the network of the machine on which the suite runs. An agent server
// is as public as the control plane, or more so. What is written is checked first, and each connection once more: a
// name may lead to another address each time. It may be used by many goroutines.
type Naming struct {
	Plane        string // base URL of the control plane; "": there is none, and nothing may be named
	Agent        string // base URL of the agent server that the configuration holds; "": none
	AllowPrivate bool   // the key allow_private
	Route        Route  // how addresses are reached

	seen atomic.Int32 // 1 + the most public place at which the control plane was reached; 0: it was not yet
}

// RemedyOf returns what to do if a refused address is right.
func RemedyOf(n *exchange.RefusedAddress) string {
	if n.Key == KeyPrivate {
		return "set allow_private to true, or agent_target, if it is right"
	}
	return "set agent_target if it is right"
}

// Base checks whether requests may be sent to the agent server URL that the control plane returned, and returns it as
// a base URL. The error is an [exchange.RefusedAddress].
func (r *Naming) Base(address string) (base string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", &exchange.RefusedAddress{Why: "it is not a URL", Key: KeyAgent}
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
		return "", &exchange.RefusedAddress{Why: why, Key: KeyAgent}
	}
	switch refused := r.allows(at); {
	case r.holds(host):
	case written && refused != nil:
		return "", refused
	case !written && !r.AllowPrivate && r.Route.ProxyOf(address) != nil:
		return "", &exchange.RefusedAddress{Why: "to where its host name leads is not seen behind a proxy", Key: KeyPrivate}
	}
	return strings.TrimRight(address, "/"), nil
}

// allows decides about a place, from that of the control plane.
func (r *Naming) allows(at place) *exchange.RefusedAddress {
	switch plane := r.plane(); {
	case at >= link:
		const why = "it is a multicast, unspecified or reserved address, or one at which a cloud metadata service may be"
		return &exchange.RefusedAddress{Why: why, Key: KeyAgent}
	case at == loopback && plane != loopback:
		return &exchange.RefusedAddress{Why: "it is on this machine (loopback), and the control plane is not", Key: KeyAgent}
	case at == private && plane == public && !r.AllowPrivate:
		return &exchange.RefusedAddress{Why: "it is on a private network, and the control plane is not", Key: KeyPrivate}
	}
	return nil
}

// connects checks an address to which a host name leads, before a connection is made. The error is an [exchange.RefusedAddress]. A host
// that the configuration holds may lead anywhere but to what is of no server, unless it is that address itself.
func (r *Naming) connects(host string, ip netip.Addr) error {
	if r == nil {
		return nil
	}
	host = canonical(host)
	_, notWritten := netip.ParseAddr(host)
	at := placeOf(ip)
	refused := r.allows(at)
	if refused == nil || r.holds(host) && (notWritten == nil || at != never) {
		return nil
	}
	return &exchange.RefusedAddress{Why: fmt.Sprintf("it leads to %s: %s", ip, refused.Why), Key: refused.Key}
}

// connected notes that a connection to a host and port was made, and at which address.
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

// plane is where the control plane is: as the configuration says, else the most public place at which it was reached.
// Behind a proxy that is not seen: then it is taken for public.
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
	if at >= link { // there is a server: the user's own link
		at = private
	}
	return at
}

// holds tells whether the configuration holds a host.
func (r *Naming) holds(host string) bool {
	return host == hostOf(r.Plane) || host == hostOf(r.Agent) || r.Route.Resolve[host] != ""
}

// hostOf is the host of a URL in lower case, without the dot at its end; "" where there is none.
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

// place says how far from everybody's reach an address is, in order.
type place int

const (
	public   place = iota
	private        // of a network that is not everybody's
	loopback       // this machine
	link           // IPv4 link-local: of no server that a stranger may name, and load balancers of clouds are there
	never          // of no server: multicast, unspecified, reserved, or maybe a cloud metadata service
)

// blocks say where the addresses are that are not public. The first that holds an address counts.
var blocks = []struct {
	at       place
	prefixes []netip.Prefix
}{
	// Clouds serve credentials there to whoever asks: not even a name that the configuration holds may lead there.
	{never, prefixes("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "169.254.42.42/32",
		"169.254.0.23/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
		"fd00:ec2::/32", "fd20:ce::254/128", "fe80::a9fe:a9fe/128")},
	{loopback, prefixes("127.0.0.0/8", "::1/128")},
	{link, prefixes("169.254.0.0/16")},
	// The first of IPv6 carry IPv4 addresses, which may be any.
	{never, prefixes("0.0.0.0/8", "224.0.0.0/3", "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "2002::/16", "ff00::/8")},
	{private, prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fe80::/10", "fec0::/10")},
	// Of carriers, of protocols, for benchmarks and for documents.
	{private, prefixes("100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "2001::/23", "2001:db8::/32", "100::/64")},
}

// nat64 carries IPv4 addresses: where only IPv6 is spoken, public servers are reached through it.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(all ...string) (parsed []netip.Prefix) {
	for _, p := range all {
		parsed = append(parsed, netip.MustParsePrefix(p))
	}
	return parsed
}

// placeOf is where an address is, also where it carries another one.
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

// OnThisMachine tells whether an address is on the loopback interface, by what is written.
func OnThisMachine(address string) bool {
	at, _ := placeOfHost(hostOf(address))
	return at == loopback
}

// placeOfHost is where a host is by what is written, before anything is known of the addresses to which a name leads.
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
