package suite

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// Forecast describes a test run before it begins, derived from the configuration and the tags of the features. It
// determines which scenarios run, and how many objects they may create.
type Forecast struct {
	config    *config.Config
	selection Selection
	repeat    int // repetitions of the scenarios
	sources   plane.Sources
	existing  *plane.Existing
	recorded  bool                        // a recording is judged, and nothing is sent
	refuses   bool                        // the agent server refuses callers without credentials
	over      map[string]*outcome.Outcome // the skips of scenarios for which the budget is too small, by key
	members   map[string]int              // index of the member of the pool that a scenario changes, by key; 0 if missing
}

// NewForecast returns the forecast of a test run, without requests to the target.
func NewForecast(c *config.Config, s Selection) *Forecast {
	return &Forecast{config: c, selection: s, repeat: 1, sources: plane.SourcesOf(c), existing: plane.NoneExisting(c)}
}

// Look completes the forecast with requests that only read. If no deployment can be created, it finds the existing ones.
// If no user is configured, it checks whether the agent server refuses callers without credentials. Test runs and doctor
// send the same requests. The error is the cause of the context.
func (f *Forecast) Look(ctx context.Context, p *plane.Plane, agents *agent.Agents) error {
	if err := p.FindExisting(ctx); err != nil {
		return err
	}
	f.existing = p.Existing
	status, err := agents.FindRefusal(ctx)
	f.refuses = status != 0
	return err
}

// Lacking returns the reasons why a scenario does not run, each as an outcome. It returns nil if the scenario runs. A
// test run uses the first outcome.
func (f *Forecast) Lacking(s *features.Scenario) []*outcome.Outcome {
	if o := f.leftOut(s); o != nil {
		return []*outcome.Outcome{o}
	}
	return f.lacks(s)
}

// leftOut returns the outcome of a scenario that is left out, or nil: it is not selected or not claimed, its half has no
// address or no credentials, it writes in a test run that only reads, or the budget is too small.
func (f *Forecast) leftOut(s *features.Scenario) *outcome.Outcome {
	c := f.config
	profiles := f.selection.Profiles
	profile := s.Requirement.Profile
	ofAgent := profile == features.AgentServer
	unclaimed := features.Claims(c.Supports).Lacks(s.Requirement)
	switch {
	case matchesAny(f.selection.Skip, s.Requirement.ID):
		return outcome.Skipped(reports.NotSelected, "--skip", "not selected: skipped with --skip")
	case len(profiles) > 0 && !slices.Contains(profiles, profile):
		return outcome.Skipped(reports.NotSelected, "--profile", "not selected: the run is limited to --profile %s",
			strings.Join(profiles, ","))
	case unclaimed != "":
		return outcome.Skipped(reports.NotClaimed, unclaimed, "not claimed: supports does not name %s", unclaimed)
	case f.recorded && (ofAgent || c.Target != ""):
		return nil
	case c.Target == "" && (!ofAgent || len(f.shared(s)) > 0):
		return outcome.Needs("target", " (the URL of a control plane)")
	case !ofAgent && !c.HasCredentials() && !s.Terms.Anonymous:
		return outcome.Needs("credentials.api_key")
	case profile != features.ControlPlane && f.refuses && !s.Terms.Anonymous:
		return outcome.Needs("users")
	case c.ReadOnly && writes(s):
		return outcome.ReadOnly()
	}
	return f.over[s.Key()]
}

// writes reports whether a scenario may change the target with some configuration.
func writes(s *features.Scenario) bool {
	t := s.Terms
	if t.Writes || t.Creates() {
		return true
	}
	isDeployment := func(name string) bool { return name != features.AgentServer }
	return t.Reads == nil && slices.ContainsFunc(t.Shares, isDeployment)
}

// lacks returns the skips of a scenario because of missing keys, or missing features of the target. Each cause is
// returned once.
func (f *Forecast) lacks(s *features.Scenario) []*outcome.Outcome {
	if f.recorded {
		return f.lacksInRecording(s)
	}
	t := s.Terms
	var errs []error
	happens := s.Is(features.TagSituation) && s.Requirement.Profile == features.ControlPlane // events never happen to existing deployments
	if t.Creates() || happens || t.Reads == nil && len(f.shared(s)) > 0 {
		errs = append(errs, f.sources.CanCreate())
	}
	for _, keys := range t.Needs {
		errs = append(errs, f.needs(keys, t.Anonymous))
	}
	if t.Reads != nil && !happens {
		errs = append(errs, f.existing.CheckReads(*t.Reads))
	}
	onlyReadsAgent := f.config.ReadOnly && f.config.AgentTarget == "" && f.config.Target != ""
	if onlyReadsAgent && !t.Record && slices.Contains(t.Shares, features.AgentServer) {
		errs = append(errs, f.existing.CheckNamed())
	}
	var all []*outcome.Outcome
	for _, err := range errs {
		var o *outcome.Outcome
		if !errors.As(err, &o) {
			continue
		}
		isKnown := func(known *outcome.Outcome) bool { return *known.Skip == *o.Skip }
		if !slices.ContainsFunc(all, isKnown) {
			all = append(all, o)
		}
	}
	return all
}

// lacksInRecording returns the skips of a scenario that judges a recording. It needs the configured facts about the
// target, but no keys for sending requests. Without users, only callers without credentials are judged.
func (f *Forecast) lacksInRecording(s *features.Scenario) (all []*outcome.Outcome) {
	for _, keys := range s.Terms.Needs {
		isOfRequests := strings.HasPrefix(keys[0], "create.body")
		isOfUsers := strings.HasPrefix(keys[0], "users")
		if isOfRequests || isOfUsers && f.refuses {
			continue
		}
		var o *outcome.Outcome
		if errors.As(f.needs(keys, s.Terms.Anonymous), &o) {
			all = append(all, o)
		}
	}
	return all
}

// shared returns the names of the shared deployments that a scenario uses and that the test run creates. It returns none
// for a scenario that reads an existing deployment.
func (f *Forecast) shared(s *features.Scenario) []string {
	canCreate := f.sources.CanCreate() == nil
	deploysAgent := f.config.AgentTarget == "" && f.config.Target != "" && !f.config.ReadOnly
	var names []string
	for _, name := range s.Terms.Shares {
		if name == features.AgentServer {
			if deploysAgent {
				names = append(names, "deployment")
			}
			continue
		}
		if s.Terms.Reads == nil || canCreate {
			names = append(names, name)
		}
	}
	return names
}

// needs returns the skip of a scenario that needs one of several keys, or nil if the configuration has one. It mentions a
// key of a different source only if no other key applies.
func (f *Forecast) needs(keys []string, anonymous bool) error {
	var skip *outcome.Outcome
	for _, key := range keys {
		var o *outcome.Outcome
		if !errors.As(f.needsKey(key, anonymous), &o) {
			return nil
		}
		if skip == nil || skip.Skip.Kind == reports.NotApplicable {
			skip = o
			continue
		}
		name, isTrue := strings.CutSuffix(key, "=true")
		if isTrue {
			skip = outcome.Needs(skip.Skip.Key, ", or "+name+" to true")
		}
	}
	if skip == nil {
		return nil
	}
	return skip
}

// ofRepository has the alternatives for deployments from a repository, in words. All other alternatives are for
// deployments from an image.
var ofRepository = map[string]string{
	"repo_ref": "repo_ref", "tag_ref": "tags", "graph_config_path": "graph_config_path",
	"graph_config_differs": "graph_config_path", "broken_ref": "repo_ref",
	"commits": "commits",
}

// untrue has the reason for the skip if a key is not true.
var untrue = map[string]string{
	"tenant_id_alone": "the tenant ID is accepted with the API key only, and a valid key beside another wrong " +
		"credential is not judged",
}

// hints has texts that follow a missing key.
var hints = map[string]string{
	"users.1":               " (add a second user under users)",
	"users.2.same_identity": " (add a third user with the identity of the first in another team)",
	"agent.blocked_token":   " (a token that the authentication handler knows and refuses)",
	"alternatives.commits":  " with the commit id of each ref",
}

// needsKey returns the skip of a scenario that needs a key, or nil if the configuration has it. A key may have a value:
// "tenant_id_alone=true".
func (f *Forecast) needsKey(key string, anonymous bool) error {
	key, want, hasValue := strings.Cut(key, "=")
	alternative, isAlternative := strings.CutPrefix(key, "alternatives.")
	if isAlternative || strings.HasPrefix(key, "create.body") {
		if err := f.sources.CanCreate(); err != nil {
			return err
		}
	}
	source := f.config.Source()
	fromRepository := source == config.GitHost
	if isAlternative && (ofRepository[alternative] != "") != fromRepository {
		return outcome.Inapplicable("create.body.source", "deployments from %s have no %s", source,
			cmp.Or(ofRepository[alternative], "image_uri"))
	}
	if key == "create.body.source" && want != source {
		return outcome.Inapplicable(key, "deployments are created from %s, and not from %s", source, want)
	}
	if hasValue && key != "create.body.source" && !f.config.Has(key) {
		return outcome.Inapplicable(key, "%s", untrue[key])
	}
	if hasValue || f.config.Has(key) {
		return nil
	}
	if key == "users" && anonymous && f.refuses {
		return nil
	}
	if strings.HasPrefix(key, "users.") && !f.config.Has("users") {
		return outcome.Needs("users")
	}
	if user := userOf(key); hints[key] == "" && !f.config.Has(user) { // the key is not enough, because a user also needs a token
		key = user
	}
	return outcome.Needs(key, hints[key])
}

// userOf returns the key of the user that a key belongs to, such as users.1 for users.1.identity. It returns any other
// key unchanged.
func userOf(key string) string {
	parts := strings.SplitN(key, ".", 3)
	if parts[0] == "users" && len(parts) == 3 {
		return parts[0] + "." + parts[1]
	}
	return key
}

// Plan returns the maximum number of objects that the scenarios create, according to their tags and regardless of the
// budget. The revisions include the first one of each deployment.
func (f *Forecast) Plan(scenarios []*features.Scenario) plane.Cost {
	var plan plane.Cost
	paid := map[string]bool{}
	for _, s := range scenarios {
		c := f.cost(s, paid)
		plan.Deployments += c.Deployments
		plan.Revisions += c.Deployments + c.Revisions
	}
	return plan
}

// cost returns the maximum number of objects that a scenario creates. Shared deployments in paid cost nothing, and cost
// adds the ones that the scenario uses.
func (f *Forecast) cost(s *features.Scenario, paid map[string]bool) plane.Cost {
	if len(f.Lacking(s)) > 0 {
		return plane.Cost{}
	}
	sum := ownCost(s)
	sum.Deployments *= f.repeat
	sum.Revisions *= f.repeat
	for _, name := range f.shared(s) {
		member := name
		if name == plane.Changing {
			member += strconv.Itoa(f.members[s.Key()])
		}
		if !paid[member] {
			paid[member] = true
			shared := plane.SharedCost(name)
			sum.Deployments += shared.Deployments
			if name == plane.Events { // they happen in each repetition
				shared.Revisions *= f.repeat
			}
			sum.Revisions += shared.Revisions
		}
	}
	return sum
}

// Spend distributes the deployments of max_deployments before the test run, in the order of the features, and last to the
// scenarios about events. A scenario that needs more than the rest is skipped. The result depends neither on the seed nor
// on the speed of the target.
func (f *Forecast) Spend(scenarios []*features.Scenario) {
	budget := f.config.MaxDeployments
	if budget == 0 {
		return
	}
	f.over = map[string]*outcome.Outcome{}
	paid := map[string]bool{}
	remaining := budget
	for _, s := range eventsLast(scenarios) {
		paidWith := maps.Clone(paid)
		cost := f.cost(s, paidWith).Deployments
		if cost > remaining {
			f.over[s.Key()] = outcome.OverBudget("max_deployments", budget)
			continue
		}
		paid = paidWith
		remaining -= cost
	}
}

// eventsLast returns the scenarios, ordered so that those about events are last.
func eventsLast(scenarios []*features.Scenario) []*features.Scenario {
	var others, events []*features.Scenario
	for _, s := range scenarios {
		if s.Is(features.TagSituation) {
			events = append(events, s)
		} else {
			others = append(others, s)
		}
	}
	return append(others, events...)
}

// AssignMembers assigns the scenarios that change a shared deployment to the members of the pool, because only one
// scenario at a time can change a deployment, and the next one waits until its revision is built. The number of members
// is limited by [plane.PoolSize], by max_deployments, and by the number of scenarios that create revisions. The
// assignment depends on the order of the scenarios and not on timing, so that reports are reproducible. Call it after
// [Forecast.Spend].
func (f *Forecast) AssignMembers(scenarios []*features.Scenario) {
	var creating, others []*features.Scenario
	for _, s := range scenarios {
		if !slices.Contains(s.Terms.Shares, plane.Changing) || len(f.Lacking(s)) > 0 {
			continue
		}
		if s.Terms.Revisions > 0 {
			creating = append(creating, s)
		} else {
			others = append(others, s)
		}
	}
	size := min(plane.PoolSize, len(creating))
	if budget := f.config.MaxDeployments; budget > 0 {
		size = min(size, 1+budget-f.Plan(scenarios).Deployments)
	}
	if size < 2 {
		return
	}
	f.members = map[string]int{}
	for i, s := range append(creating, others...) {
		f.members[s.Key()] = i % size
	}
}

// Allowance returns the limits of a scenario: the objects that it may create and use.
func (f *Forecast) Allowance(s *features.Scenario) *plane.Allowance {
	return &plane.Allowance{Name: "features/" + s.Attribution(), Cost: ownCost(s), Shares: f.shared(s), Member: f.members[s.Key()]}
}

// ownCost returns the cost of a scenario without shared deployments.
func ownCost(s *features.Scenario) plane.Cost {
	return plane.Cost{Deployments: s.Terms.Deployments, Revisions: s.Terms.Revisions}
}

// byRequirement groups scenarios by requirement. Those of one requirement are next to each other in the features.
func byRequirement(scenarios []*features.Scenario) [][]*features.Scenario {
	var groups [][]*features.Scenario
	for i, s := range scenarios {
		if i == 0 || s.Requirement != scenarios[i-1].Requirement {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, s)
	}
	return groups
}
