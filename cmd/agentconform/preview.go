package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
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
	earlier := f.earlierRun(cfg)
	p, err := steps.PreviewOf(cfg, catalogue, selection, f.concurrency, paceOf(earlier))
	if err != nil {
		return err
	}
	return writePreview(s.out, cfg, catalogue, p, earlier)
}

// earlierRun returns the result in the folder for reports, if it is of a run against the same target that measured its pace; else nil.
func (f *runFlags) earlierRun(cfg *config.Config) *reports.Result {
	r, err := reports.ReadFile(filepath.Join(f.out, "result.json"))
	if err != nil || r.Run.Least == nil || r.Target.ControlPlane != cfg.Target || cfg.Target == "" && r.Target.AgentServer != cfg.AgentTarget {
		return nil // there need not be one
	}
	return r
}

func paceOf(r *reports.Result) (p steps.Pace) {
	if r == nil {
		return p
	}
	of := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	l := r.Run.Least
	return steps.Pace{Answer: of(l.AnswerMS), Revision: of(float64(l.RevisionMS)), Failure: of(float64(l.FailureMS))}
}

func writePreview(w io.Writer, cfg *config.Config, catalogue *features.Catalogue, p *steps.Preview, earlier *reports.Result) error {
	var b strings.Builder
	line := func(subject, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s  %s\n", subject, safe.Line(fmt.Sprintf(format, args...)))
	}
	line("plan", "%s of %s at %s; nothing was sent", reports.Count(p.Scenarios, "scenario"), reports.Count(p.Requirements, "requirement"),
		strings.Join(slices.DeleteFunc([]string{cfg.Target, cfg.AgentTarget}, func(address string) bool { return address == "" }), ", agent server "))
	line("judges", "%d of %s", p.Judged, reports.Count(p.Requirements, "requirement"))
	if p.Deployments+p.Revisions+p.Threads+p.Runs == 0 {
		line("creates", "nothing")
	} else {
		line("creates", "at most %s with %s; about %s and %s", reports.Count(p.Deployments, "deployment"), reports.Count(p.Revisions, "revision"),
			reports.Count(p.Threads, "thread"), reports.Count(p.Runs, "run"))
	}
	line("sends", "about %s", reports.Count(p.Requests, "request"))
	line("takes", "%s", takes(cfg, p, earlier != nil))
	line("longest", "%s", longest(p))
	if earlier != nil {
		line("pace", "%s", measured(earlier))
	}
	for _, g := range p.Gaps {
		line("left out", "%s: %s", g.Reason, g.Named(catalogue))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// longest is the critical path: what has to be done one after the other.
func longest(p *steps.Preview) string {
	var parts []string
	for _, part := range p.Time.Path {
		var waits []string
		if n := part.Revisions + part.Failures; n > 0 {
			waits = append(waits, reports.Count(n, "revision"))
		}
		if part.Answers > 0 {
			waits = append(waits, reports.Count(part.Answers, "answer"))
		}
		if len(waits) > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", part.Name, strings.Join(waits, " and ")))
		}
	}
	return "one after the other: " + strings.Join(parts, ", then ")
}

// measured says how fast the target was.
func measured(r *reports.Result) string {
	l := r.Run.Least
	text := fmt.Sprintf("%s an answer", time.Duration(l.AnswerMS*float64(time.Millisecond)).Round(time.Millisecond/10))
	if l.RevisionMS > 0 {
		text += fmt.Sprintf(", %s a revision", overview.Duration(l.RevisionMS))
	}
	return fmt.Sprintf("%s, as measured by the run of %s, which took %s", text, r.Run.StartedAt.UTC().Format("2006-01-02 15:04 UTC"), overview.Duration(r.Run.DurationMS))
}

// takes is how long the run takes at least, and what comes on top where the pace of the target is not known.
func takes(cfg *config.Config, p *steps.Preview, known bool) string {
	if known {
		return fmt.Sprintf("at least about %s: the larger of %s for all requests and %s for those one after the other", overview.Duration(p.Time.Total().Milliseconds()),
			overview.Duration(p.Time.Requests.Milliseconds()), overview.Duration(p.Time.OfPath().Milliseconds()))
	}
	least := "at least about " + p.Least.Round(time.Second/10).String()
	if cfg.Rate != "" {
		least += " at the rate of " + cfg.Rate
	}
	least += ", and the time that the target needs to answer"
	if p.Deployments > 0 {
		least += fmt.Sprintf(" and until revisions are DEPLOYED (each up to timeouts.poll, %s)", cfg.Timeouts.Poll)
	}
	return least
}
