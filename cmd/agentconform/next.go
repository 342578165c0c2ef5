package main

import (
	"fmt"
	"io"
	"os"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// firstKeys are the keys that a target is tested better with, one after the other, and values with which the plan of a
// run shows what each would add at most: the credentials open a deployment that can be read.
var firstKeys = []struct {
	key string
	set func(*config.Config)
}{
	{"credentials.api_key", func(c *config.Config) { c.Credentials.APIKey, c.Existing.Deployment = "key", "any" }},
	{"create.body", func(c *config.Config) { c.Create.Body = map[string]any{"source": config.GitHost} }},
	{"users", func(c *config.Config) { c.Users = []config.User{{Name: "a", Token: "a"}, {Name: "b", Token: "b"}} }},
}

// leadOn ends a run without a configuration file with three lines: what was judged, the key that would add most, and the
// command that writes the file.
func (f *runFlags) leadOn(w io.Writer, r *reports.Result, cfg *config.Config, catalogue *features.Catalogue) error {
	_, noFile := os.Stat(config.DefaultFile)
	if noFile == nil || f.target.config != "" || f.bundled || f.quiet || f.format == formatJSON {
		return nil
	}
	judged := func(c config.Config) int {
		p, err := steps.PreviewOf(&c, catalogue, f.selection())
		if err != nil {
			return 0
		}
		return p.Judged
	}
	shown := overview.Of(r).Judged
	key, most, now := "", 0, max(judged(*cfg), shown)
	for _, first := range firstKeys {
		with := *cfg
		if first.set(&with); !cfg.Has(first.key) && judged(with)-now > most {
			key, most = first.key, judged(with)-now
		}
	}
	fmt.Fprintf(w, "\n%-16s%d of %s, without a configuration file\n", "Judged", shown,
		reports.Count(r.Catalogue(), "requirement"))
	if key != "" {
		fmt.Fprintf(w, "%-16s%s would add up to %s\n", "Next key", key, reports.Count(most, "requirement"))
	}
	command := "agentconform init"
	if cfg.Target != "" {
		command += " --target " + reports.ShellWord(cfg.Target)
	}
	if cfg.AgentTarget != "" {
		command += " --agent-target " + reports.ShellWord(cfg.AgentTarget)
	}
	_, err := fmt.Fprintf(w, "%-16s%s\n", "Write the file", safe.Line(command))
	return err
}
