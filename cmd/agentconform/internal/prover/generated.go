package prover

import (
	"context"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
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
	var count *deviate.Count
	t := trial{row: proof.Row{Kind: proof.GeneratedMutant, Name: m.Name, Does: m.Does, Group: string(m.Group), Allowed: m.Allowed, Control: m.Control, Edition: edition}}
	t.changed = func() int64 { return count.Exchanges() }
	t.start = func(ctx context.Context, cfg *config.Config) (func(), error) {
		options := reference.Options{Edition: edition}
		count = m.Apply(&options)
		server, err := reference.Start(ctx, options)
		if err != nil {
			return nil, err
		}
		p.Describe(cfg, server)
		return func() { _ = server.Close() }, nil // its data is temporary
	}
	if edition == config.Cloud { // not all of the interface is in one edition
		other := p.derived(m, config.SelfHosted)
		t.other = &other
	}
	return t
}

// elsewhere tries a mutant that was not killed, and is not explained, in the other edition of the reference too. What shows more counts.
func (p *prover) elsewhere(ctx context.Context, t trial, row proof.Row) proof.Row {
	if o := row.Outcome(); t.other == nil || o == proof.Killed || o == proof.Explained {
		return row
	}
	other := p.try(ctx, *t.other)
	if other.Outcome() == proof.Unproved {
		return row
	}
	if other.Outcome() == proof.Survived && row.Outcome() == proof.Survived {
		return row
	}
	return other
}
