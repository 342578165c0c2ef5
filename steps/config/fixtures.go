package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
)

// fixtures accepts an address to listen on, and the URL of a host without a path: clients of a registry look for it at /v2/.
func (v *validator) fixtures(c *Config) {
	f := &c.Fixtures
	v.oneOf("fixtures.graph", f.Graph, Python, JavaScript, Starlark)
	before := len(v.problems)
	v.address("fixtures.advertise", &f.Advertise)
	if f.Advertise != "" && len(v.problems) == before {
		v.advertised(f)
	}
	if f.Serve == "" {
		if f.Advertise != "" {
			v.add("fixtures.serve", "is missing, and fixtures.advertise is set", "set it to the address to listen on, such as 0.0.0.0:8090, or remove fixtures.advertise")
		}
		return
	}
	host, port, err := net.SplitHostPort(f.Serve)
	number, notNumber := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || notNumber != nil:
		v.add("fixtures.serve", fmt.Sprintf("%q is not an address to listen on", f.Serve), "use HOST:PORT, such as 0.0.0.0:8090")
	case f.Advertise == "" && everywhere(host):
		v.add("fixtures.advertise", fmt.Sprintf("is missing, and fixtures.serve %q names no host", f.Serve),
			"set it to the URL at which the target's builder reaches this machine, such as http://ci.example:"+port)
	case f.Advertise != "" && number == 0:
		v.add("fixtures.serve", fmt.Sprintf("%q is another port in each run, and fixtures.advertise names one", f.Serve), "choose a port, such as 8090")
	}
	if c.AgentTarget == "" { // else the users are those of another graph
		v.usersOfGraph(c)
	}
}

func (v *validator) advertised(f *Fixtures) {
	u, _ := url.Parse(f.Advertise) // it was validated
	switch {
	case u.Path != "":
		v.add("fixtures.advertise", fmt.Sprintf("%q has a path", f.Advertise), "use scheme, host and port only, such as http://ci.example:8090")
	case everywhere(u.Hostname()):
		v.add("fixtures.advertise", fmt.Sprintf("%q is not an address that a builder can reach", f.Advertise), "use the name or the address of this machine, such as http://ci.example:8090")
	}
}

// everywhere tells whether an address to listen on is that of all interfaces.
func everywhere(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "" || err == nil && at.IsUnspecified()
}

// usersOfGraph accepts users that the handler of the served graph knows: by token, and with the field role.
func (v *validator) usersOfGraph(c *Config) {
	for i, u := range c.Users {
		key := fmt.Sprintf("users.%d", i)
		if u.Token == "" && len(u.Headers) > 0 {
			v.add(key+".token", "is missing, and the graph of fixtures accepts bearer tokens only", "set it in place of headers, or remove fixtures")
		}
		for _, name := range slices.Sorted(maps.Keys(u.Fields)) {
			if _, text := u.Fields[name].(string); name != "role" || !text {
				v.add(key+".fields."+name, "is not a field that the graph of fixtures adds to a user", "remove it, and use role with a string")
			}
		}
	}
}
