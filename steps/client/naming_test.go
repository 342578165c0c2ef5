package client

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

const secure, open = "https://control.example/api", "http://control.example"

// reachedAt returns the rules for a control plane that connections reached at the addresses.
func reachedAt(plane string, addresses ...string) *Naming {
	r := &Naming{Plane: plane}
	for _, at := range addresses {
		r.connected(strings.TrimPrefix(plane, "http://")+":80", net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at)))
	}
	return r
}

// TestNamedBy checks the form of addresses.
func TestNamedBy(t *testing.T) {
	for _, c := range []struct{ plane, address, want string }{
		{secure, "https://agents.example/a/", "https://agents.example/a"},
		{"https://127.0.0.1", "http://localhost:8123/a", "http://localhost:8123/a"},
		{"https://localhost", "http://127.0.0.1:8123", "http://127.0.0.1:8123"},
		{"https://[::1]:7", "http://[::1]:8123", "http://[::1]:8123"},
		{open, "http://agents.example", "http://agents.example"},
		{open, "https://agents.example", "https://agents.example"},
		{"http://169.254.7.7:80", "http://169.254.7.7:81/a", "http://169.254.7.7:81/a"}, // the user's own link
	} {
		base, err := reachedAt(c.plane).Base(c.address)
		require.NoError(t, err, c.address)
		assert.Equal(t, c.want, base)
	}
	for _, c := range []struct{ plane, address, why string }{
		{open, "file:///etc/passwd", "does not begin with http"},
		{open, "gopher://agents.example/", "does not begin with http"},
		{open, "agents.example", "does not begin with http"},
		{open, "//agents.example", "does not begin with http"},
		{open, "http:agents.example", "no host"},
		{open, "http://:80/", "no host"},
		{open, "http://./", "no host"},
		{open, "http://me:secret@agents.example", "user name or password"},
		{open, "http://control.example@evil.example", "user name or password"},
		{open, "http://agents.example/?to=", "query"},
		{open, "http://agents.example/#a", "fragment"},
		{open, "http://agents.example/\r\nX: y", "not a URL"},
		{open, "http://[::1", "not a URL"},
		{secure, "http://agents.example", "uses http, and"},
		{secure, "http://control.example", "uses http, and"},
		{secure, "http://localhost.evil.example", "uses http, and"},
		{secure, "HTTP://8.8.8.8", "uses http, and"},
	} {
		_, err := reachedAt(c.plane).Base(c.address)
		var refused *exchange.RefusedAddress
		require.ErrorAs(t, err, &refused, c.address)
		assert.Contains(t, refused.Why, c.why, c.address)
		assert.Equal(t, KeyAgent, refused.Key)
	}
}

// TestAddressesThatNoPlaneMayName checks addresses that are refused for each place of the control plane and each value of
// allow_private, unless they are the host that the user configured.
func TestAddressesThatNoPlaneMayName(t *testing.T) {
	for _, host := range []string{
		"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::a9fe:a9fe]",
		"[fe80::a9fe:a9fe%25eth0]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[::ffff:100.100.100.200]",
		"[::ffff:a9fe:a9fe]", "[::a9fe:a9fe]", "[::ffff:0:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"255.255.255.255", "240.0.0.1", "0.1.2.3", "0.0.0.0", "[::]", "224.0.0.1", "[ff02::1]",
		"metadata.google.internal", "METADATA.google.internal.", "metadata.goog", "instance-data.ec2.internal",
		"0xa9fea9fe", "0xa9.254.169.254", "2852039166", "127.1", "0177.0.0.1", "1.2.3.4.5",
	} {
		for _, r := range []*Naming{reachedAt(open), reachedAt(open, "10.0.0.1:80"), {Plane: "http://192.168.0.1", AllowPrivate: true}} {
			_, err := r.Base("http://" + host + "/a")
			require.Error(t, err, host)
			assert.NotContains(t, err.Error(), KeyPrivate)
		}
		_, err := reachedAt("http://" + host).Base("http://" + host + "/a")
		require.NoError(t, err, "%s is the host that the user named", host)
	}
}

// places are addresses by their place, also within IPv6 addresses.
var places = map[string][]string{
	"public":   {"8.8.8.8", "100.128.0.1", "192.0.1.1", "[2a00::1]", "[64:ff9b::808:808]"},
	"private":  {"10.0.0.7", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.254", "192.0.2.1", "198.18.0.1", "[fd12::1]", "[fe80::1%25eth0]", "[fec0::1]", "[2001:db8::1]", "[2001::1]", "[::ffff:10.0.0.7]", "[64:ff9b::a00:7]"},
	"loopback": {"127.0.0.1", "127.255.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "a.localhost", "LOCALHOST.", "127.0.0.1."},
}

// TestWhereAnAgentServerMayBe checks the allowed addresses of agent servers for each place of the control plane and each
// value of allow_private.
func TestWhereAnAgentServerMayBe(t *testing.T) {
	planes := map[string]func() *Naming{
		"public":         func() *Naming { return &Naming{Plane: "http://1.1.1.1"} },
		"public by name": func() *Naming { return reachedAt(open, "1.1.1.1:80") },
		"public by name, after private and before loopback": func() *Naming { return reachedAt(open, "10.0.0.1:80", "1.1.1.1:80", "127.0.0.1:80") },
		"public by resolve": func() *Naming {
			return &Naming{Plane: open, Route: Route{Resolve: map[string]string{"control.example": "1.1.1.1"}}}
		},
		"private":         func() *Naming { return &Naming{Plane: "http://10.1.1.1"} },
		"private by name": func() *Naming { return reachedAt(open, "10.1.1.1:80") },
		"private by resolve": func() *Naming {
			return &Naming{Plane: open, Route: Route{Resolve: map[string]string{"control.example": "fd12::7"}}}
		},
		"private, the user's own link": func() *Naming { return &Naming{Plane: "http://169.254.7.7"} },
		"loopback":                     func() *Naming { return &Naming{Plane: "http://127.0.0.1:8080"} },
		"loopback by name":             func() *Naming { return reachedAt(open, "[::1]:80", "127.0.0.1:80") },
		"loopback, localhost":          func() *Naming { return &Naming{Plane: "http://localhost:8080"} },
		"loopback by a socket": func() *Naming {
			return &Naming{Plane: open, Route: Route{Sockets: map[string]string{"control.example:80": "/run/control"}}}
		},
	}
	for name, plane := range planes {
		for place, hosts := range places {
			for _, host := range hosts {
				for _, key := range []bool{false, true} {
					near, _, _ := strings.Cut(strings.ReplaceAll(name, ",", " "), " ")
					want := place == "public" || near == "loopback" || place == "private" && (near == "private" || key)
					r := plane()
					r.AllowPrivate = key
					_, err := r.Base("http://" + host + ":1/a")
					about := name + " names " + place + " " + host
					assert.Equal(t, want, err == nil, "%s, key %t: %v", about, key, err)
					var refused *exchange.RefusedAddress
					if err != nil && assert.ErrorAs(t, err, &refused) {
						assert.Equal(t, place == "private", refused.Key == KeyPrivate, about)
					}
					if ip, isIP := netip.ParseAddr(strings.NewReplacer("[", "", "]", "", "%25", "%").Replace(host)); isIP == nil {
						assert.Equal(t, want, r.connects("agents.example", ip) == nil, "%s, to which a name leads, key %t", about, key)
					}
				}
			}
		}
	}
}

// TestNamesBehindAProxy checks host names that the proxy resolves.
func TestNamesBehindAProxy(t *testing.T) {
	r := &Naming{Plane: open, Agent: "http://agents.example", Route: Route{Proxy: &url.URL{Scheme: "http", Host: "proxy.example"},
		Resolve: map[string]string{"held.example": "10.0.0.1"}}}
	check := func(address string) error {
		_, err := r.Base(address)
		return err
	}
	for _, held := range []string{"http://control.example/a", "http://AGENTS.example:7", "http://held.example", "http://8.8.8.8"} {
		require.NoError(t, check(held), held)
	}
	for _, other := range []string{"http://evil.example", "http://control.example.evil.example", "http://10.0.0.1", "http://[fd12::1]"} {
		var refused *exchange.RefusedAddress
		require.ErrorAs(t, check(other), &refused, other)
		assert.Equal(t, KeyPrivate, refused.Key, other)
	}
	for _, other := range []string{"http://localhost", "http://127.0.0.1"} {
		require.ErrorContains(t, check(other), "loopback", other)
	}
	r.AllowPrivate = true
	require.NoError(t, check("http://evil.example"))
	require.NoError(t, check("http://10.0.0.1"))
	require.Error(t, check("http://localhost"))
	require.Error(t, check("http://169.254.169.254"))
}

// TestConnections checks that a control plane without a connection so far counts as public, and that not even a host of
// the configuration may resolve to a metadata service.
func TestConnections(t *testing.T) {
	at := netip.MustParseAddr
	r := reachedAt(open)
	require.ErrorContains(t, r.connects("agents.example", at("10.0.0.1")), "it leads to 10.0.0.1: it is on a private network")
	require.ErrorContains(t, r.connects("agents.example", at("127.0.0.1")), "loopback")
	require.NoError(t, r.connects("agents.example", at("8.8.8.8")))
	require.NoError(t, r.connects("control.example", at("10.0.0.1")))
	require.NoError(t, r.connects("control.example", at("169.254.171.32")), "load balancers of clouds are there")
	for _, ip := range []string{"169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "fe80::a9fe:a9fe%eth0", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::", "::a9fe:a9fe", "::ffff:0:a9fe:a9fe", "224.0.0.1"} {
		require.ErrorContains(t, r.connects("control.example", at(ip)), "metadata", ip)
	}
	require.NoError(t, reachedAt("http://169.254.169.254").connects("169.254.169.254", at("169.254.169.254")), "the configuration holds the address")
	var none *Naming
	require.NoError(t, none.connects("a", at("127.0.0.1")))
	none.connected("a", nil)
	other := reachedAt(open)
	other.connected("agents.example:80", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:80")))
	require.Error(t, other.connects("evil.example", at("127.0.0.1")), "only the control plane's own connections tell where it is")
}

func FuzzNamedBy(f *testing.F) {
	f.Add("http://[fe80::1%25eth0]/")
	f.Fuzz(func(t *testing.T, address string) {
		base, err := (&Naming{Plane: "https://127.0.0.1"}).Base(address)
		if err == nil && !strings.HasPrefix(strings.ToLower(base), "https://") {
			assert.Regexp(t, `(?i)^http://([^/]*localhost|127\.|\[)`, base)
		}
	})
}
