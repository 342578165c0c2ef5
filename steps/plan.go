package steps

import (
	"strings"

	"github.com/agentconform/agentconform/features"
)

// costs says which sentences need a deployment: a shared one by its name, or one of the scenario's own ("").
// A sentence that begins with the key costs what stands there.
var costs = []struct{ sentence, shared string }{
	{"a spare deployment", "spare"},
	{"two deployments", "spare"},
	{"two deployments", "up"},
	{"a new deployment", "up"},
	{"a deployment that was created", "up"},
	{"a deployment that is up", "up"},
	{"a deployment that takes updates", "leased"},
	{"a deployment that was updated", "updated"},
	{"a deployment with more than 20 revisions", "long"},
	{"a deployment whose revisions have settled", "long"},
	{"a deployment of its own", ""},
	{"the client creates a deployment", ""},
}

// planned says how many deployments the scenarios create at most. What a skipped scenario would have created is
// counted too, where only the run finds out that it is skipped.
func (r *run) planned(scenarios []*features.Scenario) int {
	shared, own := map[string]bool{}, 0
	for _, s := range scenarios {
		if r.applies(s) != nil {
			continue
		}
		if s.Requirement.Profile == features.AgentServer && r.config.AgentTarget == "" {
			shared["up"] = true
		}
		for _, step := range s.Steps {
			for _, c := range costs {
				if !strings.HasPrefix(step.Text, c.sentence) {
					continue
				}
				if c.shared == "" {
					own++
				} else {
					shared[c.shared] = true
				}
			}
			if scheme, found := strings.CutPrefix(step.Text, "a client with the scheme "); found && strings.HasSuffix(scheme, "create a deployment") {
				own++
			}
		}
	}
	total := len(shared) + own
	if most := r.config.MaxDeployments; most > 0 {
		total = min(total, most)
	}
	return total
}
