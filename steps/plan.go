package steps

import (
	"strings"

	"github.com/agentconform/agentconform/features"
)

// What a sentence may cost in place of a shared deployment, which goes by its name.
const (
	noDeployment  = ""
	ownDeployment = "of its own"
)

// costs says which sentences need a deployment, and how many revisions they make beside the first one of each. A
// sentence that begins with the key costs what stands there; what a shared deployment costs is paid once.
var costs = []struct {
	sentence, deployment string
	revisions            int
}{
	{"a spare deployment", "spare", 0},
	{"two deployments", "spare", 0},
	{"two deployments", "up", 0},
	{"a new deployment", "up", 0},
	{"a deployment that was created", "up", 0},
	{"a deployment that is up", "up", 0},
	{"a deployment that takes updates", "leased", 0},
	{"a deployment that was updated", "updated", 1},
	{"the agent server of a deployment that was updated", "updated", 1},
	{"a deployment with more than 20 revisions", "long", longHistory - 1},
	{"a deployment whose revisions have settled", "long", longHistory - 1},
	{"a deployment of its own", ownDeployment, 0},
	{"the client creates a deployment", ownDeployment, 0},
	{`the client updates "`, noDeployment, 1},
	{"the client updates it to the tag", noDeployment, 1},
	{"the client updates the deployment to the broken source", noDeployment, 1},
	{"the deployment was updated to the second source", noDeployment, 1},
}

// plan is what the scenarios create at most.
type plan struct{ deployments, revisions int }

// plan says what the scenarios create at most, whatever the budget. Of a scenario that the configuration lets end
// early only what comes before is counted; what only the run finds out is not foreseen.
func (r *run) plan(scenarios []*features.Scenario) plan {
	var p plan
	shared, lacks := map[string]bool{}, r.lacks()
	take := func(deployment string, revisions int) {
		switch {
		case deployment == ownDeployment:
			p.deployments++
			p.revisions++
		case deployment != noDeployment && shared[deployment]:
			return
		case deployment != noDeployment:
			shared[deployment] = true
			p.deployments++
			p.revisions++
		}
		p.revisions += revisions
	}
	for _, s := range scenarios {
		if r.applies(s) != nil {
			continue
		}
		if s.Requirement.Profile == features.AgentServer && r.config.AgentTarget == "" {
			take("up", 0)
		}
		for _, step := range s.Steps {
			if len(lacks.of(step.Text)) > 0 {
				break
			}
			for _, c := range costs {
				if strings.HasPrefix(step.Text, c.sentence) {
					take(c.deployment, c.revisions)
				}
			}
			if scheme, found := strings.CutPrefix(step.Text, "a client with the scheme "); found && strings.HasSuffix(scheme, "create a deployment") {
				take(ownDeployment, 0)
			}
		}
	}
	return p
}

// planned says how many deployments the scenarios create at most.
func (r *run) planned(scenarios []*features.Scenario) int {
	total := r.plan(scenarios).deployments
	if most := r.config.MaxDeployments; most > 0 {
		total = min(total, most)
	}
	return total
}
