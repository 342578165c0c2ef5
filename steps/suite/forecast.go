package suite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// Forecast is what can be known of a run before it begins, from the configuration and the tags of the features.
type Forecast struct {
	config    *config.Config
	selection Selection
	sources   plane.Sources
	existing  *plane.Existing
	refuses   bool                        // the agent server refuses callers without credentials
	over      map[string]*outcome.Outcome // scenarios that the budget leaves out, by key
	member    map[string]int              // which of the shared deployments that scenarios change a scenario changes, by key
}

// Foresee knows nothing of the target yet.
func Foresee(c *config.Config, s Selection) *Forecast {
	return &Forecast{config: c, selection: s, sources: plane.SourcesOf(c), existing: plane.NoneExisting(c)}
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
		f.existing = existing
	}
	status, err := agents.FindRefusal(ctx)
	f.refuses = status != 0
	return err
}

// Lacking returns the outcomes, one of which the scenario has in a run, the first one first; none where it is run. It is not
// selected, its part of the interface is not claimed or has no address, it writes in a run that only reads, the budget is spent on others,
// or the configuration lacks something.
func (f *Forecast) Lacking(s *features.Scenario) []*outcome.Outcome {
	if o := f.leftOut(s); o != nil {
		return []*outcome.Outcome{o}
	}
	return f.lacks(s)
}

func (f *Forecast) leftOut(s *features.Scenario) *outcome.Outcome {
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
	if f.config.Target == "" && (profile != features.AgentServer || len(f.shared(s)) > 0) {
		return outcome.Needs("target", " (the URL of a control plane)")
	}
	if o := f.locked(s); o != nil {
		return o
	}
	if f.config.ReadOnly && writes(s) {
		return outcome.ReadOnly()
	}
	return f.over[s.Key()]
}

// locked skips a scenario that needs credentials of which none are configured.
func (f *Forecast) locked(s *features.Scenario) *outcome.Outcome {
	switch {
	case s.Terms.Anonymous:
	case s.Requirement.Profile != features.AgentServer && !f.config.HasCredentials():
		return outcome.Needs("credentials.api_key")
	case s.Requirement.Profile == features.AgentServer && f.config.AgentTarget != "" && f.refuses:
		return outcome.Needs("users")
	}
	return nil
}

// writes tells whether a scenario may change the target, whatever the configuration.
func writes(s *features.Scenario) bool {
	t := s.Terms
	shares := slices.ContainsFunc(t.Shares, func(name string) bool { return name != features.AgentServer })
	return t.Writes || t.Creates() || shares && t.Reads == nil
}

// lacks returns the outcomes that skip a scenario because the configuration, or what there is to read, lacks something.
func (f *Forecast) lacks(s *features.Scenario) (all []*outcome.Outcome) {
	add := func(err error) {
		var o *outcome.Outcome
		if errors.As(err, &o) && !slices.ContainsFunc(all, func(had *outcome.Outcome) bool { return *had.Skip == *o.Skip }) {
			all = append(all, o)
		}
	}
	t := s.Terms
	if t.Creates() || t.Reads == nil && len(f.shared(s)) > 0 {
		add(f.sources.CanCreate())
	}
	for _, keys := range t.Needs {
		add(f.needs(keys, t.Anonymous))
	}
	if t.Reads != nil {
		add(f.existing.Serves(*t.Reads))
	}
	byName := f.config.ReadOnly && f.config.AgentTarget == "" && f.config.Target != ""
	if byName && !t.Record && slices.Contains(t.Shares, features.AgentServer) {
		add(f.existing.Named())
	}
	return all
}

// shared are the shared deployments that a scenario has made where nobody has before it: none where it reads one that was there.
func (f *Forecast) shared(s *features.Scenario) (names []string) {
	canCreate := f.sources.CanCreate() == nil
	for _, name := range s.Terms.Shares {
		switch {
		case name != features.AgentServer && (s.Terms.Reads == nil || canCreate):
			names = append(names, name)
		case name == features.AgentServer && f.config.AgentTarget == "" && f.config.Target != "" && !f.config.ReadOnly:
			names = append(names, "deployment")
		}
	}
	return names
}

// needs skips what needs one of the keys. Of those that belong to another source than that of the configuration none is told where
// there is another one.
func (f *Forecast) needs(keys []string, anonymous bool) error {
	var told *outcome.Outcome
	for _, key := range keys {
		var o *outcome.Outcome
		if !errors.As(f.needsKey(key, anonymous), &o) {
			return nil
		}
		name, isTrue := strings.CutSuffix(key, "=true")
		switch {
		case told == nil || told.Skip.Kind == reports.NotApplicable:
			told = o
		case isTrue:
			told = outcome.Needs(told.Skip.Key, ", or "+name+" to true")
		}
	}
	return told
}

// ofRepository are the alternatives that deployments from a repository have, in words; those from an image have the others.
var ofRepository = map[string]string{
	"repo_ref": "repo_ref", "tag_ref": "tags", "graph_config_path": "graph_config_path", "broken_ref": "repo_ref", "commits": "commits",
}

// untrue says what follows where a key is not true.
var untrue = map[string]string{
	"tenant_id_alone": "the tenant ID is accepted with the API key only, and a valid key beside another wrong credential is not judged",
}

// hints follow a key that is not set.
var hints = map[string]string{
	"users.1": " (add a second user under users)", "alternatives.commits": " with the commit id of each ref",
}

func (f *Forecast) needsKey(key string, anonymous bool) error {
	key, want, valued := strings.Cut(key, "=")
	alternative, isAlternative := strings.CutPrefix(key, "alternatives.")
	if isAlternative || strings.HasPrefix(key, "create.body") {
		if err := f.sources.CanCreate(); err != nil {
			return err
		}
	}
	source := f.config.Source()
	switch {
	case isAlternative && (ofRepository[alternative] != "") != (source == config.GitHost):
		return outcome.Inapplicable("create.body.source", "deployments from %s have no %s", source, cmp.Or(ofRepository[alternative], "image_uri"))
	case key == "create.body.source" && want != source:
		return outcome.Inapplicable(key, "deployments are created from %s, and not from %s", source, want)
	case valued && key != "create.body.source" && !f.config.Has(key):
		return outcome.Inapplicable(key, "%s", untrue[key])
	case valued || f.config.Has(key):
		return nil
	case key == "users" && anonymous && f.refuses:
		return nil
	case strings.HasPrefix(key, "users.") && !f.config.Has("users"):
		return outcome.Needs("users")
	}
	return outcome.Needs(key, hints[key])
}
