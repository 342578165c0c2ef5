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

// Forecast is what can be known of a run before it begins, from the configuration and the tags of the features.
type Forecast struct {
	config    *config.Config
	selection Selection
	sources   plane.Sources
	existing  *plane.Existing
	refuses   bool                        // the agent server refuses callers without credentials
	over      map[string]*outcome.Outcome // scenarios that the budget leaves out, by key
	members   map[string]int              // by key: index of the member of the pool that the scenario changes; 0 if missing
}

// Foresee knows nothing of the target yet.
func Foresee(c *config.Config, s Selection) *Forecast {
	return &Forecast{config: c, selection: s, sources: plane.SourcesOf(c), existing: plane.NoneExisting(c)}
}

// Look asks the target what the configuration does not say: which deployments exist to read, if none can be
// created, and whether the agent server refuses callers without credentials, if no user is configured. It only reads.
// The error is that of the context.
func (f *Forecast) Look(ctx context.Context, p *plane.Plane, agents *agent.Agents) error {
	if err := p.FindExisting(ctx); err != nil {
		return err
	}
	f.existing = p.Existing
	status, err := agents.FindRefusal(ctx)
	f.refuses = status != 0
	return err
}

// Lacking returns the outcomes, one of which the scenario has in a run, the first one first; none where it is run. It
// is not selected, its part of the interface is not claimed or has no address, it writes in a run that only reads, the
// budget is spent on others, or the configuration lacks something.
func (f *Forecast) Lacking(s *features.Scenario) []*outcome.Outcome {
	if o := f.leftOut(s); o != nil {
		return []*outcome.Outcome{o}
	}
	return f.lacks(s)
}

func (f *Forecast) leftOut(s *features.Scenario) *outcome.Outcome {
	c, chosen := f.config, f.selection.Profiles
	profile := s.Requirement.Profile
	ofAgent := profile == features.AgentServer
	unclaimed := features.Claims(c.Supports).Lacks(s.Requirement)
	switch {
	case matchesAny(f.selection.Skip, s.Requirement.ID):
		return outcome.Skipped(reports.NotSelected, "--skip", "not selected: skipped with --skip")
	case len(chosen) > 0 && !slices.Contains(chosen, profile):
		return outcome.Skipped(reports.NotSelected, "--profile", "not selected: the run is limited to --profile %s",
			strings.Join(chosen, ","))
	case unclaimed != "":
		return outcome.Skipped(reports.NotClaimed, unclaimed, "not claimed: supports does not name %s", unclaimed)
	case c.Target == "" && (!ofAgent || len(f.shared(s)) > 0):
		return outcome.Needs("target", " (the URL of a control plane)")
	case !ofAgent && !c.HasCredentials() && !s.Terms.Anonymous:
		return outcome.Needs("credentials.api_key")
	case ofAgent && c.AgentTarget != "" && f.refuses && !s.Terms.Anonymous:
		return outcome.Needs("users")
	case c.ReadOnly && writes(s):
		return outcome.ReadOnly()
	}
	return f.over[s.Key()]
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
		add(f.existing.CheckReads(*t.Reads))
	}
	byName := f.config.ReadOnly && f.config.AgentTarget == "" && f.config.Target != ""
	if byName && !t.Record && slices.Contains(t.Shares, features.AgentServer) {
		add(f.existing.CheckNamed())
	}
	return all
}

// shared are the shared deployments that a scenario has made if nobody has yet: none where it reads an existing one.
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

// needs skips what needs one of the keys. Of those that belong to another source than that of the configuration none is
// told where there is another one.
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

// ofRepository are the alternatives that deployments from a repository have, in words; those from an image have the
// others.
var ofRepository = map[string]string{
	"repo_ref": "repo_ref", "tag_ref": "tags", "graph_config_path": "graph_config_path", "broken_ref": "repo_ref",
	"commits": "commits",
}

// untrue says what follows where a key is not true.
var untrue = map[string]string{
	"tenant_id_alone": "the tenant ID is accepted with the API key only, and a valid key beside another wrong " +
		"credential is not judged",
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
		return outcome.Inapplicable("create.body.source", "deployments from %s have no %s", source,
			cmp.Or(ofRepository[alternative], "image_uri"))
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

// Plan says what the scenarios create, whatever the budget, by their tags, with the first revision of each deployment.
// What depends on answers is not known yet.
func (f *Forecast) Plan(scenarios []*features.Scenario) (p plane.Cost) {
	paid := map[string]bool{}
	for _, s := range scenarios {
		c := f.cost(s, paid)
		p.Deployments += c.Deployments
		p.Revisions += c.Deployments + c.Revisions
	}
	return p
}

// cost is what a scenario creates at most, beside shared deployments that are paid already. It notes those it pays.
func (f *Forecast) cost(s *features.Scenario, paid map[string]bool) (sum plane.Cost) {
	if len(f.Lacking(s)) > 0 {
		return sum
	}
	sum = ownCost(s)
	for _, name := range f.shared(s) {
		member := name
		if name == plane.Changing {
			member += strconv.Itoa(f.members[s.Key()])
		}
		if !paid[member] {
			paid[member] = true
			sum.Deployments += plane.SharedCost(name).Deployments
			sum.Revisions += plane.SharedCost(name).Revisions
		}
	}
	return sum
}

// Spend gives out the deployments of max_deployments before the run, in the order of the features: a scenario that
// needs more than are left is left out. Neither the seed nor the pace of the target decides.
func (f *Forecast) Spend(scenarios []*features.Scenario) {
	most := f.config.MaxDeployments
	if most == 0 {
		return
	}
	f.over = map[string]*outcome.Outcome{}
	paid, left := map[string]bool{}, most
	for _, s := range scenarios {
		with := maps.Clone(paid)
		if cost := f.cost(s, with).Deployments; cost > left {
			f.over[s.Key()] = outcome.OverBudget("max_deployments", most)
		} else {
			paid, left = with, left-cost
		}
	}
}

// AssignMembers assigns the scenarios that change a shared deployment to the members of the pool, because only one
// scenario at a time can change a deployment, and the next one waits until its revision is built. The pool has at most
// [plane.PoolSize] members, and no more than max_deployments and the scenarios that create revisions allow. The order of
// the scenarios decides, so that reports do not depend on timing. It must be called after [Forecast.Spend].
func (f *Forecast) AssignMembers(scenarios []*features.Scenario) {
	var creating, others []*features.Scenario
	for _, s := range scenarios {
		switch {
		case !slices.Contains(s.Terms.Shares, plane.Changing) || len(f.Lacking(s)) > 0:
		case s.Terms.Revisions > 0:
			creating = append(creating, s)
		default:
			others = append(others, s)
		}
	}
	size := min(plane.PoolSize, len(creating))
	if most := f.config.MaxDeployments; most > 0 {
		size = min(size, 1+most-f.Plan(scenarios).Deployments)
	}
	if size < 2 {
		return
	}
	f.members = map[string]int{}
	for i, s := range append(creating, others...) {
		f.members[s.Key()] = i % size
	}
}

// Allowance returns what a scenario may create and use.
func (f *Forecast) Allowance(s *features.Scenario) *plane.Allowance {
	return &plane.Allowance{What: s.Name, Cost: ownCost(s), Shares: f.shared(s), Member: f.members[s.Key()]}
}

// ownCost returns what a scenario creates for itself, without shared deployments.
func ownCost(s *features.Scenario) plane.Cost {
	return plane.Cost{Deployments: s.Terms.Deployments, Revisions: s.Terms.Revisions}
}

// Preview is what a run would do, as far as that is known without a request: what answers would change is not in it.
type Preview struct {
	plane.Cost
	Scenarios, Requirements int    // that are selected
	Judged                  int    // of these requirements, those that would be judged
	Gaps                    []*Gap // what would be left out, and why
}

// PreviewOf returns what a run of the selection would do. It sends nothing.
func PreviewOf(c *config.Config, catalogue *features.Catalogue, s Selection) (*Preview, error) {
	selected, err := s.Apply(catalogue)
	if err != nil {
		return nil, err
	}
	f := Foresee(c, s)
	f.existing.AssumeNamed()
	f.Spend(selected)
	f.AssignMembers(selected)
	p := &Preview{Cost: f.Plan(selected), Scenarios: len(selected), Requirements: len(byRequirement(selected))}
	p.Gaps, p.Judged = f.Gaps(selected)
	return p, nil
}

// Gap is a cause for which requirements are not judged, or not in all their scenarios.
type Gap struct {
	Skip   reports.Skip
	Reason string                  // for people
	Whole  []*features.Requirement // not judged at all
	part   []*features.Requirement
}

// Gaps returns what the configuration leaves out of the scenarios, in their order, and how many requirements it lets
// judge. A requirement that lacks several keys is listed with each.
func (f *Forecast) Gaps(scenarios []*features.Scenario) (gaps []*Gap, judged int) {
	for _, all := range byRequirement(scenarios) {
		lack, free := map[reports.Skip]int{}, 0 // how many of its scenarios
		for _, s := range all {
			lacking := f.Lacking(s)
			if len(lacking) == 0 {
				free++
			}
			for _, o := range lacking {
				if lack[*o.Skip]++; !slices.ContainsFunc(gaps, func(g *Gap) bool { return g.Skip == *o.Skip }) {
					gaps = append(gaps, &Gap{Skip: *o.Skip, Reason: o.Reason})
				}
			}
		}
		judged += min(free, 1)
		for _, g := range gaps {
			switch lack[g.Skip] {
			case 0:
			case len(all):
				g.Whole = append(g.Whole, all[0].Requirement)
			default:
				g.part = append(g.part, all[0].Requirement)
			}
		}
	}
	return gaps, judged
}

// byRequirement groups scenarios: those of a requirement stand together in the features.
func byRequirement(scenarios []*features.Scenario) (groups [][]*features.Scenario) {
	for i, s := range scenarios {
		if i == 0 || s.Requirement != scenarios[i-1].Requirement {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, s)
	}
	return groups
}

// Named names the requirements of the catalogue; those of a group that is there whole as --only takes them.
func (g *Gap) Named(c *features.Catalogue) string {
	var names []string
	isJudged := func(q *features.Requirement) bool { return !slices.Contains(g.Whole, q) }
	for _, q := range g.Whole {
		name := q.ID
		for _, pattern := range groups(q.ID) {
			if members := matching(c, pattern); len(members) > 2 && !slices.ContainsFunc(members, isJudged) {
				name = pattern
				break
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, q := range g.part {
		names = append(names, q.ID+" in part")
	}
	return strings.Join(names, ", ")
}

// groups are the patterns of the requirements beside one, the widest first: CP-* and CP-LIST-* for CP-LIST-3.
func groups(id string) []string {
	side, _, _ := strings.Cut(id, "-")
	return []string{side + "-*", id[:strings.LastIndex(id, "-")+1] + "*"}
}
