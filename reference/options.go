// Package reference is a conforming implementation of the whole interface in one process: the control plane, the
// agent servers that it deploys, and the sources to deploy them from.
//
// [Start] puts the parts together and serves them on one address: the control plane at its root, every deployed
// agent server under /agents/<deployment id>, and a built-in one, which runs the conformance graph from the start,
// under /agents/conformance. Each part is a package:
//
//	controlplane   deployments and revisions, and the pipeline that builds and deploys them
//	agentserver    threads, runs, authentication
//	script         runs graphs and handlers, which are Starlark
//	source         git repositories and container images
//	httpapi        what both servers have in common
//	store          one file with everything in it
//	fixtures       example sources to deploy, and credentials
//
// It is meant to be read, and copied from. Do not expose it to the internet: a caller with a key can make it
// read any repository that the process can reach.
package reference

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// Options says what to start. The zero value is a cloud edition on a free loopback port, whose data dies with it.
type Options struct {
	Listen    string        // "127.0.0.1:0" by default
	DataDir   string        // where data is kept; a temporary folder, removed by Close, when empty
	Edition   string        // "cloud", the default, or "self-hosted"
	Pace      time.Duration // how long a revision stays in each status at least
	PublicURL string        // how clients reach Listen, where that differs
	MostKept  int64         // how many bytes are kept; some GiB by default
	TempDir   string        // where the temporary folder is made; that of the system by default

	// Network replaces the network of the system, for tests. The reference listens on it and reads its sources from
	// memory.
	Network Network
	// BuildTime is the minimum duration of a build, for tests in virtual time, where it would take none.
	BuildTime time.Duration

	Log *slog.Logger // none by default

	// What follows changes the behaviour of the parts from outside, in this order.
	WrapHTTP     []func(http.Handler) http.Handler // around everything that is served
	WrapAgent    []func(*agentserver.Options)      // changes the options with which each agent server is made
	WrapGraph    []func(source string) string      // changes graph.star of the built-in agent server
	WrapFixtures []func(*fixtures.Set)             // changes what a harness is told, where what wraps the rest needs it
}

// Network listens and connects, like package net. Package memnet has one.
type Network interface {
	Listen(network, address string) (net.Listener, error)
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// listen announces on the network of the options.
func (o *Options) listen(address string) (net.Listener, error) {
	if o.Network == nil {
		return net.Listen("tcp", address)
	}
	return o.Network.Listen("tcp", address)
}

func (o *Options) setDefaults() {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	o.Edition = cmp.Or(o.Edition, string(controlplane.Cloud))
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}
