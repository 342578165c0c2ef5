package suite

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Explored is how many operations a run explores unless it is told otherwise, where the target is on this machine:
// others may be expensive.
const Explored = 200

// Automatic has a run of all requirements explore, where the target is on this machine.
const Automatic = -1

// explore explores the agent server, and adds a failed scenario to the requirement that an answer breaks, where
// that has not failed already.
func (r *run) explore(ctx context.Context, selected []*features.Scenario) []*features.Scenario {
	automatic := r.Explore == Automatic && r.ExploreCase == nil
	operations := r.Explore
	if automatic {
		operations = Explored
	}
	switch {
	case ctx.Err() != nil || r.target.Config.ReadOnly || r.unreachable != "" || operations == 0 && r.ExploreCase == nil:
		return selected
	case automatic && (!r.Select.all() || r.target.Config.Every() > 0 || !onThisMachine(r.target.AgentAddress())):
		return selected
	case !slices.ContainsFunc(selected, r.servedByAgent):
		if !automatic {
			r.noteUnexplored("no requirement of the agent server was judged: select one with --only")
		}
		return selected
	}
	e, err := explore.New(ctx, r.target, r.agents, func(id string) bool { return r.told(selected, id) })
	if err != nil {
		if !automatic {
			r.noteUnexplored(err.Error())
		}
		return selected
	}
	r.target.Progress(target.Event{Kind: target.Exploring})
	var found explore.Report
	if r.ExploreCase != nil {
		found = e.Case(ctx, r.ExploreCase)
	} else {
		found = e.Explore(ctx, r.Seed, operations)
	}
	if r.explored = found.Sent; found.Unjudged > 0 && ctx.Err() == nil && (!automatic || found.Sent == 0) {
		r.noteUnexplored(fmt.Sprintf("%s could not be judged: %v", reports.Count(found.Unjudged, "sequence"), found.Why))
	}
	if found.Failure == nil {
		return selected
	}
	return r.addFailure(selected, found.Failure)
}

// servedByAgent tells whether a scenario of the agent server was judged: what exploration needs is there then, and
// may be used.
func (r *run) servedByAgent(s *features.Scenario) bool {
	v := r.verdicts[s.Key()]
	return s.Requirement.Profile == features.AgentServer && !s.Terms.Record && v != nil &&
		(v.outcome == nil || v.outcome.Verdict == reports.Failed)
}

// told tells whether the requirement has failed, or is not to be judged.
func (r *run) told(selected []*features.Scenario, id string) bool {
	return slices.ContainsFunc(selected, func(s *features.Scenario) bool {
		v := r.verdicts[s.Key()]
		return s.Requirement.ID == id && v != nil && v.outcome != nil && (v.outcome.Verdict == reports.Failed ||
			r.forecast.leftOut(s) != nil)
	})
}

func (r *run) noteUnexplored(why string) {
	r.target.Note(reports.Note{Kind: reports.NoteExplored,
		Text: r.target.Redact.Excerpt("exploration of the agent server: " + why)})
}

// addFailure adds what exploration has found after the scenarios of its requirement.
func (r *run) addFailure(selected []*features.Scenario, f *explore.Failure) []*features.Scenario {
	last := -1
	for i, s := range selected {
		if s.Requirement.ID == f.Requirement {
			last = i
		}
	}
	if last < 0 {
		last = len(selected) - 1
	}
	s := &features.Scenario{Requirement: r.Catalogue.Find(f.Requirement), Name: f.Name, URI: explore.URI, Line: f.Line}
	var told []string
	for i, o := range f.Operations {
		told = append(told, o.String())
		keyword := "When"
		if i > 0 {
			keyword = "And"
		}
		s.Steps = append(s.Steps, features.Step{Keyword: keyword, Text: o.String(), Line: i + 1})
	}
	v := &f.Violations[0]
	v.Key, v.Count = "exploration", f.Count
	v.Hint = "the sequence: " + strings.Join(told, "; ")
	v.Summary = fmt.Sprintf("after %s: expected %s, got %s", reports.Count(len(f.Operations), "operation"), v.Expected,
		v.Actual)
	found := &verdict{outcome: f.Outcome, step: len(s.Steps) - 1, sentence: s.Steps[len(s.Steps)-1].Text}
	r.verdicts[s.Key()] = found
	if f.Judged > 1 {
		second := found
		if f.Seen < f.Judged {
			second = &verdict{outcome: &outcome.Outcome{Verdict: reports.Passed}, step: -1}
		}
		if r.again == nil {
			r.again = map[string]*verdict{}
		}
		r.again[s.Key()] = second
	}
	return slices.Insert(selected, last+1, s)
}

// onThisMachine tells whether an address is on the loopback interface.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
