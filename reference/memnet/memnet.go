// Package memnet provides an in-memory network whose listeners and connections behave like TCP on the loopback
// interface: writes are buffered, either side can close its half, unread data resets the connection, and deadlines
// apply.
//
// The network never waits for the operating system, so a test can run clients and servers in a bubble of
// testing/synctest, where time passes only while all goroutines wait. Start reading with [Network].
//
// In a bubble, two test runs with the same seed give the same verdicts; the number of reads may differ. The order of events
// at the same instant is random, so the suite avoids such events: each connection has a different latency, the starts of scenarios and of
// requests that race are staggered, the servers never show the same time twice, and random delays come from the
// seed.
package memnet

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// Network is an isolated loopback network. The zero value has no latency. It is safe for concurrent use.
type Network struct {
	// Latency is the time that written bytes, and the end of a connection, need to arrive. The writer does not wait.
	Latency time.Duration
	// Spread is divided among the connections. Each connection adds a different part of it to Latency, so that requests
	// that are sent at the same instant arrive one after the other, in the same order in each test run.
	Spread time.Duration

	mu        sync.Mutex
	listeners map[netip.AddrPort]*listener
	lastPort  uint16
	dialed    int // the number of connections
}

// New returns a network with the latency of a local network. The first 997 connections have different latencies.
func New() *Network { return &Network{Latency: 500 * time.Microsecond, Spread: time.Millisecond} }

// firstPort is the first ephemeral port.
const firstPort = 49152

// Listen announces on a loopback address, like [net.Listen] for "tcp". Port 0 chooses a free port.
func (n *Network) Listen(network, address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.Port() == 0 {
		at = n.freePort(at.Addr())
	}
	if n.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: net.TCPAddrFromAddrPort(at),
			Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	if n.listeners == nil {
		n.listeners = map[netip.AddrPort]*listener{}
	}
	l := &listener{network: n, address: at, backlog: make(chan *conn, backlog), closed: make(chan struct{})}
	n.listeners[at] = l
	return l, nil
}

// freePort returns the next ephemeral port without a listener. The caller holds the lock.
func (n *Network) freePort(at netip.Addr) netip.AddrPort {
	for {
		n.lastPort = max(n.lastPort+1, firstPort)
		if free := netip.AddrPortFrom(at, n.lastPort); n.listeners[free] == nil {
			return free
		}
	}
}

// parts is the number of steps into which Spread is divided. It is prime, so that each step is used once before one
// repeats.
const parts = 997

// nextLatency returns the latency of a new connection. The caller holds the lock.
func (n *Network) nextLatency() time.Duration {
	n.dialed++
	return n.Latency + n.Spread*time.Duration(n.dialed*619%parts)/parts
}

// DialContext connects to a listener of the network, like the method of [net.Dialer].
func (n *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return nil, dialError(network, at, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	client, server := newPair(n.nextLatency(), n.freePort(at.Addr()), at)
	if l := n.listeners[at]; l != nil {
		select {
		case l.backlog <- server:
			return client, nil
		default: // the backlog is full
		}
	}
	return nil, dialError(network, at, os.NewSyscallError("connect", syscall.ECONNREFUSED))
}

// dialError returns an error of DialContext.
func dialError(network string, at netip.AddrPort, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(at), Err: err}
}

// Serve serves a handler on a free port until the server is closed.
func (n *Network) Serve(h http.Handler) *httptest.Server {
	l, err := n.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("memnet: a free port is in use: " + err.Error())
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	server.Start()
	return server
}

// backlog is the maximum number of connections that wait for Accept. Further connections are refused.
const backlog = 4096

// listener accepts connections at an address.
type listener struct {
	network *Network
	address netip.AddrPort
	backlog chan *conn
	closed  chan struct{}
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.address) }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed: // takes precedence over waiting connections
		return nil, l.closedError("accept")
	default:
	}
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, l.closedError("accept")
	}
}

// Close implements net.Listener. It resets the connections that were not accepted.
func (l *listener) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.network.listeners[l.address] != l {
		return l.closedError("close")
	}
	delete(l.network.listeners, l.address)
	close(l.closed)
	for {
		select {
		case c := <-l.backlog:
			c.reset()
		default:
			return nil
		}
	}
}

// closedError returns an error of an operation on a closed listener.
func (l *listener) closedError(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
}
