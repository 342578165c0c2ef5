package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// maxCause limits the text of one cause in the first line, in characters.
const maxCause = 240

// maxHeadline limits what the run has to say of the target as a whole, in characters.
const maxHeadline = 1000

// FirstLine is what a person reads first: the verdict, how many MUSTs of how many, and the first cause.
func FirstLine(r *reports.Result) string {
	return DisplayVerdictOf(r).String() + ": " + Headline(r)
}

// Headline continues the verdict: what ended the run early, the numbers, the first cause, and what else to know.
//
//	8 of 82 MUSTs failed; first CP-LIST-4: expected 20 of the 23 revisions, got 10; 1 of 21 SHOULDs failed
func Headline(r *reports.Result) string {
	parts := []string{stopped(r), numbers(r), firstCause(r), notWhole(r), BrokenClaims(r), NotClaimed(r), warnings(r), nextKey(r)}
	parts = append(parts, delays(r)...)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

func stopped(r *reports.Result) string {
	if r.Run.Stopped == "" {
		return ""
	}
	return "stopped by " + r.Run.Stopped
}

// deciding counts the requirements that decide the verdict.
type deciding struct{ all, passed, failed, known, open, notApplicable, left int }

func decidingOf(r *reports.Result) deciding {
	var d deciding
	for i := range r.Requirements {
		q := &r.Requirements[i]
		if !q.Decides(r.Run.Strict) {
			continue
		}
		d.all++
		switch {
		case q.Verdict == reports.Passed:
			d.passed++
		case q.Verdict == reports.Failed:
			d.failed++
			if q.Known != nil {
				d.known++
			}
		case q.Verdict != reports.Skipped:
			d.open++
		case q.Skip != nil && q.Skip.Kind == reports.NotApplicable:
			d.notApplicable++
		default:
			d.left++
		}
	}
	return d
}

// numbers says how many of the requirements that decide have passed or failed.
func numbers(r *reports.Result) string {
	d, noun, left := decidingOf(r), "MUST", reports.LeftOutOf(r)
	if r.BeyondMusts() {
		noun = "requirement"
	}
	of := reports.Count(d.all-d.left, noun)
	if left.N > 0 && !AgentOnly(r) {
		of = reports.Count(d.all-d.left, "selected "+noun)
	}
	judged := d.passed + d.failed
	switch {
	case r.Verdict == reports.NonConformant:
		text := fmt.Sprintf("%d of %s failed", d.failed, of)
		if d.known > 0 {
			text += fmt.Sprintf(" (%d in the baseline)", d.known)
		}
		return text
	case judged == 0 && judgedIn(r) > 0:
		return "no MUST was judged, only " + reports.Count(judgedIn(r), "requirement") + " of another level"
	case judged == 0:
		return "no requirement was judged"
	case r.Verdict == reports.Conformant && left.N > 0 && !AgentOnly(r):
		return fmt.Sprintf("%d of %s judged, no MUST failed", judgedIn(r), reports.Count(left.All, "requirement"))
	case r.Verdict == reports.Conformant:
		text := fmt.Sprintf("%d of %s passed", d.passed, of)
		if d.notApplicable > 0 {
			text += fmt.Sprintf(", %d not applicable", d.notApplicable)
		}
		return text
	case left.N > 0 && d.open == 0 && !AgentOnly(r):
		return fmt.Sprintf("%d of %s judged, no MUST failed", judgedIn(r), reports.Count(left.All, "requirement"))
	case d.open == 0:
		return fmt.Sprintf("%d of %s passed", d.passed, of)
	}
	return fmt.Sprintf("%d of %s passed, %d could not be judged", d.passed, of, d.open)
}

// judgedIn counts the requirements of every level that passed or failed.
func judgedIn(r *reports.Result) int {
	n := 0
	for _, q := range r.Requirements {
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			n++
		}
	}
	return n
}

// firstCause names the gravest failure, or what kept most requirements from being judged. What the run has to say of the
// target as a whole goes first: with a wrong address no single failure means anything.
func firstCause(r *reports.Result) string {
	if r.Headline != "" {
		return safe.Ellipsis(strings.TrimSuffix(r.Headline, "."), maxHeadline)
	}
	o := Of(r)
	if len(o.Failed) > 0 {
		q := slices.MinFunc(o.Failed, func(a, b *reports.Requirement) int {
			return cmp.Compare(reports.Gravity(a.Subject), reports.Gravity(b.Subject))
		})
		return "first " + q.ID + ": " + observed(o, q)
	}
	if open := slices.Concat(o.Blocked, o.Inconclusive); len(open) > 0 {
		g := ByCause(open)[0]
		more := ""
		if len(g.Requirements) > 1 {
			more = fmt.Sprintf(" and %d more", len(g.Requirements)-1)
		}
		return g.Requirements[0].ID + more + ": " + safe.Ellipsis(strings.TrimSuffix(g.Reason, "."), maxCause)
	}
	return ""
}

// notWhole says that a part is incomplete because the whole was asked for.
func notWhole(r *reports.Result) string {
	left := reports.LeftOutOf(r)
	if !r.Run.Whole || r.Verdict != reports.Incomplete || left.N == 0 {
		return ""
	}
	return fmt.Sprintf("--require-whole: %s not judged", reports.Count(left.N, "requirement"))
}

// observed says in a few words what is wrong with a failed requirement.
func observed(o Overview, q *reports.Requirement) string {
	text := q.Reason
	if f := o.Findings[q.ID]; len(f) > 0 {
		text = WhatIsWrong(f[0])
	}
	return safe.Ellipsis(strings.TrimSuffix(cmp.Or(text, q.Title), "."), maxCause)
}

// warnings counts what failed and does not decide the verdict: "1 of 21 SHOULDs failed: CP-REV-3: expected 4xx, got 200".
func warnings(r *reports.Result) string {
	o := Of(r)
	var parts []string
	for _, level := range []reports.Level{reports.Should, reports.May} {
		all := 0
		for _, q := range r.Requirements {
			if q.Level == level && q.Verdict != reports.Skipped {
				all++
			}
		}
		failed := slices.DeleteFunc(slices.Clone(o.Warnings), func(q *reports.Requirement) bool { return q.Level != level })
		if len(failed) == 0 {
			continue
		}
		text := fmt.Sprintf("%d of %s failed", len(failed), reports.Count(all, string(level)))
		secure := ofSecurity(failed)
		switch {
		case len(o.Failed) == 0:
			first := slices.Concat(secure, failed)[0]
			text += ", first " + first.ID + ": " + observed(o, first)
		case len(secure) > 0:
			text += ", " + secure[0].ID + " with @security"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// ofSecurity are the requirements whose violation puts the isolation of users and tenants at risk.
func ofSecurity(requirements []*reports.Requirement) []*reports.Requirement {
	return slices.DeleteFunc(slices.Clone(requirements), func(q *reports.Requirement) bool { return q.Subject != "security" })
}

// nextKey names the key of the configuration that would let judge most of what was left out.
func nextKey(r *reports.Result) string {
	if r.Scope != reports.ScopePart || AgentOnly(r) || len(r.Unseen) > 0 { // what is missing for a first successful answer was said
		return ""
	}
	counts := map[string]int{}
	best := ""
	for _, n := range r.NotJudged {
		if n.Kind != reports.NotConfigured || n.Key == "" || n.Key == "target" {
			continue
		}
		counts[n.Key]++
		if best == "" || counts[n.Key] > counts[best] {
			best = n.Key
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("set %s to judge %d more", best, counts[best])
}

// delays reports requests to wait that took a large part of the run, or were longer than the suite waits.
func delays(r *reports.Result) []string {
	c := r.Counts
	var text []string
	if c.WaitedMS >= 1000 && c.WaitedMS >= r.Run.DurationMS/4 {
		text = append(text, fmt.Sprintf("the target asked the suite to wait, %s of %s", Duration(min(c.WaitedMS, r.Run.DurationMS)), Duration(r.Run.DurationMS)))
	}
	if c.NotWaited > 0 {
		text = append(text, fmt.Sprintf("the target asked %s to wait longer or more often than the suite does; dependent checks are skipped", reports.Count(c.NotWaited, "time")))
	}
	return text
}

// Waits says how often the suite waited because the target asked for it: "asked to wait 3 times, for 40 s".
func Waits(c reports.Counts) string {
	if c.Throttled == 0 {
		return ""
	}
	text := "asked to wait " + reports.Count(c.Throttled, "time")
	if c.WaitedMS > 0 {
		text += ", for " + Duration(c.WaitedMS)
	}
	return text
}
