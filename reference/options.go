// Package reference is a conforming implementation of the whole interface in one process: the control plane, the agent
// servers that it deploys, and the sources that are deployed. It is meant to be read and copied from.
//
// [Start] connects the parts and serves them at one address: the control plane at the root, the agent server of a deployment
// below /agents/<deployment id>, and a built-in agent server with the conformance graph below /agents/conformance.
//
// Start reading with the control plane or the agent server; each package says where to start:
//
//	controlplane   deployments, revisions and the pipeline that deploys them (interface, sections 1 to 5, 7 and 8)
//	agentserver    threads, runs, rollback and authentication (sections 1 to 5)
//	httpapi        routes, requests and refusals of both servers (section 7)
//	script         runs graphs and handlers in Starlark (section 5)
//	source         git repositories and container images (section 2)
//	store          stores all records in one file
//	fixtures       sources to deploy, and credentials
//
// The packages deviate, faults, mutants, hostile and prover test the suite with variants of this implementation.
//
// Do not expose the reference to the internet: a caller with a key can make it read any repository that the process can
// reach.
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

// Options are the options of a reference. The zero value is the cloud edition on a free loopback port with temporary data.
type Options struct {
	Listen    string        // address to listen on; "127.0.0.1:0" by default
	DataDir   string        // the folder of the data; if it is empty, a temporary folder that Close removes
	Edition   string        // "cloud" (the default) or "self-hosted"
	Pace      time.Duration // the minimum duration of each status of a revision
	PublicURL string        // the URL for clients, if it differs from Listen
	MostKept  int64         // the maximum size of the data in bytes; 4 GiB by default
	TempDir   string        // the parent of the temporary folder; that of the system by default

	// Network replaces the network of the system in tests. The reference listens on it and reads its sources from memory.
	Network Network
	// BuildTime is the minimum duration of a build. Without it, a build in virtual time takes no time.
	BuildTime time.Duration

	Log *slog.Logger // nil discards the log

	// The following functions change the behavior of the parts. They are called in order.
	WrapHTTP     []func(http.Handler) http.Handler // wrap the handler of the whole reference
	WrapAgent    []func(*agentserver.Options)      // change the options of each agent server
	WrapGraph    []func(source string) string      // change graph.star of the built-in agent server
	WrapFixtures []func(*fixtures.Set)             // change the result of Fixtures
}

// Network listens and connects, like package net. Package memnet implements it.
type Network interface {
	Listen(network, address string) (net.Listener, error)
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

func (o *Options) listen(address string) (net.Listener, error) {
	if o.Network == nil {
		return net.Listen("tcp", address)
	}
	return o.Network.Listen("tcp", address)
}

// setDefaults sets the defaults of empty options.
func (o *Options) setDefaults() {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	o.Edition = cmp.Or(o.Edition, string(controlplane.Cloud))
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
}
