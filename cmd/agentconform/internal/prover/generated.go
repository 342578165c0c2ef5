package prover

import (
	"context"
	"hash/fnv"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reference/mutants"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/steps/config"
)

// generated are the trials of generated mutants that the options ask for: all, or those that are named.
func (p *prover) generated() ([]trial, error) {
	if !p.All && len(p.Only) == 0 {
		return nil, nil
	}
	all, err := mutants.All()
	if err != nil {
		return nil, err
	}
	var trials []trial
	for _, m := range all {
		trials = append(trials, p.derived(m, config.Cloud))
	}
	return trials, nil
}

// derived is a trial of a generated mutant in an edition of the reference.
func (p *prover) derived(m mutants.Mutant, edition string) trial {
	layer, changed := counted(m.Row)
	t := p.reference(proof.Row{Kind: proof.GeneratedMutant, Name: m.Name, Does: m.Does, Group: string(m.Group), Allowed: m.Allowed, Control: m.Control, Edition: edition}, layer)
	t.changed = changed
	if edition == config.Cloud { // not all of the interface is in one edition
		other := p.derived(m, config.SelfHosted)
		t.other = &other
	}
	return t
}

// counted is the layer of a row, and how many exchanges it has changed around the server that was started last.
func counted(row *deviate.Row) (faults.Layer, func() int64) {
	var count *deviate.Count
	layer := func(o *reference.Options) {
		count = &deviate.Count{}
		faults.Around(row, count)(o)
	}
	return layer, func() int64 { return count.Load() }
}

// oneOf is of how many rows one also stands before the independent server.
const oneOf = 10

// proxied are trials of rows before the independent server, chosen by their names: that a fault is seen must not hang on the reference.
// The proxy alone must change nothing.
func (p *prover) proxied() (trials []trial) {
	for _, half := range []string{"control-plane", "agent-server"} {
		row := proof.Row{Kind: proof.Equivalent, Group: "independent-server", Name: "independent-server/" + half, Does: "the server behind a proxy"}
		trials = append(trials, trial{row: row, start: func(_ context.Context, cfg *config.Config) (func(), error) {
			return startBefore(func(*reference.Options) {}, half == "agent-server", cfg)
		}})
	}
	for _, f := range BeforeIndependent() {
		layer, changed := counted(f)
		row := proof.Row{Kind: proof.Proxied, Group: "independent-server", Name: "independent-server/" + f.Name, Does: f.Breaks, Fails: f.Fails}
		trials = append(trials, trial{row: row, changed: changed, start: func(_ context.Context, cfg *config.Config) (func(), error) {
			return startBefore(layer, strings.HasPrefix(f.Fails, "AS-"), cfg)
		}})
	}
	return trials
}

// BeforeIndependent are the faults that also stand before the independent server.
func BeforeIndependent() []*deviate.Row {
	return slices.DeleteFunc(faults.All(), func(f *deviate.Row) bool {
		chosen := fnv.New32a()
		_, _ = chosen.Write([]byte(f.Name)) // it returns no error
		return chosen.Sum32()%oneOf != 0 || f.Pace > 0 || f.Edition != "" || f.Hangs || f.Once || f.Elsewhere || strings.HasPrefix(f.Fails, "E2E-")
	})
}

// startBefore starts the independent server with a layer before one half.
func startBefore(layer faults.Layer, agent bool, cfg *config.Config) (stop func(), err error) {
	server := independent.Start(independent.Options{})
	defer func() {
		if err != nil {
			server.Close()
		}
	}()
	if err := server.Configure(cfg); err != nil {
		return nil, err
	}
	address, target, path := server.ControlURL, &cfg.Target, ""
	if agent {
		address, target, path = server.AgentURL, &cfg.AgentTarget, faults.ProxiedAgent
	}
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	handler, err := faults.Before(at, layer)
	if err != nil {
		return nil, err
	}
	host := httptest.NewServer(handler)
	*target = host.URL + path
	return func() {
		host.CloseClientConnections()
		host.Close()
		server.Close()
	}, nil
}

// elsewhere tries a mutant that was not killed, and is not explained, in the other edition of the reference too. What shows more counts.
func (p *prover) elsewhere(ctx context.Context, t trial, row proof.Row) proof.Row {
	if o := row.Outcome(); t.other == nil || o == proof.Killed || o == proof.Explained {
		return row
	}
	other := p.try(ctx, *t.other)
	if other.Outcome() == proof.NotReached {
		return row
	}
	if other.Outcome() == proof.Survived && row.Outcome() == proof.Survived {
		return row
	}
	return other
}
