package suite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/controlplane"
	"github.com/agentconform/agentconform/steps/endtoend"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Forecast is what can be known of a run before it begins, from the configuration and the definitions of the sentences.
type Forecast struct {
	config    *config.Config
	catalogue *features.Catalogue
	selection Selection
	Sentences *common.Definitions
	lacked    map[string][]*outcome.Outcome // by sentence
	over      map[string]*outcome.Outcome   // scenarios that the budget leaves out, by key
	member    map[string]int                // which deployment of a pool a scenario changes, by key
	target    *target.Target
	plane     *plane.Plane
}

// Foresee asks the definitions, without executing any.
func Foresee(c *config.Config, catalogue *features.Catalogue, s Selection) *Forecast {
	f := &Forecast{config: c, catalogue: catalogue, selection: s, lacked: map[string][]*outcome.Outcome{},
		Sentences: common.NewDefinitions()}
	t := &target.Target{Config: c}
	p := plane.New(t, nil, time.Time{})
	f.target, f.plane = t, p
	define(common.NewRegistrar(f.Sentences, nil), &common.Scene{}, t, p, agent.New(t, p, nil, 1), nil)
	return f
}

// Applies says why a scenario is not run: it is not selected, its part of the interface is not claimed or has no address, it writes in
// a run that only reads, or the budget is spent on others.
func (f *Forecast) Applies(s *features.Scenario) *outcome.Outcome {
	if f.selection.skips(s.Requirement) {
		return outcome.NotSelected("--skip", "not selected: skipped with --skip")
	}
	profile := s.Requirement.Profile
	if chosen := f.selection.Profiles; len(chosen) > 0 && !slices.Contains(chosen, profile) {
		return outcome.NotSelected("--profile", "not selected: the run is limited to --profile %s", strings.Join(chosen, ","))
	}
	if word := features.Claims(f.config.Supports).Lacks(s.Requirement); word != "" {
		return outcome.NotClaimed(word)
	}
	if profile != features.AgentServer && f.config.Target == "" {
		return outcome.Needs("target", " (the URL of a control plane)")
	}
	if o := f.locked(s); o != nil {
		return o
	}
	if f.config.ReadOnly && f.writes(s) {
		return outcome.ReadOnly()
	}
	if o := f.over[s.Key()]; o != nil {
		return o
	}
	return nil
}

// writes tells whether a sentence of the scenario may change the target.
func (f *Forecast) writes(s *features.Scenario) bool {
	return slices.ContainsFunc(s.Steps, func(step features.Step) bool {
		d := f.Sentences.Find(step.Text)
		return d != nil && d.Writes(step.Text)
	})
}

// lackedBy returns the outcomes that the sentence would have because the configuration lacks something.
func (f *Forecast) lackedBy(sentence string) []*outcome.Outcome {
	if found, asked := f.lacked[sentence]; asked {
		return found
	}
	var found []*outcome.Outcome
	if d := f.Sentences.Find(sentence); d != nil {
		for _, err := range d.Lacks(sentence) {
			var o *outcome.Outcome
			if errors.As(err, &o) {
				found = append(found, o)
			}
		}
	}
	f.lacked[sentence] = found
	return found
}

// Lacking returns the outcomes, one of which the scenario would have, the first one first; none where the
// configuration has all that it needs.
func (f *Forecast) Lacking(s *features.Scenario) []*outcome.Outcome {
	if o := f.Applies(s); o != nil {
		return []*outcome.Outcome{o}
	}
	var all []*outcome.Outcome
	for _, step := range s.Steps {
		all = append(all, f.lackedBy(step.Text)...)
	}
	return all
}

// Look asks the target what the configuration does not say: which deployments exist to read, if none can be
// created, and whether the agent server refuses callers without credentials, if no user is configured. It only reads.
// The error is that of the context.
func (f *Forecast) Look(ctx context.Context, p *plane.Plane, agents *agent.Agents) error {
	existing, err := p.FindExisting(ctx)
	if err != nil {
		return err
	}
	if existing != nil {
		f.plane.Existing = existing
	}
	status, err := agents.FindRefusal(ctx)
	f.target.AgentRefuses(status)
	clear(f.lacked)
	return err
}

// locked skips a scenario that needs credentials of which none are configured.
func (f *Forecast) locked(s *features.Scenario) *outcome.Outcome {
	switch {
	case s.Requirement.Profile != features.AgentServer:
		if !f.config.HasCredentials() && f.NeedsCredentials(s) {
			return outcome.Needs("credentials.api_key")
		}
	case f.config.AgentTarget != "" && f.target.AgentRefusal() != 0 && f.NeedsCredentials(s):
		return outcome.Needs("users")
	}
	return nil
}

// NeedsCredentials tells whether a scenario shows something only where its credentials are valid.
func (f *Forecast) NeedsCredentials(s *features.Scenario) bool {
	for _, step := range s.Steps {
		if d := f.Sentences.Find(step.Text); d == nil || d.NeedsCredentials(step.Text) {
			return true
		}
	}
	return false
}

// JudgesRecord tells whether a scenario looks only at what the run has recorded. Such a scenario is judged also in a run
// that was stopped: a recorded violation is a failure.
func (f *Forecast) JudgesRecord(s *features.Scenario) bool {
	return s.Is(features.TagLast) && f.OnRecord(s.Steps[len(s.Steps)-1].Text)
}

func (f *Forecast) OnRecord(sentence string) bool {
	d := f.Sentences.Find(sentence)
	return d != nil && d.OnRecord
}

// define registers every sentence for one scenario, with new worlds. The record is nil where there is no run.
func define(r *common.Registrar, scene *common.Scene, t *target.Target, p *plane.Plane, agents *agent.Agents, record *invariants.Record) {
	c := controlplane.Define(r, scene, t, p)
	agentserver.Define(r, scene, t, p, agents)
	endtoend.Define(r, t, p, agents, c)
	common.DefineClosing(r, scene, t, p.Sources.CanCreate)
	invariants.Define(r, t, record, p.Sources.CanCreate)
}
