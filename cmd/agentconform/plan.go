package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
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

// leadOn ends a run without a configuration file with three lines: what was judged, the key that would add most, and
// the command that writes the file.
func (f *runFlags) leadOn(w io.Writer, r *reports.Result) error {
	_, noFile := os.Stat(config.DefaultFile)
	if noFile == nil || f.config != "" || f.bundled || f.quiet || f.format == formatJSON {
		return nil
	}
	cfg := f.options.Config
	judged := func(c config.Config) int {
		p, err := suite.PreviewOf(&c, f.options.Catalogue, f.options.Select)
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
	for _, flag := range [][2]string{{" --target ", cfg.Target}, {" --agent-target ", cfg.AgentTarget}} {
		if flag[1] != "" {
			command += flag[0] + reports.ShellWord(flag[1])
		}
	}
	_, err := fmt.Fprintf(w, "%-16s%s\n", "Write the file", safe.Line(command))
	return err
}

// preview prints what the run would do, and sends nothing.
func (f *runFlags) preview(s streams) error {
	o := f.options
	if _, err := suite.Binding(o.Catalogue, o.FailOn); err != nil {
		return err
	}
	p, err := suite.PreviewOf(o.Config, o.Catalogue, o.Select)
	if err != nil {
		return err
	}
	var b strings.Builder
	line := func(subject, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s  %s\n", subject, safe.Line(fmt.Sprintf(format, args...)))
	}
	line("plan", "%s of %s at %s; nothing was sent", reports.Count(p.Scenarios, "scenario"),
		reports.Count(p.Requirements, "requirement"),
		strings.Join(o.Config.Addresses(), ", agent server "))
	line("judges", "%d of %s", p.Judged, reports.Count(p.Requirements, "requirement"))
	if p.Deployments+p.Revisions == 0 {
		line("creates", "no deployment")
	} else {
		line("creates", "at most %s with %s", reports.Count(p.Deployments, "deployment"),
			reports.Count(p.Revisions, "revision"))
	}
	for _, g := range p.Gaps {
		line("left out", "%s: %s", g.Reason, g.Named(o.Catalogue))
	}
	_, err = io.WriteString(s.out, b.String())
	return err
}
