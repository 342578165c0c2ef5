package overview

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// some lists at most limit texts: "a, b and 5 more".
func some(all []string, limit int) string {
	text := strings.Join(all[:min(len(all), limit)], ", ")
	if more := len(all) - limit; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// withoutPeriod removes the period at the end of a sentence. It keeps the mark "..." of a text that was cut.
func withoutPeriod(text string) string {
	if strings.HasSuffix(text, "...") {
		return text
	}
	return strings.TrimSuffix(text, ".")
}

func ids(requirements []*reports.Requirement) (all []string) {
	for _, q := range requirements {
		all = append(all, q.ID)
	}
	return all
}

// Notes returns a sentence for each note: "a response contains the caller's own token in clear text (90 times; request
// 12, at /kwargs/config)".
func (o Overview) Notes() (all []string) {
	if text := o.notScored(); text != "" {
		all = append(all, text)
	}
	for _, n := range o.Result.Notes {
		times, place := "", ""
		if n.Count > 1 {
			times = fmt.Sprintf("%d times", n.Count)
		}
		if n.Exchange > 0 {
			place = reports.Joined(", at ", fmt.Sprintf("request %d", n.Exchange), safe.Ellipsis(n.Pointer, maxCause))
		}
		text := n.Text
		if details := reports.Joined("; ", times, place); details != "" {
			text += " (" + details + ")"
		}
		all = append(all, text)
	}
	return all
}

// Subject returns the name and addresses of the target: "Example 1.2 at http://host, agent server http://host/agents/a".
func (o Overview) Subject() string {
	target := o.Result.Target
	name := strings.TrimSpace(target.Implementation.Name + " " + target.Implementation.Version)
	address := cmp.Or(target.ControlPlane, target.AgentServer)
	if agent := target.AgentServer; agent != "" && agent != address {
		address += ", agent server " + agent
	}
	return safe.Ellipsis(cmp.Or(reports.Joined(" at ", name, address), "no target"), maxHeadline)
}

// Closing returns labels and texts for the end of a report: the counts, the versions and the cleanup. out is the folder
// of the reports and may be empty.
func (o Overview) Closing(out string) [][2]string {
	r, page := o.Result, ""
	if out != "" {
		page = r.Run.Page(out)
	}
	cleanup := o.Cleanup(out)
	rows := [][2]string{
		{"Requirements", o.Counts().String()},
		{"Claims", strings.Join(r.Target.Supports, ", ")},
		{"Scenarios", o.Scenarios().String()},
		{"Test run", o.Stats()},
		{"Repetitions", o.Repetitions()},
		{"Suite", o.Result.Suite.String()},
		{"Cleanup", cleanup.Summary},
		{"Not cleaned up", cleanup.NotRemoved},
		{"Remove it", cleanup.Command},
		{"Reports", page},
	}
	var filled [][2]string
	for _, row := range rows {
		if row[1] != "" {
			filled = append(filled, row)
		}
	}
	return filled
}

// Stats returns the size and the time of the test run: "6031 requests, 18.1 s, seed 42, 185 operations explored".
func (o Overview) Stats() string {
	r, explored := o.Result, ""
	if n := r.Counts.Explored; n > 0 {
		explored = reports.Count(n, "operation") + " explored"
	}
	return reports.Joined(", ", reports.Count(r.Counts.Exchanges, "request"), reports.Duration(r.Run.DurationMS),
		fmt.Sprintf("seed %d", r.Run.Seed), explored, o.Waits())
}

// notScored describes the requirements and scenarios that are newer than the requirement set of the test run. It returns ""
// if no set was chosen.
func (o Overview) notScored() string {
	set, n := o.Result.Suite.Set, o.Result.NotScored
	switch {
	case set == "":
		return ""
	case n == nil:
		return "requirement set " + set + " has every requirement and scenario of this version"
	}
	scenarios := 0
	var failed []string
	for _, q := range n.Requirements {
		scenarios += len(q.Scenarios)
		if q.Verdict == reports.Failed {
			failed = append(failed, q.ID)
		}
	}
	text := fmt.Sprintf("%s of %s are newer than requirement set %s and do not count", reports.Count(scenarios, "scenario"),
		reports.Count(len(n.Requirements), "requirement"), set)
	if len(failed) == 0 {
		return text + "; none of them failed"
	}
	return text + "; failed: " + some(failed, 6) + " (result.json: not_scored)"
}

// Facts returns labels and texts about the whole test run, for formats without a summary.
func (o Overview) Facts() [][2]string {
	facts := [][2]string{{"Verdict", o.Display().String()}, {"Summary", o.Headline()}, {"Scope", string(o.Result.Scope)}, {"Target", o.Subject()}}
	facts = append(facts, o.Closing("")...)
	for _, reason := range o.CouldNotTell() {
		facts = append(facts, [2]string{"Could not tell", reason.String()})
	}
	for _, reason := range o.NotTested() {
		facts = append(facts, [2]string{"Not tested", reason.String()})
	}
	for _, note := range o.Notes() {
		facts = append(facts, [2]string{"Note", note})
	}
	return facts
}

// FactsText returns the facts as one text: "Verdict: conformant; Scope: whole".
func (o Overview) FactsText(separator string) string {
	var facts []string
	for _, f := range o.Facts() {
		facts = append(facts, f[0]+": "+f[1])
	}
	return strings.Join(facts, separator)
}

// Waits returns how often the target asked the suite to wait, and how long it did: "asked to wait 3 times, for 40 s".
func (o Overview) Waits() string {
	waited, beyond, c := "", "", o.Result.Counts
	if c.Throttled > 0 {
		waited = "asked to wait " + reports.Count(c.Throttled, "time")
	}
	if c.WaitedMS > 0 {
		waited += ", for " + reports.Duration(c.WaitedMS)
	}
	if c.NotWaited > 0 {
		beyond = "asked " + reports.Count(c.NotWaited, "time") +
			" to wait longer than the suite waits (dependent scenarios are skipped)"
	}
	return reports.Joined(", ", waited, beyond)
}
