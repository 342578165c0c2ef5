package forecast

import (
	"context"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

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
