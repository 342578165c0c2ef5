package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Some lists at most so many texts: "a, b and 5 more".
func Some(all []string, most int) string {
	text := strings.Join(all[:min(len(all), most)], ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Names lists ids: "CP-LIST-1, CP-LIST-2 and 5 more".
func Names(requirements []*reports.Requirement) string { return Some(ids(requirements), 12) }

func ids(requirements []*reports.Requirement) (all []string) {
	for _, q := range requirements {
		all = append(all, q.ID)
	}
	return all
}

// Notes lists what is no failure and worth knowing, a sentence each: "the answer contains the caller's own token in
// clear (90 times; exchange 12, at /kwargs/config)".
func (o Overview) Notes() (all []string) {
	for _, n := range o.Result.Notes {
		times, where := "", ""
		if n.Count > 1 {
			times = fmt.Sprintf("%d times", n.Count)
		}
		if n.Exchange > 0 {
			where = reports.Joined(", at ", fmt.Sprintf("exchange %d", n.Exchange), safe.Ellipsis(n.Pointer, maxCause))
		}
		text := n.Text
		if details := reports.Joined("; ", times, where); details != "" {
			text += " (" + details + ")"
		}
		all = append(all, text)
	}
	return all
}

// Subject names all that was judged: "Example 1.2 at http://host, agent server http://host/agents/a".
func (o Overview) Subject() string {
	target := o.Result.Target
	name := strings.TrimSpace(target.Implementation.Name + " " + target.Implementation.Version)
	address := cmp.Or(target.ControlPlane, target.AgentServer)
	if agent := target.AgentServer; agent != "" && agent != address {
		address += ", agent server " + agent
	}
	return safe.Ellipsis(cmp.Or(reports.Joined(" at ", name, address), "no target"), maxHeadline)
}

// Closing names and tells what stands at the end of a report: what remains, the counts, by what it was judged, and what
// was cleaned up. out is the folder of the reports; it may be empty.
func (o Overview) Closing(out string) [][2]string {
	r, explored, page := o.Result, "", ""
	if n := r.Counts.Explored; n > 0 {
		explored = reports.Count(n, "operation") + " explored"
	}
	if out != "" {
		page = out + "/index.html"
	}
	stats := reports.Joined(", ", reports.Count(r.Counts.Exchanges, "exchange"), reports.Duration(r.Run.DurationMS),
		fmt.Sprintf("seed %d", r.Run.Seed), explored, o.Waits())
	cleanup := o.Cleanup(out)
	rows := [][2]string{
		{"Remaining", o.Remaining()},
		{"Requirements", o.Counts().String()},
		{"Claims", strings.Join(r.Target.Supports, ", ")},
		{"Scenarios", o.Scenarios().String()},
		{"Stats", stats},
		{"Suite", o.Result.Suite.String()},
		{"Cleanup", cleanup.Summary},
		{"Not cleaned up", cleanup.WhatIsLeft},
		{"Remove it", cleanup.Command},
		{"Reports", page},
	}
	return slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
}

// Facts names and tells what every format shows of the whole run, beside its findings.
func (o Overview) Facts() [][2]string {
	facts := [][2]string{{"Verdict", o.Display().String()}, {"Scope", string(o.Result.Scope)}, {"Target", o.Subject()}}
	facts = append(facts, o.Closing("")...)
	for _, c := range slices.Concat(o.LeftOut(true), o.LeftOut(false)) {
		text := fmt.Sprintf("%s (%d): %s", c.What, len(c.Requirements), Some(ids(c.Requirements), len(c.Requirements)))
		facts = append(facts, [2]string{"Not judged", text})
	}
	for _, note := range o.Notes() {
		facts = append(facts, [2]string{"Note", note})
	}
	return facts
}

// FactsText joins the facts: "Verdict: conformant; Scope: whole".
func (o Overview) FactsText(separator string) string {
	var facts []string
	for _, f := range o.Facts() {
		facts = append(facts, f[0]+": "+f[1])
	}
	return strings.Join(facts, separator)
}

// Waits says how often the target asked the suite to wait, and for how long it did: "asked to wait 3 times, for 40 s".
func (o Overview) Waits() string {
	obeyed, beyond, c := "", "", o.Result.Counts
	if c.Throttled > 0 {
		obeyed = "asked to wait " + reports.Count(c.Throttled, "time")
	}
	if c.WaitedMS > 0 {
		obeyed += ", for " + reports.Duration(c.WaitedMS)
	}
	if c.NotWaited > 0 {
		beyond = "asked " + reports.Count(c.NotWaited, "time") +
			" to wait longer than the suite does (dependent checks are skipped)"
	}
	return reports.Joined(", ", obeyed, beyond)
}
