package script

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

//go:embed prelude.sh
var prelude string

// Write writes the script of a finding of r. The error says why there is none, or is that of w.
func Write(w io.Writer, r *reports.Result, f *reports.Finding) error {
	p, err := newPlan(r, f)
	if err != nil {
		return err
	}
	var steps, b strings.Builder
	for _, s := range p.steps {
		steps.WriteString("\n")
		if err := p.write(&steps, s); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "#!/usr/bin/env bash\n# %s, finding %s: sends the requests that led to it to %s,\n", word(f.Requirement), word(f.ID), word(targets(r)))
	b.WriteString("# and prints the answer that shows it. Secrets come from variables of the environment: the lines with need name them.\n")
	b.WriteString("# What it creates at the target it does not remove.\n" + prelude)
	b.WriteString("\n" + needs(r, steps.String()) + steps.String())
	fmt.Fprintf(&b, "\nwait\nshow %d\n", p.shows)
	_, err = io.WriteString(w, b.String())
	return err
}

// word is a text in a comment: one line.
func word(s string) string { return safe.Line(safe.Cut(s, 200)) }

func targets(r *reports.Result) string {
	var all []string
	for _, address := range []string{r.Target.ControlPlane, r.Target.AgentServer} {
		if address != "" {
			all = append(all, address)
		}
	}
	return strings.Join(all, " and ")
}

// write writes a step: what it waits for, the ids that it needs, and its request.
func (p *plan) write(b *strings.Builder, s *step) error {
	arguments, uses, err := p.request(s.wanted)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "# exchange %d, %s\n", s.wanted.ID, word(string(s.part)))
	for _, id := range s.after {
		fmt.Fprintf(b, "wait \"$sent%d\"\n", id)
	}
	for _, v := range uses {
		if v.taken {
			continue
		}
		v.taken = true
		if from := p.stepOf(v.from); from != nil && from.background && !from.over {
			fmt.Fprintf(b, "wait \"$sent%d\"\n", from.wanted.ID)
		}
		fmt.Fprintf(b, "take %s %d %s %d\n", v.name, v.from, v.key, v.nth)
	}
	if s.pause > 0 {
		fmt.Fprintf(b, "sleep %.1f\n", s.pause.Seconds())
	}
	switch conditions := p.conditions(s); {
	case s.background:
		fmt.Fprintf(b, "send %d %s &\nsent%d=$!\n", s.wanted.ID, arguments, s.wanted.ID)
	case conditions != "":
		fmt.Fprintf(b, "await %d %d %s -- %s\n", s.patience, s.wanted.ID, conditions, arguments)
	default:
		fmt.Fprintf(b, "send %d %s\n", s.wanted.ID, arguments)
	}
	return nil
}

var errNone = errors.New("the finding names no exchange")
