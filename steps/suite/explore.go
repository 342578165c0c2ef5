package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Explored is the default number of operations for a target on this machine that builds quickly. For other targets the
// default is 0, because operations may be expensive.
const Explored = 200

// Automatic means: explore [Explored] operations if the test run selects all requirements and operations are cheap.
const Automatic = -1

// explore explores the halves of the interface, which share the number of operations. If a response violates a
// requirement that has not failed, it adds a failed scenario to that requirement.
func (r *run) explore(ctx context.Context) {
	if ctx.Err() != nil || r.target.Config.ReadOnly || r.unreachable != "" {
		return
	}
	var all []*explore.Explorer
	for _, profile := range []string{features.ControlPlane, features.AgentServer} {
		e, err := r.explorer(ctx, profile)
		if e != nil {
			all = append(all, e)
		} else if err != nil && !r.automatic() {
			r.noteUnexplored(profile, err)
		}
	}
	if len(all) == 0 {
		if r.Explore > 0 {
			r.noteUnexplored("interface", errors.New("neither half of it was judged: select a requirement with --only"))
		}
		return
	}
	r.target.Progress(target.Event{Kind: target.Exploring})
	operations := r.operations()
	found := make([]explore.Report, len(all))
	var wait sync.WaitGroup
	for i, e := range all {
		wait.Go(func() {
			client.Stagger(i * 100) // the sequences of each half start before those of the next one
			if r.ExploreCase != nil {
				found[i] = e.Case(ctx, explore.Of(e.Profile, r.ExploreCase))
			} else {
				found[i] = e.Explore(ctx, r.Seed, (operations+i)/len(all))
			}
		})
	}
	wait.Wait()
	for i, f := range found {
		r.explored += f.Sent
		mustNote := !r.automatic() || f.Sent == 0
		if mustNote && len(f.Unjudged) > 0 && ctx.Err() == nil {
			count := reports.Count(len(f.Unjudged), "sequence")
			r.noteUnexplored(all[i].Profile, fmt.Errorf("%s could not be judged: %w", count, f.Unjudged[0]))
		}
		if f.Failure != nil {
			r.addFailure(all[i].Profile, f.Failure)
		}
	}
}

// Exploration returns the maximum number of deployments that a test run with the options creates to explore the control
// plane. scenarios is the maximum number for the scenarios. It is known before the test run.
func (o *Options) Exploration(scenarios int) int { return max(o.Repeat, 1) * o.exploration(scenarios) }

// exploration returns the maximum number for each repetition.
func (o *Options) exploration(scenarios int) int {
	c := o.Config
	if c.ReadOnly || c.Target == "" || plane.SourcesOf(c).CanCreate() != nil || !o.explores(features.ControlPlane, c.Target) {
		return 0
	}
	n := explore.Deployments(o.operations(), c.MaxDeployments > 0)
	if c.MaxDeployments > 0 {
		n = max(min(n, (c.MaxDeployments-scenarios)/max(o.Repeat, 1)), 0)
	}
	return n
}

// operations returns the number of random operations, or 0 if a sequence is given.
func (o *Options) operations() int {
	switch {
	case o.ExploreCase != nil:
		return 0
	case o.automatic():
		return Explored
	}
	return o.Explore
}

// automatic reports whether the user has not chosen the number of operations.
func (o *Options) automatic() bool { return o.Explore == Automatic && o.ExploreCase == nil }

// explores reports whether the options ask for exploration of the half at an address. By default, it is explored if the
// test run selects all requirements of the half and operations are cheap.
func (o *Options) explores(profile, address string) bool {
	if o.automatic() {
		return o.Config.Every() == 0 && client.OnThisMachine(address) && o.Select.all(profile)
	}
	return o.Explore > 0 || o.ExploreCase != nil
}

// explorer returns an explorer of a half of the interface, or nil if the half must not be explored. The error is the
// reason why it cannot be explored. Deployments on another machine are expensive, so max_deployments must limit them.
func (r *run) explorer(ctx context.Context, profile string) (*explore.Explorer, error) {
	c, ofPlane, isCase := r.target.Config, profile == features.ControlPlane, r.ExploreCase != nil
	address := r.target.AgentAddress()
	if ofPlane {
		address = c.Target
	}
	isExpensive := r.automatic() && ofPlane && r.buildsSlowly()
	isCaseOfOther := isCase && len(explore.Of(profile, r.ExploreCase)) == 0
	if isCaseOfOther || isExpensive || !r.explores(profile, address) {
		return nil, nil
	}
	served := func(s *features.Scenario) bool { // the scenario has used the objects that exploration needs, so they exist
		v := r.verdicts[s.Key()] // nil for a scenario that judges the record, which is executed later
		return v != nil && (v.Verdict == reports.Passed || v.Verdict == reports.Failed) &&
			s.Requirement.Profile == profile && (!ofPlane || s.Terms.Creates() || len(r.forecast.shared(s)) > 0)
	}
	if !slices.ContainsFunc(r.selected, served) {
		if !isCase {
			return nil, nil
		}
		return nil, errors.New("no scenario of this test run used it: select one with --only")
	}
	if !ofPlane {
		if !isCase && r.failedOrLeftOut("AS-RUN-5") {
			return nil, errors.New("the join of a completed run does not return as it must (AS-RUN-5)")
		}
		return explore.NewAgentServer(ctx, r.target, r.agents, r.failedOrLeftOut, r.situations.KeepsRuns)
	}
	if !isCase && c.MaxDeployments == 0 && !client.OnThisMachine(address) {
		return nil, errors.New("it creates deployments on another machine: set max_deployments to how many a test run may create")
	}
	if r.failedOrLeftOut("CP-POLL-1") {
		return nil, errors.New("its deployments do not become DEPLOYED (CP-POLL-1)")
	}
	n := explore.Deployments(r.operations(), c.MaxDeployments > 0)
	if r.isRepeated() && c.MaxDeployments > 0 {
		n = r.exploration(r.planned)
	}
	return explore.NewControlPlane(r.target, r.plane, n, r.failedOrLeftOut)
}

// buildsSlowly reports whether a revision took so long that exploration should build more only at the user's request.
func (r *run) buildsSlowly() bool {
	const quick = 5000 // milliseconds
	began := map[string]int64{}
	for _, t := range r.plane.Timeline() {
		if first, known := began[t.Revision]; !known {
			began[t.Revision] = t.AtMS
		} else if t.AtMS-first > quick {
			return true
		}
	}
	return false
}

// failedOrLeftOut reports whether the requirement has failed or cannot be judged.
func (r *run) failedOrLeftOut(id string) bool {
	return slices.ContainsFunc(r.selected, func(s *features.Scenario) bool {
		v := r.verdicts[s.Key()]
		return s.Requirement.ID == id && v != nil && (v.Verdict == reports.Failed || r.forecast.leftOut(s) != nil)
	})
}

func (r *run) noteUnexplored(profile string, why error) {
	half := strings.ReplaceAll(profile, "-", " ")
	r.target.Note(reports.Note{Kind: reports.NoteExplored,
		Text: r.target.Redact.Excerpt("exploration of the " + half + ": " + why.Error())})
}

// addFailure adds a failed sequence as a scenario, after the scenarios of its requirement. Requirement sets do not
// contain random sequences. If a write of the sequence was sent twice, only a leak is a failure.
func (r *run) addFailure(profile string, f *explore.Failure) {
	x := r.repeatedWrite(fmt.Sprintf("%s:%d %s", f.URI, f.Line, f.Name))
	if x != nil && !isLeak(r.Catalogue.Find(f.Requirement), f.Outcome) {
		r.noteUnexplored(profile, fmt.Errorf("%s %s: %s", x.Method, safe.ShortIDs(x.Path), reports.RepeatedNote))
		return
	}
	at := len(r.selected)
	for i, s := range r.selected {
		if s.Requirement.ID == f.Requirement {
			at = i + 1
		}
	}
	q := r.Catalogue.Find(f.Requirement)
	s := &features.Scenario{Requirement: q, Name: f.Name, URI: f.URI, Line: f.Line, After: q.After}
	keyword := "When"
	for i, o := range f.Operations {
		s.Steps = append(s.Steps, features.Step{Keyword: keyword, Text: o.String(), Line: i + 1})
		keyword = "And"
	}
	v := &f.Violations[0]
	v.Count = f.Count
	v.Hint = "random operations found this; the page lists the " + reports.Count(len(f.Operations), "operation") + " that show it"
	v.Summary += ", after " + reports.Count(len(f.Operations), "operation")
	found := &verdict{Outcome: f.Outcome, step: len(s.Steps) - 1}
	r.verdicts[s.Key()] = found
	if r.Set != nil {
		r.newer = append(r.newer, s)
	} else {
		r.selected = slices.Insert(r.selected, at, s)
	}
	if f.Judged > 1 {
		found.again = found
		if f.Seen < f.Judged {
			found.again = &verdict{Outcome: &outcome.Outcome{Verdict: reports.Passed}}
		}
	}
}
