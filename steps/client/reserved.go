package client

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

var errReserved = errors.New("it is a link-local, multicast or unspecified address, a shared or reserved one, or that of a cloud metadata service")

// reserved are blocks in which no agent server can be that a control plane may name, beside those that netip knows.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared by the customers of a carrier; 100.100.100.200 is a metadata service
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("192.0.0.0/24"), // 192.0.0.192 is a metadata service
	netip.MustParsePrefix("240.0.0.0/4"),  // with the broadcast address
	netip.MustParsePrefix("fd00:ec2::/32"),
	netip.MustParsePrefix("fd20:ce::254/128"),
}

// carriers are blocks of IPv6 addresses that hold an IPv4 address, with the byte at which that begins.
var carriers = map[netip.Prefix]int{
	netip.MustParsePrefix("::/96"):          12,
	netip.MustParsePrefix("64:ff9b::/96"):   12, // NAT64, RFC 6052
	netip.MustParsePrefix("64:ff9b:1::/48"): 12, // NAT64 of a site, RFC 8215, with a prefix of 96 bits
	netip.MustParsePrefix("2002::/16"):      2,  // 6to4
}

// isReserved tells whether no agent server can be at the address, but maybe a cloud metadata service.
func isReserved(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return true
	}
	if slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return true
	}
	if ip == netip.IPv6Loopback() {
		return false
	}
	for block, at := range carriers {
		if block.Contains(ip) {
			all := ip.As16()
			held := netip.AddrFrom4([4]byte(all[at : at+4]))
			return held.IsLoopback() || isReserved(held)
		}
	}
	return false
}

// isMetadata tells whether a name is that of a cloud metadata service.
func isMetadata(host string) bool {
	return slices.Contains([]string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"},
		strings.ToLower(strings.TrimSuffix(host, ".")))
}
