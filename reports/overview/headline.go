package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Headline returns the one sentence of the run, and what the target's requests to wait have cost where that was much.
func Headline(r *reports.Result) string { return strings.TrimSpace(whatToKnow(r) + " " + delays(r)) }

// delays tells of requests to wait that took a large part of the run, or were more than the suite grants.
func delays(r *reports.Result) string {
	c := r.Counts
	var told []string
	if c.WaitedMS >= 1000 && c.WaitedMS >= r.Run.DurationMS/4 {
		told = append(told, fmt.Sprintf("The target asked the suite to wait, which took %s of %s.", Duration(min(c.WaitedMS, r.Run.DurationMS)), Duration(r.Run.DurationMS)))
	}
	if c.NotWaited > 0 {
		told = append(told, fmt.Sprintf("The target asked %s to wait longer or more often than the suite does: what hung on those answers was not judged.", reports.Count(c.NotWaited, "time")))
	}
	return strings.Join(told, " ")
}

// Waits says how often the suite waited because the target asked for it: "asked to wait 3 times, for 40 s".
func Waits(c reports.Counts) string {
	if c.Throttled == 0 {
		return ""
	}
	told := "asked to wait " + reports.Count(c.Throttled, "time")
	if c.WaitedMS > 0 {
		told += ", for " + Duration(c.WaitedMS)
	}
	return told
}

// whatToKnow is the sentence that the run has, else one that is made up from the requirements.
func whatToKnow(r *reports.Result) string {
	o := Of(r)
	switch {
	case r.Headline != "":
		return r.Headline
	case r.Verdict == reports.Conformant:
		return "Every MUST of the interface that was judged is kept."
	case len(o.Failed) == 1:
		return fmt.Sprintf("%s is violated: %s.", o.Failed[0].ID, strings.TrimSuffix(o.Failed[0].Title, "."))
	case len(o.Failed) > 1:
		return fmt.Sprintf("%s and %s more are violated: %s.", o.Failed[0].ID, fmt.Sprint(len(o.Failed)-1), strings.TrimSuffix(o.Failed[0].Title, "."))
	case len(o.Blocked)+len(o.Inconclusive) > 0:
		g := ByCause(slices.Concat(o.Blocked, o.Inconclusive))[0]
		return fmt.Sprintf("%s could not be judged: %s.", reports.Count(len(g.Requirements), "requirement"), strings.TrimSuffix(g.Reason, "."))
	}
	if len(o.Known) > 0 {
		return fmt.Sprintf("What does not pass is known: %s.", Names(o.Known))
	}
	d := DistanceOf(r).String()
	return strings.ToUpper(d[:1]) + d[1:] + "."
}

// Subjects names all that was judged: "Example 1.2 at http://host, agent server http://host/agents/a".
func Subjects(r *reports.Result) string {
	if agent := AgentBeside(r); agent != "" {
		return Subject(r) + ", agent server " + agent
	}
	return Subject(r)
}

// AgentBeside is the address of the agent server where a control plane was judged too.
func AgentBeside(r *reports.Result) string {
	if r.Target.ControlPlane == "" || r.Target.AgentServer == r.Target.ControlPlane {
		return ""
	}
	return r.Target.AgentServer
}

// Subject names what was judged: "Example 1.2 at http://host".
func Subject(r *reports.Result) string {
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

// RequirementCounts lists the verdicts of the requirements: "8 passed, 4 failed, 1 warning". What fails and does not
// bind is a warning.
func RequirementCounts(r *reports.Result) string {
	warnings := 0
	for _, n := range notKept(r) {
		warnings += n
	}
	counts := maps.Clone(r.Counts.Requirements)
	if warnings == 0 || counts[reports.Failed] < warnings {
		return VerdictCounts(counts)
	}
	counts[reports.Failed] -= warnings
	return VerdictCounts(counts) + ", " + reports.Count(warnings, "warning")
}

// notKept counts the requirements that fail and do not bind, by level.
func notKept(r *reports.Result) map[reports.Level]int {
	counts := map[reports.Level]int{}
	for _, q := range r.Requirements {
		if q.Verdict == reports.Failed && !q.Level.Decides(r.Run.Strict) {
			counts[q.Level]++
		}
	}
	return counts
}
