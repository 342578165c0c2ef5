package prover

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reference/mutants"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/spec/spelling"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/situations"
)

// trial is one test run against one server.
type trial struct {
	row    proof.Row
	fault  *deviate.Row // the declared fault of the server, or nil
	first  bool         // starts before the trials that need the results of the unmodified references
	slow   bool         // starts early, so that it does not run alone at the end
	start  func(ctx context.Context, e environment, cfg *config.Config) (stop func(), err error)
	config map[string]any // configuration keys for this server
	// place is empty if the gate must not combine the trial with others.
	place string
	layer faults.Layer // the change of an equivalent mutant, or nil
	// changed returns the number of exchanges that a mutant has changed. It is nil for other servers.
	changed func() int64
	other   *trial // the same mutant in the other edition, or nil
	// scenario is the key of the only scenario that is run, or "".
	scenario string
}

// limits are the timeouts of test runs. They are shorter than for a real target, because some faults make the suite
// wait until a timeout.
var limits = config.Timeouts{Request: 4 * time.Second, Poll: 8 * time.Second, Run: 6 * time.Second}

// begin starts the server and returns the configuration of its test run.
func (t trial) begin(ctx context.Context, e environment) (cfg *config.Config, stop func(), err error) {
	c := config.Default()
	stop, err = t.start(ctx, e, &c)
	if err != nil {
		return nil, nil, fmt.Errorf("start failed: %w", err)
	}
	c.Timeouts = limits
	c.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	if err := t.configure(&c); err != nil {
		stop()
		return nil, nil, fmt.Errorf("invalid configuration: %w", err)
	}
	return &c, stop, nil
}

// configure sets the keys of the row and completes the configuration.
func (t trial) configure(c *config.Config) error {
	for _, key := range slices.Sorted(maps.Keys(t.config)) {
		if err := c.Set(key, t.config[key]); err != nil {
			return err
		}
	}
	return c.Complete()
}

// Rows returns a row for each server that a self-test can try.
func Rows() (rows []proof.Row, err error) {
	trials, err := (&prover{Options: Options{Whole: true, All: true}}).trials()
	for _, t := range trials {
		rows = append(rows, t.row)
	}
	return rows, err
}

// trials returns the trials that the options select. They always include the unmodified references.
func (p *prover) trials() ([]trial, error) {
	all := p.declared()
	if p.Whole || slices.ContainsFunc(p.Only, func(name string) bool { return strings.HasPrefix(name, independentServer) }) {
		all = append(all, p.proxied()...)
	}
	situations, err := p.situations()
	if err != nil {
		return nil, err
	}
	all = append(all, situations...)
	if p.All || len(p.Only) > 0 {
		for _, m := range mutants.All() {
			all = append(all, p.generated(m, config.Cloud))
		}
	}
	return selected(all, p.Only)
}

// selected returns the trials with the given names, of the given groups, and of the faults that break the requirements
// with the given IDs. If an ID is given, all equivalent mutants are included: a requirement that fails at one of them
// would kill every mutant. The unmodified references are always included.
func selected(all []trial, only []string) ([]trial, error) {
	if len(only) == 0 {
		return all, nil
	}
	byID, known := false, map[string]bool{}
	for _, t := range all {
		byID = byID || t.row.Fails != "" && slices.Contains(only, t.row.Fails)
		known[t.row.Name], known[t.row.Fails], known[t.row.Group] = true, true, true
	}
	for _, name := range only {
		if name == "" || !known[name] {
			near := spelling.Nearest(name, slices.Sorted(maps.Keys(known)))
			return nil, fmt.Errorf("--only %s: neither the name of a row nor the ID of a requirement that a fault breaks; "+
				"%sagentconform prove --list shows all names", name, spelling.DidYouMean(near))
		}
	}
	return slices.DeleteFunc(all, func(t trial) bool {
		isNamed := slices.ContainsFunc(only, func(name string) bool {
			return name == t.row.Name || name == t.row.Fails || name == t.row.Group
		})
		return !isNamed && t.row.Kind != proof.Pristine && (t.row.Kind != proof.Equivalent || !byID)
	}), nil
}

// declared returns the trials of conforming servers, of null implementations and of declared faults.
func (p *prover) declared() (all []trial) {
	editions := []string{config.Cloud, config.SelfHosted}
	for _, edition := range editions {
		row := proof.Row{Kind: proof.Pristine, Name: "reference-" + edition, Does: "the unmodified reference",
			Edition: edition}
		t := p.reference(row, nil)
		t.first = true
		all = append(all, t)
	}
	for _, edition := range editions {
		row := proof.Row{Kind: proof.Equivalent, Name: independentServer + "-" + edition,
			Does: "a server that shares no code with the reference", Edition: edition}
		start := func(_ context.Context, e environment, cfg *config.Config) (func(), error) {
			server := e.independent(edition)
			if err := server.Configure(cfg); err != nil {
				server.Close()
				return nil, err
			}
			return server.Close, nil
		}
		all = append(all, trial{row: row, slow: true, start: start})
	}
	for _, v := range faults.EquivalentMutants() {
		row := proof.Row{Kind: proof.Equivalent, Name: v.Name, Does: v.Differs, Edition: v.Edition, Also: v.Also,
			Unjudged: v.Unjudged}
		t := p.reference(row, v.Apply)
		t.first, t.slow, t.place, t.layer = v.Longest, true, v.Place, v.Apply
		t.config = v.Config
		all = append(all, t)
	}
	for _, i := range faults.NullImplementations() {
		all = append(all, p.null(i))
	}
	for _, f := range faults.All() {
		row := proof.Row{Kind: proof.Fault, Name: f.Name, Does: f.Breaks, Edition: f.Edition, Fails: f.Fails, Also: f.Also}
		t := p.counting(row, f)
		t.fault, t.slow = f, f.Hangs || f.Explored
		t.config = f.Config
		all = append(all, t)
	}
	return all
}

// reference returns a trial of the reference with a layer, which may be nil.
func (p *prover) reference(row proof.Row, layer faults.Layer) trial {
	return trial{row: row, start: func(ctx context.Context, e environment, cfg *config.Config) (func(), error) {
		options := reference.Options{Edition: row.Edition, Network: e.network, TempDir: e.tempDir, BuildTime: e.buildTime}
		if e.graphTime > 0 {
			options.WrapAgent = append(options.WrapAgent, func(o *agentserver.Options) {
				o.Starts = func(context.Context, string) { time.Sleep(e.graphTime) } // other parts take no time
			})
		}
		if layer != nil {
			layer(&options)
		}
		server, err := reference.Start(ctx, options)
		if err != nil {
			return nil, err
		}
		Describe(cfg, server)
		cfg.Implementation.Version = p.Version
		return func() { _ = server.Close() }, nil // an error does not matter: the data is temporary
	}}
}

// null returns a trial of a null implementation with the configuration of the reference.
func (p *prover) null(i faults.NullImplementation) trial {
	model := p.reference(proof.Row{Kind: proof.Null, Name: i.Name, Does: i.Is}, nil)
	return trial{row: model.row, slow: true, start: func(ctx context.Context, e environment, cfg *config.Config) (func(), error) {
		stopModel, err := model.start(ctx, e, cfg)
		if err != nil {
			return nil, err
		}
		url, stop, err := e.serve(i.Serve)
		if err != nil {
			stopModel()
			return nil, err
		}
		cfg.Target = url
		return func() {
			stop()
			stopModel()
		}, nil
	}}
}

// counting returns a trial of the reference with a deviation that counts the exchanges it changes.
func (p *prover) counting(row proof.Row, deviation *deviate.Row) trial {
	layer, changed := counted(deviation)
	t := p.reference(row, layer)
	t.changed = changed
	return t
}

// counted returns the layer of a deviation. It also returns a function with the number of exchanges that the layer has
// changed at the server that was started last.
func counted(row *deviate.Row) (faults.Layer, func() int64) {
	var count *deviate.Count
	layer := func(o *reference.Options) {
		count = &deviate.Count{}
		faults.Around(row, count)(o)
	}
	return layer, func() int64 { return count.Load() }
}

// generated returns a trial of a generated mutant in an edition of the reference.
func (p *prover) generated(m mutants.Mutant, edition string) trial {
	t := p.counting(proof.Row{Kind: proof.GeneratedMutant, Name: m.Name, Does: m.Does, Group: string(m.Group),
		Allowed: m.Allowed, Control: m.Control, Edition: edition}, m.Row)
	if edition == config.Cloud { // neither edition has the whole interface
		other := p.generated(m, config.SelfHosted)
		t.other = &other
	}
	return t
}

// independentServer is the name of the independent server and of the group of trials that use it with a proxy.
const independentServer = "independent-server"

// oneOf selects one in oneOf rows that are also tried at the independent server.
const oneOf = 10

// proxied returns trials of the independent server behind a proxy. They show that the suite finds a fault at a server
// that shares no code with the reference. The rows are sampled by name. Two trials show that the proxy itself changes
// nothing.
func (p *prover) proxied() (trials []trial) {
	for _, half := range []string{"control-plane", "agent-server"} {
		row := proof.Row{Kind: proof.Equivalent, Group: independentServer, Name: independentServer + "/" + half,
			Does: "the server behind a proxy"}
		trials = append(trials, before(row, func(*reference.Options) {}, half == "agent-server"))
	}
	for _, f := range faults.All() {
		if !isSampled(f.Name, oneOf) || f.Pace > 0 || f.Queued > 0 || f.Edition != "" || f.Hangs || f.Once || f.Elsewhere ||
			strings.HasPrefix(f.Fails, "E2E-") {
			continue
		}
		layer, changed := counted(f)
		row := proof.Row{Kind: proof.Proxied, Group: independentServer, Name: independentServer + "/" + f.Name, Does: f.Breaks,
			Fails: f.Fails, Also: f.Also}
		t := before(row, layer, strings.HasPrefix(f.Fails, "AS-"))
		t.changed = changed
		trials = append(trials, t)
	}
	return trials
}

// situations returns the trials of mutants that break a check after an event. Each runs only the scenario about both. The
// gate tries a sample of them.
func (p *prover) situations() (all []trial, err error) {
	catalogue, err := features.Load()
	if err != nil {
		return nil, err
	}
	mutants, err := faults.Pairs()
	if err != nil {
		return nil, err
	}
	scenarios := map[[2]string]situations.Pair{}
	for _, pair := range situations.Pairs(catalogue) {
		scenarios[[2]string{pair.Event, pair.Check}] = pair
	}
	for _, m := range mutants {
		pair, isKnown := scenarios[[2]string{m.Event, m.Check}]
		switch {
		case !isKnown:
			return nil, fmt.Errorf("mutant %q: no such event or check", m.Name())
		case pair.Reason != "", !p.Whole && len(p.Only) == 0 && !isSampled(m.Name(), oneOf):
			continue
		}
		t := p.counting(proof.Row{Kind: proof.Situation, Name: m.Name(), Does: "the check fails after the event",
			Edition: config.Cloud, Fails: pair.Requirement}, m.Row)
		t.scenario = pair.Scenario
		all = append(all, t)
	}
	return all, nil
}

func (e environment) independent(edition string) *independent.Server {
	o := independent.Options{Edition: edition}
	if e.network != nil {
		o.Listen = e.network.Listen
	}
	return independent.Start(o)
}

// isSampled reports whether a name belongs to a sample of 1/n of all names.
func isSampled(name string, n uint) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // it never returns an error
	return n > 0 && sum.Sum32()%uint32(n) == 0
}

// before returns a trial of the independent server with a layer in front of one half.
func before(row proof.Row, layer faults.Layer, agent bool) trial {
	return trial{row: row, start: func(_ context.Context, e environment, cfg *config.Config) (func(), error) {
		server := e.independent("")
		stopProxy, err := proxy(server, layer, agent, e, cfg)
		if err != nil {
			server.Close()
			return nil, err
		}
		return func() {
			stopProxy()
			server.Close()
		}, nil
	}}
}

// proxy serves one half of the independent server behind a layer, and sets the configuration of the test run.
func proxy(server *independent.Server, layer faults.Layer, agent bool, e environment, cfg *config.Config) (stop func(), err error) {
	err = server.Configure(cfg)
	if err != nil {
		return nil, err
	}
	address, target, path := server.ControlURL, &cfg.Target, ""
	if agent {
		address, target, path = server.AgentURL, &cfg.AgentTarget, faults.ProxiedAgent
	}
	upstream, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DialContext: e.dial(), MaxIdleConnsPerHost: 64}
	handler, err := faults.Before(upstream, transport, layer)
	if err != nil {
		return nil, err
	}
	base, stopServing, err := e.serve(handler)
	if err != nil {
		return nil, err
	}
	*target = base + path
	return func() {
		stopServing()
		transport.CloseIdleConnections()
	}, nil
}
