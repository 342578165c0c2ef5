package naming

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agentconform/agentconform/reports"
)

// The keys of the configuration with which a user says that a refused address is right.
const (
	KeyPrivate = "allow_private"
	KeyAgent   = "agent_target"
)

// Rules say which addresses a control plane may name. They are made once from a configuration, and serve both the check of what the
// control plane has written and that of each connection: a name may lead to another address each time. They may be used by many goroutines.
type Rules struct {
	Plane        string            // base URL of the control plane; "": there is none, and nothing may be named
	Agent        string            // base URL of the agent server that the configuration holds; "": none
	AllowPrivate bool              // the key allow_private
	Resolve      map[string]string // IP address by host name in lower case
	Sockets      map[string]string // path of a Unix domain socket by "host:port" in lower case
	// Hidden tells whether a proxy is between the suite and a base address: to where a name leads is not seen then.
	Hidden func(base string) bool

	seen atomic.Int32 // 1 + the most public class of the addresses at which the control plane was reached; 0: it was not yet
}

// Refusal says why no request goes to an address that the control plane has named, and with which key the user allows it.
type Refusal struct{ Why, Key string }

func (r *Refusal) Error() string { return r.Why }

// Remedy says what to do if the address is right.
func (r *Refusal) Remedy() string {
	if r.Key == KeyPrivate {
		return "set allow_private to true, or agent_target, if it is right"
	}
	return "set agent_target if it is right"
}

func refuse(why string) *Refusal { return &Refusal{Why: why, Key: KeyAgent} }

const (
	notThere    = "it is a multicast, unspecified or reserved address, or one at which a cloud metadata service may be"
	notLoopback = "it is on this machine (loopback), and the control plane is not"
	notPrivate  = "it is on a private network, and the control plane is not"
)

// Base checks whether requests may be sent to the agent server URL that the control plane returned, and returns it as a base URL. To
// where a name leads is checked with each connection. The error is a *Refusal.
func (r *Rules) Base(address string) (base string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", refuse("it is not a URL")
	}
	host := hostOf(address)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", refuse("it does not begin with http:// or https://")
	case host == "":
		return "", refuse("it has no host")
	case u.User != nil:
		return "", refuse("it contains a user name or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", refuse("it has a query or a fragment")
	}
	if refused := r.host(address, host); refused != nil {
		return "", refused
	}
	if strings.HasPrefix(strings.ToLower(r.Plane), "https:") && u.Scheme == "http" && !isHere(host) {
		return "", refuse("it uses http, and the control plane uses https")
	}
	return strings.TrimRight(address, "/"), nil
}

// host checks the host of a written address.
func (r *Rules) host(address, host string) *Refusal {
	ip, err := netip.ParseAddr(host)
	switch at, known := r.plane(); {
	case r.holds(host):
		return nil
	case err == nil:
		return r.allows(classOf(ip), at, known || r.hides(address))
	case namesMetadata(host):
		return refuse(notThere)
	case isNumber(host):
		return refuse("its host is a number, and no IP address in the usual form")
	case namesLoopback(host):
		return r.allows(loopback, at, known || r.hides(address))
	case r.hides(address) && !r.AllowPrivate:
		return &Refusal{Why: "to where its host name leads is not seen behind a proxy", Key: KeyPrivate}
	}
	return nil
}

// allows decides about a class of addresses, from that of the control plane. Where that is not known yet the connection decides.
func (r *Rules) allows(is, plane class, known bool) *Refusal {
	switch {
	case is == never:
		return refuse(notThere)
	case is == loopback && known && plane != loopback:
		return refuse(notLoopback)
	case is == private && known && plane == public && !r.AllowPrivate:
		return &Refusal{Why: notPrivate, Key: KeyPrivate}
	}
	return nil
}

// Connects checks an address to which a host name leads, before a connection is made. The error is a *Refusal.
func (r *Rules) Connects(host string, ip netip.Addr) error {
	if r == nil {
		return nil
	}
	host = canonical(host)
	_, err := netip.ParseAddr(host)
	switch held := r.holds(host); {
	case held && err == nil: // the configuration holds the address itself
		return nil
	case isMetadata(ip):
		return refuse(fmt.Sprintf("it leads to %s, at which a cloud metadata service may be", ip))
	case held:
		return nil
	}
	at, _ := r.plane()
	refused := r.allows(classOf(ip), at, true)
	if refused == nil {
		return nil
	}
	return &Refusal{Why: fmt.Sprintf("it leads to %s: %s", ip, refused.Why), Key: refused.Key}
}

// Connected notes that a connection to a host and port was made, and at which address.
func (r *Rules) Connected(hostPort string, at net.Addr) {
	if r == nil || r.Plane == "" || hostPort != reports.HostPort(r.Plane) {
		return
	}
	reached, err := netip.ParseAddrPort(at.String())
	if err != nil {
		return
	}
	is := int32(classOf(reached.Addr())) + 1
	for {
		before := r.seen.Load()
		if before != 0 && before <= is || r.seen.CompareAndSwap(before, is) {
			return
		}
	}
}

// plane is the class of the control plane's address: that which the configuration gives, else the most public at which it was reached.
func (r *Rules) plane() (is class, known bool) {
	host := hostOf(r.Plane)
	if r.Sockets[reports.HostPort(r.Plane)] != "" {
		return loopback, true
	}
	if ip := r.Resolve[host]; ip != "" {
		host = ip
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ofPlane(classOf(ip)), true
	}
	if namesLoopback(host) {
		return loopback, true
	}
	if seen := r.seen.Load(); seen != 0 {
		return ofPlane(class(seen - 1)), true
	}
	return public, false
}

// ofPlane is the class of a control plane's address, at which there is a server.
func ofPlane(is class) class {
	if is == never {
		return private
	}
	return is
}

// holds tells whether the configuration holds a host.
func (r *Rules) holds(host string) bool {
	return slices.Contains([]string{hostOf(r.Plane), hostOf(r.Agent)}, host) || r.Resolve[host] != ""
}

func (r *Rules) hides(address string) bool { return r.Hidden != nil && r.Hidden(address) }

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

// isHere tells whether a host is this machine by its name.
func isHere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && classOf(ip) == loopback || namesLoopback(host)
}
