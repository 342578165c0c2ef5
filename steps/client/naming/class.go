package naming

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// class says how far from everybody's reach an address is, in order.
type class int

const (
	public   class = iota
	private        // of a network that is not everybody's, or of a block with a special purpose
	loopback       // this machine
	never          // of no server: multicast, unspecified, reserved; or maybe of a cloud metadata service
)

// block is a range of addresses that is not public.
type block struct {
	prefix netip.Prefix
	is     class
}

func blocks(is class, prefixes ...string) (all []block) {
	for _, p := range prefixes {
		all = append(all, block{netip.MustParsePrefix(p), is})
	}
	return all
}

// special are the blocks of the registries of special-purpose addresses (RFC 6890) that are not public. The first that holds an
// address decides.
var special = slices.Concat(
	blocks(never, "0.0.0.0/8", "169.254.0.0/16", // link-local: metadata services of most clouds
		"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128", "fe80::a9fe:a9fe/128", // metadata services
		"224.0.0.0/4", "240.0.0.0/4", "::/128", "ff00::/8"),
	blocks(loopback, "127.0.0.0/8", "::1/128"),
	blocks(private, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // RFC 1918
		"100.64.0.0/10", // shared by the customers of a carrier
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"fc00::/7", "fe80::/10", "fec0::/10", // unique local, link-local, site-local
		"64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"),
)

// metadata are the addresses at which clouds serve credentials to whoever asks: not even a name that the configuration holds may lead there.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("169.254.169.254/32"), netip.MustParsePrefix("169.254.170.2/32"), netip.MustParsePrefix("169.254.170.23/32"),
	netip.MustParsePrefix("169.254.42.42/32"), netip.MustParsePrefix("169.254.0.23/32"), netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("192.0.0.192/32"), netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("fd00:ec2::/32"),
	netip.MustParsePrefix("fd20:ce::254/128"), netip.MustParsePrefix("fe80::a9fe:a9fe/128"),
}

// carriers are blocks of IPv6 addresses that hold an IPv4 address, with the place of its first byte.
var carriers = map[netip.Prefix]int{
	netip.MustParsePrefix("::/96"):           12,
	netip.MustParsePrefix("::ffff:0:0:0/96"): 12, // translated, RFC 2765
	netip.MustParsePrefix("64:ff9b::/96"):    12, // NAT64, RFC 6052
	netip.MustParsePrefix("64:ff9b:1::/48"):  12, // NAT64 of a site, RFC 8215, with a prefix of 96 bits
	netip.MustParsePrefix("2002::/16"):       2,  // 6to4
}

// carried are the IPv4 addresses that an IPv6 address holds.
func carried(ip netip.Addr) (all []netip.Addr) {
	if ip.Is4() || ip == netip.IPv6Loopback() || ip.IsUnspecified() {
		return nil
	}
	bytes := ip.As16()
	for prefix, at := range carriers {
		if prefix.Contains(ip) {
			all = append(all, netip.AddrFrom4([4]byte(bytes[at:at+4])))
		}
	}
	// ISATAP (RFC 5214), under any prefix: 0:5efe or 200:5efe before the address.
	if bytes[8]&^2 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe {
		all = append(all, netip.AddrFrom4([4]byte(bytes[12:])))
	}
	return all
}

// classOf is the class of an address, also where it holds another one.
func classOf(ip netip.Addr) (is class) {
	ip = ip.Unmap().WithZone("")
	if i := slices.IndexFunc(special, func(b block) bool { return b.prefix.Contains(ip) }); i >= 0 {
		is = special[i].is
	}
	for _, held := range carried(ip) {
		switch inner := classOf(held); inner {
		case loopback: // no server is reached at this machine in this way
			return never
		default:
			is = max(is, inner)
		}
	}
	return is
}

// isMetadata tells whether a cloud metadata service may be at the address.
func isMetadata(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(ip) }) || slices.ContainsFunc(carried(ip), isMetadata)
}

// namesMetadata tells whether a name is that of a cloud metadata service.
func namesMetadata(host string) bool {
	return slices.Contains([]string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
		"metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net"}, host)
}

// isNumber tells whether a host is an IPv4 address in a form that some resolvers read and others do not: 127.1, 0x7f000001.
func isNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(strings.TrimPrefix(last, "0x"), 16, 64); strings.HasPrefix(last, "0x") && (err == nil || last == "0x") {
		return true
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func namesLoopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
