package prover

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// togetherAtMost is how many equivalent mutants are tried at once.
const togetherAtMost = 12

// explored is within how many operations exploration is to find a fault that no scenario sees.
const explored = 2000

// selection is what is run against a server: everything, or in the gate, against a fault, the scenarios of its
// requirement. A requirement about all answers of an operation also needs the scenarios that send it, and one about all
// answers of a half needs that half.
func (p *prover) selection(t trial) steps.Selection {
	row := t.row
	q := p.catalogue.Find(row.Fails)
	if p.Whole || row.Kind != proof.Fault || q == nil {
		return steps.Selection{}
	}
	if !q.Scenarios[0].Is(features.TagLast) && !t.fault.Elsewhere {
		return steps.Selection{Only: []string{q.ID}}
	}
	_, operation, ofOperation := strings.Cut(q.ID, "-CONTRACT-")
	if !ofOperation {
		return steps.Selection{Profiles: []string{q.Profile}}
	}
	keys := slices.Clone(p.senders[cmp.Or(row.Edition, config.Cloud)][operation])
	for _, s := range q.Scenarios {
		keys = append(keys, s.Key())
	}
	return steps.Selection{Keys: keys}
}

// learn keeps what the unmodified reference has shown.
func (p *prover) learn(row proof.Row, result *reports.Result) {
	senders := map[string][]string{}
	for _, x := range result.Exchanges {
		if key, _, _ := strings.Cut(x.Scenario, " "); !slices.Contains(senders[x.Operation], key) {
			senders[x.Operation] = append(senders[x.Operation], key)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.senders[row.Edition] = senders
	p.passed[row.Edition] = nil
	for _, q := range result.Requirements {
		if q.Verdict == reports.Passed {
			p.passed[row.Edition] = append(p.passed[row.Edition], q.ID)
		}
	}
}

// judge runs the selection of a trial. Against a generated mutant, the run ends with the first failure.
func (p *prover) judge(ctx context.Context, e environment, t trial, cfg *config.Config) (*reports.Result, error) {
	o := p.options(e, cfg)
	o.Select = p.selection(t)
	if t.fault != nil && (t.fault.Explored || t.fault.Elsewhere) {
		cfg.Patience = 20 * time.Millisecond // these servers show at once what was written, and the run may last a second
	}
	switch {
	case t.fault != nil && t.fault.Explored:
		if o.Explore = explored; p.Whole {
			o.Explore *= 2 // the halves share them
		}
	case p.Whole && t.row.Kind != proof.Fault && t.row.Kind != proof.GeneratedMutant:
		o.Explore = suite.Explored // and finds nothing
	}
	if t.row.Kind != proof.GeneratedMutant {
		return steps.Run(ctx, o)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	o.Progress = func(e target.Event) {
		if e.Kind == target.Ended && e.Verdict == reports.Failed {
			stop(&steps.Stopped{By: "the first failure"})
		}
	}
	return steps.Run(ctx, o)
}

// job is what one worker does: the trials with these indices, together.
type job []int

// jobs are all trials: the first, which need not know what the unmodified references show, and those that start when it
// is known. Each starts in this order. In the gate, equivalent mutants that change different places are one job.
func (p *prover) jobs(trials []trial) [2][]job {
	var first, groups, slow, others []job
	for i, t := range trials {
		joins := func(j job) bool {
			return len(j) < togetherAtMost && !slices.ContainsFunc(j, func(k int) bool {
				return trials[k].place == t.place || trials[k].row.Edition != t.row.Edition
			})
		}
		switch {
		case t.first:
			first = append(first, job{i})
		case t.place != "" && !p.Whole:
			at := slices.IndexFunc(groups, joins)
			if at < 0 {
				groups, at = append(groups, nil), len(groups)
			}
			groups[at] = append(groups[at], i)
		case t.slow:
			slow = append(slow, job{i})
		default:
			others = append(others, job{i})
		}
	}
	// Updates, which stand last, and agent servers, which stand first, wait longest: they begin, mixed.
	var mixed []job
	for i := range others {
		at := i / 2
		if i%2 == 0 {
			at = len(others) - 1 - at
		}
		mixed = append(mixed, others[at])
	}
	return [2][]job{first, slices.Concat(slow, groups, mixed)}
}

// do makes the trials of a job. If equivalent mutants that are tried together have a problem, each half of them is tried.
func (p *prover) do(ctx context.Context, e environment, trials []trial, j job, finished func(int, proof.Row)) {
	if len(j) == 1 {
		finished(j[0], p.try(ctx, e, trials[j[0]]))
		return
	}
	var layers []faults.Layer
	for _, i := range j {
		layers = append(layers, trials[i].layer)
	}
	apply := func(o *reference.Options) {
		for _, l := range layers {
			l(o)
		}
	}
	together := p.reference(trials[j[0]].row, apply)
	together.layer = apply
	row := p.try(ctx, e, together)
	if row.Problem != "" {
		half := len(j) / 2
		p.do(ctx, e, trials, j[:half], finished)
		p.do(ctx, e, trials, j[half:], finished)
		return
	}
	for _, i := range j {
		own := row
		own.Name, own.Does, own.Together = trials[i].row.Name, trials[i].row.Does, len(j)
		finished(i, own)
	}
}

// elsewhere tries a mutant that was not killed, and is not explained, in the other edition of the reference too. What
// shows more counts.
func (p *prover) elsewhere(ctx context.Context, e environment, t trial, row proof.Row) proof.Row {
	before := row.Outcome()
	if t.other == nil || before == proof.Killed || before == proof.Explained {
		return row
	}
	other := p.try(ctx, e, *t.other)
	if after := other.Outcome(); after == proof.NotReached || after == proof.Survived && before == proof.Survived {
		return row
	}
	return other
}
