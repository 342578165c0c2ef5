package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// leadOn ends a run without a configuration file with the command that writes one.
func (f *runFlags) leadOn(w io.Writer) error {
	_, noFile := os.Stat(config.DefaultFile)
	if noFile == nil || f.config != "" || f.bundled || f.quiet || f.format == formatJSON {
		return nil
	}
	command, c := "agentconform init", f.options.Config
	for _, flag := range [][2]string{{" --target ", c.Target}, {" --agent-target ", c.AgentTarget}} {
		if flag[1] != "" {
			command += flag[0] + reports.ShellWord(flag[1])
		}
	}
	_, err := fmt.Fprintf(w, "\n%-16s%s\n", "Write a file", safe.Line(command))
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
		strings.Join(addressesOf(o.Config), ", agent server "))
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
