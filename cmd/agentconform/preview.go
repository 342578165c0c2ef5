package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// preview prints what the run would do, and sends nothing.
func (f *runFlags) preview(cfg *config.Config, selection steps.Selection, s streams) error {
	catalogue, err := features.Load()
	if err != nil {
		return err
	}
	if _, err := steps.Binding(catalogue, f.failOn); err != nil {
		return err
	}
	p, err := steps.PreviewOf(cfg, catalogue, selection)
	if err != nil {
		return err
	}
	return writePreview(s.out, cfg, catalogue, p)
}

func writePreview(w io.Writer, cfg *config.Config, catalogue *features.Catalogue, p *steps.Preview) error {
	var b strings.Builder
	line := func(subject, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s  %s\n", subject, safe.Line(fmt.Sprintf(format, args...)))
	}
	line("plan", "%s of %s at %s; nothing was sent", reports.Count(p.Scenarios, "scenario"), reports.Count(p.Requirements, "requirement"),
		strings.Join(addressesOf(cfg), ", agent server "))
	line("judges", "%d of %s", p.Judged, reports.Count(p.Requirements, "requirement"))
	if p.Deployments+p.Revisions == 0 {
		line("creates", "no deployment")
	} else {
		line("creates", "at most %s with %s", reports.Count(p.Deployments, "deployment"), reports.Count(p.Revisions, "revision"))
	}
	for _, g := range p.Gaps {
		line("left out", "%s: %s", g.Reason, g.Named(catalogue))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
