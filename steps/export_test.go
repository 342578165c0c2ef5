package steps

import (
	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/config"
)

// Foreseen returns why each scenario would be skipped, by its place, as far as the configuration tells before a run.
func Foreseen(c *config.Config, catalogue *features.Catalogue) map[string]string {
	r := &run{Options: Options{Catalogue: catalogue}, config: c}
	l, all := r.lacks(), map[string]string{}
	for _, s := range catalogue.Scenarios() {
		if lacking := r.lacking(l, s); len(lacking) > 0 {
			all[s.Key()] = lacking[0].reason
		}
	}
	return all
}

// Plan returns how many deployments and revisions a run creates at most.
func Plan(c *config.Config, catalogue *features.Catalogue) (deployments, revisions int) {
	r := &run{Options: Options{Catalogue: catalogue}, config: c}
	p := r.plan(catalogue.Scenarios())
	return p.deployments, p.revisions
}
