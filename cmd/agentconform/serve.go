package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reference/mutants"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/steps/config"
)

type serveFlags struct {
	listen, data, edition, writeConfig, proxy string
	record                                    string
	config                                    targetFlags
	pace                                      time.Duration
	faults                                    []string
}

func newServe() *cobra.Command {
	f := &serveFlags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the reference implementation",
		Long: `Serve the reference implementation: a control plane that deploys agent servers, and an agent server that runs
the conformance graph from the start. It prints one line with both addresses when it is ready, and serves until
Ctrl-C, SIGTERM or SIGHUP. With --fault it violates the interface on purpose. With --proxy the faults are put in front
of your own control plane or agent server: a test run against the printed address shows whether the suite finds them.

With --record the exchanges that pass the proxy are written to a HAR file, which agentconform judge judges. Credentials
are not written: callers of the configuration have the names of its keys, others a number.

Exit codes: 0 stopped, 2 wrong usage, or it could not start.`,
		Example: `  agentconform serve --listen 127.0.0.1:8123 --write-config reference.yaml
  agentconform run --config reference.yaml
  agentconform serve --fault limit-101-is-served --write-config faulty.yaml
  agentconform serve --edition self-hosted --data ./reference-data --pace 200ms
  agentconform serve --proxy http://127.0.0.1:2024 --fault join-does-not-wait
  agentconform serve --proxy http://127.0.0.1:2024 --record traffic.har`,
		Args: noArguments("set the address with --listen, and the folder with --data"),
		RunE: f.serve,
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 chooses a free port")
	flags.StringVar(&f.data, "data", "", "`folder` for the data (default: the data is removed at the end)")
	addEdition(c, &f.edition, " (default cloud)")
	flags.StringSliceVar(&f.faults, "fault", nil,
		"`names` of faults or equivalent mutants to add to the reference (agentconform prove --list shows them)")
	flags.StringVar(&f.proxy, "proxy", "", "serve the server at the `URL`, with the faults, in place of the reference")
	flags.StringVar(&f.record, "record", "",
		"with --proxy, write all exchanges to this HAR `file`, without credentials; an earlier recording in it is replaced")
	f.config.addConfig(c)
	flags.DurationVar(&f.pace, "pace", 0, "minimum time that a revision stays in each status, such as 200ms")
	flags.StringVar(&f.writeConfig, "write-config", "", "write a configuration for this server to the `file`")
	return c
}

// check refuses flags that exclude each other, a file that serve did not write, and a file that cannot be written.
func (f *serveFlags) check() error {
	switch {
	case f.pace < 0:
		return fmt.Errorf("--pace %s: give a duration of zero or more, such as 200ms", f.pace)
	case f.proxy != "" && (f.data != "" || f.edition != "" || f.pace != 0 || f.writeConfig != ""):
		return errors.New("--proxy serves another server: " +
			"remove --data, --edition, --pace and --write-config, which are for the reference")
	case f.record != "" && f.proxy == "":
		return errors.New("--record needs --proxy URL, whose exchanges it records")
	case f.config.config != "" && f.record == "":
		return errors.New("--config names the callers of a recording: add --record, or remove it")
	case f.writeConfig == "":
		return nil
	}
	err := configMark.Of(f.writeConfig)
	if err == nil {
		err = outfile.Ready(f.writeConfig)
	}
	return writeError("configuration", err, "file with --write-config")
}

// configMark is the start of the first line of a configuration that serve has written.
const configMark outfile.Mark = "# Configuration of agentconform for this target."

func (f *serveFlags) serve(c *cobra.Command, _ []string) error {
	if err := f.check(); err != nil {
		return err
	}
	server, err := f.begin(c.Context())
	if err != nil {
		return err
	}
	if beyondLoopback(f.listen) {
		c.PrintErrf("warning: the reference listens on %s, where other machines can reach it; it is a server for tests: "+
			"allow only machines that you trust, or use --listen 127.0.0.1:0\n", f.listen)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "ready control-plane=%s agent-server=%s\n", server.control, server.agent)
	if err == nil {
		<-c.Context().Done()
	}
	return errors.Join(err, server.stop())
}

// served is a running server, with the addresses of its halves.
type served struct {
	control, agent string
	stop           func() error
}

// begin starts the reference, by default in the edition that the faults need, or a proxy.
func (f *serveFlags) begin(ctx context.Context) (*served, error) {
	layers, edition, err := deviations(f.faults)
	if err != nil {
		return nil, err
	}
	if f.proxy != "" {
		return f.beginProxy(layers)
	}
	options := reference.Options{Listen: f.listen, DataDir: f.data, Edition: cmp.Or(f.edition, edition), Pace: f.pace}
	for _, apply := range layers {
		apply(&options)
	}
	server, err := reference.Start(ctx, options)
	if err != nil {
		return nil, f.explainStart(err)
	}
	if err := f.write(server); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &served{server.ControlPlaneURL(), server.AgentURL(), server.Close}, nil
}

// beginProxy serves another server with the faults in front of it.
func (f *serveFlags) beginProxy(layers []faults.Layer) (*served, error) {
	at, err := url.Parse(f.proxy)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("--proxy %q: give the base URL of a server, such as http://127.0.0.1:2024", f.proxy)
	}
	var recorded *recorder
	var transport http.RoundTripper // nil: the default
	if f.record != "" {
		recorded, err = f.recorder()
		if err != nil {
			return nil, err
		}
		transport = recorded
	}
	handler, err := faults.Before(at, transport, layers...)
	if err != nil {
		return nil, fmt.Errorf("--fault %s: %w; choose others, or remove --proxy", strings.Join(f.faults, ","), err)
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, f.explainStart(err)
	}
	if recorded != nil {
		handler = recorded.wrap(handler)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the listener is closed
	address := "http://" + listener.Addr().String()
	stop := server.Close
	if recorded != nil {
		stop = func() error { return errors.Join(server.Close(), recorded.Close()) }
	}
	return &served{address, address + faults.ProxiedAgent, stop}, nil
}

// recorder returns the recorder of --record.
func (f *serveFlags) recorder() (*recorder, error) {
	cfg, err := f.config.load()
	if err != nil {
		return nil, err
	}
	r, err := newRecorder(f.record, f.proxy, cfg)
	return r, writeError("recording", err, "file with --record")
}

// deviations returns the layers of declared faults and of generated mutants, which have a slash in their names.
func deviations(names []string) (layers []faults.Layer, edition string, err error) {
	var declared []string
	for _, name := range names {
		if !strings.Contains(name, "/") {
			declared = append(declared, name)
			continue
		}
		m, err := mutants.Find(name)
		if err != nil {
			return nil, "", err
		}
		layers = append(layers, faults.Around(m.Row, &deviate.Count{}))
	}
	others, edition, err := faults.Find(declared...)
	return append(others, layers...), edition, err
}

// beyondLoopback reports whether other machines may reach an address to listen on. Without a host it means all
// addresses of this machine.
func beyondLoopback(listen string) bool {
	at, err := net.ResolveTCPAddr("tcp", listen)
	return err != nil || !at.IP.IsLoopback()
}

// explainStart adds to an error of starting a server the flag to change.
func (f *serveFlags) explainStart(err error) error {
	network, isNetwork := errors.AsType[*net.OpError](err)
	switch {
	case isNetwork && network.Op == "listen":
		return fmt.Errorf("%w; choose another address with --listen; port 0 chooses a free port: --listen 127.0.0.1:0", err)
	case f.data != "":
		return fmt.Errorf("%w; choose another folder with --data", err)
	}
	return err
}

// write writes the configuration of --write-config. Only the owner can read it, because it contains credentials.
func (f *serveFlags) write(server *reference.Server) error {
	if f.writeConfig == "" {
		return nil
	}
	cfg := config.Default()
	describe(&cfg, server)
	cfg.AgentTarget = server.AgentURL()
	keys := faults.Configuration(f.faults...)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := cfg.Set(key, keys[key]); err != nil {
			return err
		}
	}
	err := outfile.Text(f.writeConfig, outfile.Private, cfg.YAML())
	return writeError("configuration", err, "file with --write-config")
}
