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

// firstKeys are the first keys to configure for a target, with values for which a preview shows how many requirements
// each would add at most. With credentials there may be a deployment to read.
var firstKeys = []struct {
	key string
	set func(*config.Config)
}{
	{"credentials.api_key", func(c *config.Config) { c.Credentials.APIKey, c.Existing.Deployment = "key", "any" }},
	{"create.body", func(c *config.Config) { c.Create.Body = map[string]any{"source": config.GitHost} }},
	{"users", func(c *config.Config) { c.Users = []config.User{{Name: "a", Token: "a"}, {Name: "b", Token: "b"}} }},
}

// showNextSteps prints up to three lines after a test run without a configuration file: how many requirements were
// judged, the key that would add the most, if the target responded, and the command that writes the file.
func (f *runFlags) showNextSteps(w io.Writer, r *reports.Result) error {
	_, err := os.Stat(config.DefaultFile)
	hasFile := err == nil || f.config != ""
	if hasFile || f.bundled || f.quiet || f.format == formatJSON {
		return nil
	}
	fmt.Fprintf(w, "\n%-16s%d of %s, without a configuration file\n", "Tested", overview.Of(r).Tested,
		reports.Count(r.Catalogue(), "requirement"))
	key, added := f.bestKey()
	hasResponse := slices.ContainsFunc(r.Exchanges, func(e reports.Exchange) bool { return e.Status > 0 })
	if key != "" && hasResponse {
		fmt.Fprintf(w, "%-16s%s would add up to %s\n", "Next key", key, reports.Count(added, "requirement"))
	}
	_, err = fmt.Fprintf(w, "%-16sagentconform init%s\n", "Write the file", r.Run.Flags("--target", "--agent-target"))
	return err
}

// bestKey returns the first key that is not set and would add the most requirements, with their number.
func (f *runFlags) bestKey() (key string, added int) {
	now := f.judgedWith(func(*config.Config) {})
	for _, first := range firstKeys {
		if f.options.Config.Has(first.key) {
			continue
		}
		more := f.judgedWith(first.set) - now
		if more > added {
			key, added = first.key, more
		}
	}
	return key, added
}

// judgedWith returns how many requirements a test run would judge with a changed configuration, or 0 if it is invalid.
func (f *runFlags) judgedWith(set func(*config.Config)) int {
	changed := *f.options.Config
	set(&changed)
	p, err := suite.PreviewOf(&changed, f.options.Catalogue, f.options.Select)
	if err != nil {
		return 0
	}
	return p.Judged
}

// preview prints what the test run would do. It sends nothing.
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
	if events := p.Situations; events.Scenarios > 0 {
		line("events", "%s about events; only these need %s with %s; --tags 'not @situation' leaves them out",
			reports.Count(events.Scenarios, "scenario"), reports.Count(events.Deployments, "deployment"),
			reports.Count(events.Revisions, "revision"))
	}
	for _, g := range p.Gaps {
		line("skips", "%s: %s", g.Reason, g.Named(o.Catalogue))
	}
	_, err = io.WriteString(w, b.String())
	return err
}
