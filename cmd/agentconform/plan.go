package main

import (
	"fmt"
	"io"
	"os"
	"slices"
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

// leadOn ends a run without a configuration file with three lines: what was judged, the key that would add most
// where the target answers, and the command that writes the file.
func (f *runFlags) leadOn(w io.Writer, r *reports.Result) error {
	_, noFile := os.Stat(config.DefaultFile)
	if noFile == nil || f.config != "" || f.bundled || f.quiet || f.format == formatJSON {
		return nil
	}
	fmt.Fprintf(w, "\n%-16s%d of %s, without a configuration file\n", "Judged", overview.Of(r).Judged,
		reports.Count(r.Catalogue(), "requirement"))
	judged := func(set func(*config.Config)) int {
		with := *f.options.Config
		set(&with)
		p, err := suite.PreviewOf(&with, f.options.Catalogue, f.options.Select)
		if err != nil {
			return 0
		}
		return p.Judged
	}
	key, most, without := "", 0, judged(func(*config.Config) {})
	for _, first := range firstKeys {
		if more := judged(first.set) - without; more > most && !f.options.Config.Has(first.key) {
			key, most = first.key, more
		}
	}
	answered := slices.ContainsFunc(r.Exchanges, func(e reports.Exchange) bool { return e.Status > 0 })
	if key != "" && answered {
		fmt.Fprintf(w, "%-16s%s would add up to %s\n", "Next key", key, reports.Count(most, "requirement"))
	}
	_, err := fmt.Fprintf(w, "%-16sagentconform init%s\n", "Write the file", r.Run.Flags("--target", "--agent-target"))
	return err
}

// preview prints what the run would do, and sends nothing.
func (f *runFlags) preview(w io.Writer) error {
	o := f.options
	p, err := suite.PreviewOf(o.Config, o.Catalogue, o.Select)
	if err != nil {
		return err
	}
	var b strings.Builder
	line := func(subject, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s  %s\n", subject, safe.Line(fmt.Sprintf(format, args...)))
	}
	all := reports.Count(p.Requirements, "requirement")
	line("plan", "%s of %s at %s; nothing was sent", reports.Count(p.Scenarios, "scenario"), all,
		strings.Join(o.Config.Addresses(), ", agent server "))
	line("judges", "%d of %s", p.Judged, all)
	if p.Deployments+p.Revisions == 0 {
		line("creates", "no deployment")
	} else {
		line("creates", "at most %s with %s", reports.Count(p.Deployments, "deployment"),
			reports.Count(p.Revisions, "revision"))
	}
	for _, g := range p.Gaps {
		line("left out", "%s: %s", g.Reason, g.Named(o.Catalogue))
	}
	_, err = io.WriteString(w, b.String())
	return err
}
