package client

import (
	"net/netip"
	"slices"
	"strings"
)

// place says how far from everybody's reach an address is, in order.
type place int

const (
	public   place = iota
	private        // of a network that is not everybody's
	loopback       // this machine
	never          // of no server: multicast, unspecified, reserved, or maybe a cloud metadata service
)

// metadata are the addresses at which clouds serve credentials to whoever asks: not even a name that the
// configuration holds may lead there.
var metadata = prefixes("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "169.254.42.42/32",
	"169.254.0.23/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
	"fd00:ec2::/32", "fd20:ce::254/128", "fe80::a9fe:a9fe/128")

// reserved are further addresses of no server. The IPv6 blocks carry IPv4 addresses, which may be any.
var reserved = prefixes("0.0.0.0/8", "169.254.0.0/16", "240.0.0.0/4", "::/96", "::ffff:0:0:0/96",
	"64:ff9b:1::/48", "2002::/16")

// special are private addresses beyond those that netip knows: of carriers, of protocols, for benchmarks and for
// documents.
var special = prefixes("100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "fec0::/10", "2001::/23", "2001:db8::/32", "100::/64")

// nat64 carries IPv4 addresses: where only IPv6 is spoken, public servers are reached through it.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(all ...string) (parsed []netip.Prefix) {
	for _, p := range all {
		parsed = append(parsed, netip.MustParsePrefix(p))
	}
	return parsed
}

func in(ip netip.Addr, all []netip.Prefix) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// placeOf is where an address is, also where it carries another one.
func placeOf(ip netip.Addr) place {
	carried := bare(ip)
	switch {
	case carried.IsLoopback() && carried == ip.Unmap():
		return loopback
	case carried.IsLoopback(), carried.IsUnspecified(), carried.IsMulticast(),
		in(carried, metadata), in(carried, reserved):
		return never
	case carried.IsPrivate(), carried.IsLinkLocalUnicast(), in(carried, special):
		return private
	}
	return public
}

// bare is an address without zone, or the IPv4 address that it carries.
func bare(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) {
		bytes := ip.As16()
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return ip
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
