package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports/safe"
)

// overview sorts the requirements of a result into the groups in which the faces show them.
type overview struct {
	failed       []*Requirement // binding, and not known
	warnings     []*Requirement // failed, but not binding
	known        []*Requirement // anything that the baseline covers
	blocked      []*Requirement
	inconclusive []*Requirement
	skipped      []*Requirement
	findings     map[string][]*Finding // by requirement
}

func overviewOf(r *Result) overview {
	o := overview{findings: map[string][]*Finding{}}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		switch {
		case q.Known != nil && q.Verdict != Passed && q.Verdict != Skipped:
			o.known = append(o.known, q)
		case q.Verdict == Failed && binding(q.Level, r.Run.Strict):
			o.failed = append(o.failed, q)
		case q.Verdict == Failed:
			o.warnings = append(o.warnings, q)
		case q.Verdict == Blocked:
			o.blocked = append(o.blocked, q)
		case q.Verdict == Inconclusive:
			o.inconclusive = append(o.inconclusive, q)
		case q.Verdict == Skipped:
			o.skipped = append(o.skipped, q)
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		o.findings[f.Requirement] = append(o.findings[f.Requirement], f)
	}
	return o
}

// reasonGroup holds requirements that have the same reason.
type reasonGroup struct {
	reason       string
	requirements []*Requirement
}

// request is how a reason names the request at which it came up.
var request = regexp.MustCompile(`\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /\S*: `)

// causeOf is a reason without the request: a target that is gone is one cause, whatever was asked of it.
func causeOf(reason string) string { return request.ReplaceAllLiteralString(reason, "") }

// byReason groups requirements by the cause that their reasons tell, the largest group first. A reason that all of a
// group have is shown whole.
func byReason(requirements []*Requirement) []reasonGroup {
	var groups []reasonGroup
	index := map[string]int{}
	for _, q := range requirements {
		cause := causeOf(q.Reason)
		at, ok := index[cause]
		if !ok {
			at = len(groups)
			index[cause] = at
			groups = append(groups, reasonGroup{reason: cmp.Or(q.Reason, "no reason was given")})
		} else if q.Reason != groups[at].requirements[0].Reason {
			groups[at].reason = cause
		}
		groups[at].requirements = append(groups[at].requirements, q)
	}
	slices.SortStableFunc(groups, func(a, b reasonGroup) int { return len(b.requirements) - len(a.requirements) })
	return groups
}

// worst returns the scenario that decided the verdict of q, or nil if it has none.
func worst(q *Requirement) *Scenario {
	for i := range q.Scenarios {
		if q.Scenarios[i].Verdict == q.Verdict {
			return &q.Scenarios[i]
		}
	}
	return nil
}

// scenarioOf finds the scenario that a finding is from; the worst one where it does not say.
func scenarioOf(q *Requirement, f *Finding) *Scenario {
	for i, s := range q.Scenarios {
		if f.Scenario == fmt.Sprintf("%s:%d", s.URI, s.Line) {
			return &q.Scenarios[i]
		}
	}
	return worst(q)
}

// failedStep returns the sentence at which a scenario ended, or "".
func failedStep(s *Scenario) string {
	for _, step := range s.Steps {
		if step.Verdict != Passed && step.Verdict != "" {
			return strings.TrimSpace(step.Keyword + " " + step.Text)
		}
	}
	return ""
}

// sectionInWords says where a requirement is from. Those without a section of the interface come from what clients
// in the field rely on.
func sectionInWords(section string) string {
	if section == "" || section[0] < '0' || section[0] > '9' {
		return "relied on by clients in the field"
	}
	if strings.Contains(section, ",") {
		return "interface, sections " + section
	}
	return "interface, section " + section
}

// whatIsWrong says in one sentence what a finding is about. Where the summary only repeats the sentence that failed,
// which says how it should be, it tells what was seen.
func whatIsWrong(f *Finding) string {
	if f.Step == "" || !strings.HasSuffix(f.Step, f.Summary) || f.Expected == "" || f.Actual == "" {
		return f.Summary
	}
	return fmt.Sprintf("expected %s, got %s", firstLine(f.Expected), firstLine(f.Actual))
}

func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more && len(line) <= 70 {
		return strings.TrimSpace(line) + " …"
	}
	return safe.Ellipsis(line, 70)
}

// headline returns the one sentence of the run, and what the target's requests to wait have cost where that was much.
func headline(r *Result) string { return strings.TrimSpace(whatToKnow(r) + " " + delays(r)) }

// delays tells of requests to wait that took a large part of the run, or were more than the suite grants.
func delays(r *Result) string {
	c := r.Counts
	var told []string
	if c.WaitedMS >= 1000 && c.WaitedMS >= r.Run.DurationMS/4 {
		told = append(told, fmt.Sprintf("The target asked the suite to wait, which took %s of %s.", duration(min(c.WaitedMS, r.Run.DurationMS)), duration(r.Run.DurationMS)))
	}
	if c.NotWaited > 0 {
		told = append(told, fmt.Sprintf("The target asked %s to wait longer or more often than the suite does: what hung on those answers was not judged.", count(c.NotWaited, "time")))
	}
	return strings.Join(told, " ")
}

// waitsInWords says how often the suite waited because the target asked for it: "asked to wait 3 times, for 40 s".
func waitsInWords(c Counts) string {
	if c.Throttled == 0 {
		return ""
	}
	told := "asked to wait " + count(c.Throttled, "time")
	if c.WaitedMS > 0 {
		told += ", for " + duration(c.WaitedMS)
	}
	return told
}

// whatToKnow is the sentence that the run has, else one that is made up from the requirements.
func whatToKnow(r *Result) string {
	o := overviewOf(r)
	switch {
	case r.Headline != "":
		return r.Headline
	case r.Verdict == Conformant:
		return "Every MUST of the interface that was judged is kept."
	case len(o.failed) == 1:
		return fmt.Sprintf("%s is violated: %s.", o.failed[0].ID, strings.TrimSuffix(o.failed[0].Title, "."))
	case len(o.failed) > 1:
		return fmt.Sprintf("%s and %s more are violated: %s.", o.failed[0].ID, fmt.Sprint(len(o.failed)-1), strings.TrimSuffix(o.failed[0].Title, "."))
	case len(o.blocked)+len(o.inconclusive) > 0:
		g := byReason(slices.Concat(o.blocked, o.inconclusive))[0]
		return fmt.Sprintf("%s could not be judged: %s.", count(len(g.requirements), "requirement"), strings.TrimSuffix(g.reason, "."))
	}
	if len(o.known) > 0 {
		return fmt.Sprintf("What does not pass is known: %s.", names(o.known))
	}
	d := DistanceOf(r).String()
	return strings.ToUpper(d[:1]) + d[1:] + "."
}

// subjects names all that was judged: "Example 1.2 at http://host, agent server http://host/agents/a".
func subjects(r *Result) string {
	if agent := agentBeside(r); agent != "" {
		return subject(r) + ", agent server " + agent
	}
	return subject(r)
}

// agentBeside is the address of the agent server where a control plane was judged too.
func agentBeside(r *Result) string {
	if r.Target.ControlPlane == "" || r.Target.AgentServer == r.Target.ControlPlane {
		return ""
	}
	return r.Target.AgentServer
}

// subject names what was judged: "Example 1.2 at http://host".
func subject(r *Result) string {
	name := strings.TrimSpace(r.Target.Implementation.Name + " " + r.Target.Implementation.Version)
	address := cmp.Or(r.Target.ControlPlane, r.Target.AgentServer)
	switch {
	case name == "" && address == "":
		return "no target"
	case name == "":
		return address
	case address == "":
		return name
	}
	return name + " at " + address
}

// requirementsInWords lists the verdicts of the requirements: "8 passed, 4 failed, 1 warning". What fails and does not
// bind is a warning.
func requirementsInWords(r *Result) string {
	warnings := 0
	for _, n := range notKept(r) {
		warnings += n
	}
	counts := maps.Clone(r.Counts.Requirements)
	if warnings == 0 || counts[Failed] < warnings {
		return countsInWords(counts)
	}
	counts[Failed] -= warnings
	return countsInWords(counts) + ", " + count(warnings, "warning")
}

// notKept counts the requirements that fail and do not bind, by level.
func notKept(r *Result) map[Level]int {
	counts := map[Level]int{}
	for _, q := range r.Requirements {
		if q.Verdict == Failed && !binding(q.Level, r.Run.Strict) {
			counts[q.Level]++
		}
	}
	return counts
}

// skippedInPart are the scenarios that were skipped of requirements that passed by others, as if each reason were a
// requirement's.
func skippedInPart(r *Result) []*Requirement {
	var all []*Requirement
	known := map[string]bool{}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if key := q.ID + " " + causeOf(s.Reason); q.Verdict == Passed && s.Verdict == Skipped && !known[key] {
				known[key] = true
				all = append(all, &Requirement{ID: q.ID, Reason: s.Reason})
			}
		}
	}
	return all
}

// countsInWords lists the verdicts that occur: "8 passed, 4 failed".
func countsInWords(counts map[Verdict]int) string {
	var parts []string
	for _, v := range []Verdict{Passed, Failed, Blocked, Inconclusive, Skipped} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	if d >= time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", ms)
}
