package prover

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/proof"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// togetherAtMost is the number of equivalent mutants that the gate combines around one server.
const togetherAtMost = 12

// explored is the number of operations within which exploration must detect a fault that no scenario detects.
const explored = 2000

// selection returns the scenarios that are run against the server of a trial. In the gate, the server of a fault gets
// only the scenarios of its requirement. A requirement about all responses of an operation also needs the scenarios that
// send the operation, and a requirement about all responses of a half needs that half. Scenarios about situations are
// left out unless the fault needs one. All other servers get everything.
func (p *prover) selection(t trial) steps.Selection {
	if t.scenario != "" {
		return steps.Selection{Keys: []string{t.scenario}}
	}
	row := t.row
	q := p.catalogue.Find(row.Fails)
	if p.Whole || row.Kind != proof.Fault || q == nil {
		return steps.Selection{}
	}
	withoutSituations := "not " + features.TagSituation
	if t.fault.Situation {
		withoutSituations = ""
	}
	if !q.Scenarios[0].Is(features.TagLast) && !t.fault.Elsewhere {
		return steps.Selection{Only: []string{q.ID}, Tags: withoutSituations}
	}
	_, operation, ofOperation := strings.Cut(q.ID, "-CONTRACT-")
	if !ofOperation {
		return steps.Selection{Profiles: []string{q.Profile}, Tags: withoutSituations}
	}
	keys := slices.Clone(p.senders[cmp.Or(row.Edition, config.Cloud)][operation])
	for _, s := range q.Scenarios {
		keys = append(keys, s.Key())
	}
	return steps.Selection{Keys: keys}
}

// learn records which scenarios sent which operation to the unmodified reference, and which requirements passed there.
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

// judge runs the selected scenarios of a trial. The test run of a generated mutant ends at the first failure.
func (p *prover) judge(ctx context.Context, e environment, t trial, cfg *config.Config) (*reports.Result, error) {
	o := p.options(e, cfg)
	o.Select = p.selection(t)
	if t.fault != nil && (t.fault.Explored || t.fault.Elsewhere) {
		// These servers show a write at once, and the test run may last a second.
		cfg.Patience = 20 * time.Millisecond
	}
	switch {
	case t.fault != nil && t.fault.Explored && p.Whole:
		o.Explore = 2 * explored // both halves share the operations
	case t.fault != nil && t.fault.Explored:
		o.Explore = explored
	case p.Whole && t.row.Kind != proof.Fault && t.row.Kind != proof.GeneratedMutant:
		o.Explore = suite.Explored // exploration must report nothing here
	}
	if t.row.Kind != proof.GeneratedMutant {
		return steps.Run(ctx, o)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	o.Progress = func(e target.Event) {
		if (e.Kind == target.Ended || e.Kind == target.Changed) && e.Verdict == reports.Failed {
			stop(&steps.Stopped{By: "the first failure"})
		}
	}
	return steps.Run(ctx, o)
}

// job contains the indices of the trials that one worker runs together.
type job []int

// jobs returns two lists of jobs, in the order in which they start. The jobs of the second list need the results of the
// unmodified references, which are in the first. In the gate, equivalent mutants that change different places are one job.
func (p *prover) jobs(trials []trial) [2][]job {
	var first, groups, slow, others []job
	for i, t := range trials {
		switch {
		case t.first:
			first = append(first, job{i})
		case t.place != "" && !p.Whole:
			groups = addToGroup(groups, trials, i)
		case t.slow:
			slow = append(slow, job{i})
		default:
			others = append(others, job{i})
		}
	}
	// Trials of agent servers, which are first in the list, and of updates, which are last, wait longest. They start first,
	// in turn.
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

// addToGroup adds a trial to the first group that it can join, or to a new group.
func addToGroup(groups []job, trials []trial, i int) []job {
	for at, group := range groups {
		if canJoin(group, trials, i) {
			groups[at] = append(group, i)
			return groups
		}
	}
	return append(groups, job{i})
}

// canJoin reports whether a trial can be combined with a group. The group must not be full. All must have the same
// edition and different places, and must not set a configuration key to different values.
func canJoin(group job, trials []trial, i int) bool {
	if len(group) >= togetherAtMost {
		return false
	}
	for _, k := range group {
		if trials[k].place == trials[i].place || trials[k].row.Edition != trials[i].row.Edition {
			return false
		}
		for key, value := range trials[i].config {
			other, isSet := trials[k].config[key]
			if isSet && fmt.Sprint(other) != fmt.Sprint(value) {
				return false
			}
		}
	}
	return true
}

// together returns the trial of one server with the changes and the configuration of several equivalent mutants. Its
// Also and Unjudged have the requirements of all of them.
func (p *prover) together(trials []trial, j job) trial {
	row := trials[j[0]].row
	row.Also, row.Unjudged = map[string]string{}, map[string]string{}
	keys := map[string]any{}
	for _, i := range j {
		maps.Copy(row.Also, trials[i].row.Also)
		maps.Copy(row.Unjudged, trials[i].row.Unjudged)
		maps.Copy(keys, trials[i].config)
	}
	apply := func(o *reference.Options) {
		for _, i := range j {
			trials[i].layer(o)
		}
	}
	all := p.reference(row, apply)
	all.layer, all.config = apply, keys
	return all
}

// do runs the trials of a job. If several equivalent mutants have a problem together, it bisects the job.
func (p *prover) do(ctx context.Context, e environment, trials []trial, j job, finished func(int, proof.Row)) {
	if len(j) == 1 {
		finished(j[0], p.try(ctx, e, trials[j[0]]))
		return
	}
	row := p.try(ctx, e, p.together(trials, j))
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

// elsewhere also tries a surviving mutant in the other edition of the reference, unless the interface allows it. It
// returns the row of the edition that shows more.
func (p *prover) elsewhere(ctx context.Context, e environment, t trial, row proof.Row) proof.Row {
	before := row.Outcome()
	if t.other == nil || before == proof.Killed || before == proof.Explained {
		return row
	}
	other := p.try(ctx, e, *t.other)
	switch other.Outcome() {
	case proof.NotReached:
		return row
	case proof.Survived:
		if before == proof.Survived {
			return row
		}
	}
	return other
}
