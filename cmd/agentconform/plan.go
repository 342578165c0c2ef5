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
)

// showNextSteps prints up to three lines after a test run without a configuration file: how many requirements were
// judged, the key that would add the most, if the target responded, and the command that writes the file. A recording has
// no next steps.
func (f *runFlags) showNextSteps(w io.Writer, r *reports.Result) error {
	_, err := os.Stat(config.DefaultFile)
	hasFile := err == nil || f.config != ""
	if hasFile || r.Run.Recording != nil || f.bundled || f.quiet || f.isForPrograms() {
		return nil
	}
	fmt.Fprintf(w, "\n%-16s%d of %s, without a configuration file\n", "Tested", overview.Of(r).Tested,
		reports.Count(r.Catalogue(), "requirement"))
	hasResponse := slices.ContainsFunc(r.Exchanges, func(e reports.Exchange) bool { return e.Status > 0 })
	if len(r.MissingKeys) > 0 && hasResponse {
		next := r.MissingKeys[0]
		fmt.Fprintf(w, "%-16s%s would add %s\n", "Next key", next.Key, reports.Count(next.Adds, "requirement"))
	}
	_, err = fmt.Fprintf(w, "%-16sagentconform init%s\n", "Write the file", r.Run.Flags("--target", "--agent-target"))
	return err
}

// preview prints what the test run would do. It sends no requests.
func (f *runFlags) preview(w io.Writer) error {
	o := f.options
	p, err := o.Preview()
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
	if o.Repeat > 1 {
		line("repeats", "%d times; the numbers below are those of all repetitions", o.Repeat)
	}
	if p.Deployments+p.Revisions == 0 {
		line("creates", "no deployment")
	} else {
		line("creates", "at most %s with %s", reports.Count(p.Deployments, "deployment"),
			reports.Count(p.Revisions, "revision"))
	}
	if p.Explored > 0 {
		line("explores", "up to %d more deployments; --explore 0 leaves this out", p.Explored)
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
