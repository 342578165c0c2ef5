package suite

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent/removal"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/resume"
	"github.com/agentconform/agentconform/steps/target"
)

// record has the journal take each exchange.
func record(j *resume.Journal, t *target.Target) {
	if j != nil {
		j.Redact, t.Collector.Record = t.Redact, j.Observe
	}
}

// recording has the journal take the statuses of revisions from the events of a run.
func recording(o Options, start time.Time) func(target.Event) {
	if o.Record == nil {
		return o.Progress
	}
	return func(e target.Event) {
		if e.Kind == target.Polled {
			o.Record.Status(reports.Transition{Revision: e.Name, Status: e.Text, AtMS: time.Since(start).Milliseconds()})
		}
		if o.Progress != nil {
			o.Progress(e)
		}
	}
}

// record has the journal take a verdict. That of a scenario which the end of the run has cut short, to which the target gave no answer,
// or which judges the record of the run, is of no use to whoever goes on.
func (r *run) record(s *features.Scenario, v *verdict) {
	if r.Record == nil || r.forecast.JudgesRecord(s) || v.outcome != nil && (v.outcome.IsBy(reports.ByRun) || v.outcome.IsBy(reports.ByTarget) || v.outcome.IsBy(reports.BySuite)) {
		return
	}
	l := resume.Learned{AgentServer: r.target.AgentAddress(), Searches: r.target.Searches(), Notes: r.target.Notes(), WaitedMS: r.target.Client.Waited().Milliseconds()}
	l.Throttled, l.NotWaited = r.target.Collector.Throttled()
	if r.Broken != nil {
		l.AgentServer = cmp.Or(l.AgentServer, r.Broken.Learned.AgentServer)
		l.Throttled, l.NotWaited, l.WaitedMS = l.Throttled+r.Broken.Learned.Throttled, l.NotWaited+r.Broken.Learned.NotWaited, l.WaitedMS+r.Broken.Learned.WaitedMS
	}
	r.Record.End(resume.Scenario{Key: s.Key(), Outcome: v.outcome, Step: v.step, Sentence: v.sentence, Took: v.took, At: time.Since(r.start),
		Fixtures: r.maker.Uses(s.Key() + " " + s.Name), Learned: l})
}

// takeOver takes what the run has learned before it was broken off, and removes what it had created: whoever needs that makes it anew.
func (r *run) takeOver(ctx context.Context, selected []*features.Scenario) error {
	if r.Broken == nil {
		return nil
	}
	r.earlier = map[string][]string{}
	for _, s := range selected {
		e, ended := r.Broken.Ended[s.Key()]
		if !ended || r.forecast.JudgesRecord(s) {
			continue
		}
		v := &verdict{outcome: e.Outcome, step: e.Step, sentence: e.Sentence, took: e.Took}
		r.verdicts[s.Key()] = v
		r.earlier[s.Key()+" "+s.Name] = e.Fixtures
		r.tellEnd(s, v)
	}
	if l := r.Broken.Learned; l.Searches {
		r.target.ListsBySearch()
	}
	for _, n := range r.Broken.Learned.Notes {
		r.target.Note(n)
	}
	err := r.Broken.Exchanges(func(o *evidence.Observed) error {
		if !sentHere(r.Config, o) {
			return fmt.Errorf("it names a request to %.200q, which is not at the configured target; run without --resume", o.Exchange.URL)
		}
		if !isConfigured(r.Config, o) { // no curl line of the journal's sends a secret there
			o.Exchange.Request.Secrets = nil
		}
		if o.Side == spec.AgentServer {
			r.target.CallsAgentAt(o.Base)
		}
		return r.target.Collector.Take(o)
	})
	if err != nil {
		return fmt.Errorf("taking over what the run had recorded: %w", err)
	}
	if !r.Keep {
		r.cleanEarlier(ctx)
	}
	return nil
}

// cleanEarlier removes what the run created before it was broken off.
func (r *run) cleanEarlier(ctx context.Context) {
	if r.Broken == nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, CleanUpTime, fmt.Errorf("cleaning up has ended after %s", CleanUpTime))
	defer cancel()
	_ = Clean(ctx, r.Config, r.target.Ledger.Earlier(), func(e evidence.Left, problem string) { // the problems stand in the ledger
		r.noteRemoval(e.LedgerEntry, removal.Result{Problem: problem})
	})
}

// Unreachable says that a target did not answer when a broken run was to go on with it: its journal is kept for another try.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string {
	return e.Err.Error() + "; the journal is kept: use run --resume again when the target answers"
}

func (e *Unreachable) Unwrap() error { return e.Err }

// isConfigured tells whether an exchange went to a host that the configuration names.
func isConfigured(c *config.Config, o *evidence.Observed) bool {
	u, err := url.Parse(o.Exchange.URL)
	return err == nil && slices.ContainsFunc([]string{c.Target, c.AgentTarget}, func(address string) bool {
		configured, err := url.Parse(address)
		return err == nil && address != "" && strings.EqualFold(configured.Hostname(), u.Hostname())
	})
}

// sentHere tells whether an exchange of the journal went to the configured target, or to an agent server that its control plane may name.
func sentHere(c *config.Config, o *evidence.Observed) bool {
	base := strings.TrimSuffix(o.Base, "/")
	if rest, under := strings.CutPrefix(o.Exchange.URL, base); base == "" || !under || rest != "" && !strings.ContainsRune("/?", rune(rest[0])) {
		return false
	}
	if o.Side == spec.ControlPlane {
		return base == strings.TrimSuffix(c.Target, "/")
	}
	if base == strings.TrimSuffix(c.AgentTarget, "/") {
		return true
	}
	_, err := target.NamesOf(c).Base(base)
	return c.Target != "" && err == nil
}

// notTaken are the scenarios that no earlier part of the run has judged.
func (r *run) notTaken(all []*features.Scenario) []*features.Scenario {
	if r.Broken == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(s *features.Scenario) bool {
		_, ended := r.Broken.Ended[s.Key()]
		return ended && !r.forecast.JudgesRecord(s)
	})
}

// uses are the names of the fixtures that a scenario asked for, and of those that they are made from.
func (r *run) uses(owner string) []string {
	if names, taken := r.earlier[owner]; taken {
		return names
	}
	return r.maker.Uses(owner)
}

// tellResumed writes into the result what earlier parts of the run have learned beside verdicts and exchanges.
func (r *run) tellResumed(res *reports.Result) {
	b := r.Broken
	if b == nil {
		return
	}
	res.Run.StartedAt, res.Run.Resumed = b.StartedAt.UTC().Truncate(time.Millisecond), b.Resumptions
	res.Target.AgentServer = cmp.Or(res.Target.AgentServer, b.Learned.AgentServer)
	res.Timeline = append(slices.Clone(b.Timeline), res.Timeline...)
	res.Counts.Throttled += b.Learned.Throttled
	res.Counts.NotWaited += b.Learned.NotWaited
	res.Counts.WaitedMS += b.Learned.WaitedMS
}
