package overview

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
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
func Names(requirements []*reports.Requirement) string {
	return Some(ids(requirements), 12)
}

func ids(requirements []*reports.Requirement) (all []string) {
	for _, q := range requirements {
		all = append(all, q.ID)
	}
	return all
}

// Notes lists what is no failure and worth knowing, a sentence each: "90 answers contain the caller's own token in clear
// (first exchange 12, at /kwargs/config)".
func Notes(r *reports.Result) []string {
	var all []string
	for _, n := range r.Notes {
		text := n.Text
		if n.Kind == reports.NoteOwnToken && n.Count > 1 {
			text = fmt.Sprintf("%d answers contain the caller's own token in clear", n.Count)
		}
		if n.Exchange > 0 {
			where := fmt.Sprintf("exchange %d", n.Exchange)
			if n.Count > 1 {
				where = "first " + where
			}
			if n.Pointer != "" {
				where += ", at " + n.Pointer
			}
			text += " (" + where + ")"
		}
		all = append(all, text)
	}
	return all
}

// Subject names all that was judged: "Example 1.2 at http://host, agent server http://host/agents/a".
func Subject(r *reports.Result) string {
	name := strings.TrimSpace(r.Target.Implementation.Name + " " + r.Target.Implementation.Version)
	address := cmp.Or(r.Target.ControlPlane, r.Target.AgentServer)
	if agent := r.Target.AgentServer; agent != "" && agent != address {
		address += ", agent server " + agent
	}
	if name != "" && address != "" {
		return name + " at " + address
	}
	return cmp.Or(name, address, "no target")
}

// Suite names what judged: "agentconform 0.1.0 (commit 1234567), interface 0.1.0, requirements sha256:12345678".
func Suite(r *reports.Result) string {
	text := "agentconform " + r.Suite.Version
	if commit, dirty, _ := strings.Cut(r.Suite.Commit, "+"); commit != "" {
		changed := map[bool]string{true: ", changed"}[dirty != ""]
		text += fmt.Sprintf(" (commit %.12s%s)", commit, changed)
	}
	text += ", interface " + r.Suite.Interface
	if r.Suite.Digest != "" {
		text += fmt.Sprintf(", requirements %.15s", r.Suite.Digest)
	}
	return text
}

// WhereFrom says where a requirement is from. Those without a section of the interface come from what clients in the
// field rely on.
func WhereFrom(section string) string {
	if section == "" || section[0] < '0' || section[0] > '9' {
		return "relied on by clients in the field"
	}
	if strings.Contains(section, ",") {
		return "interface, sections " + section
	}
	return "interface, section " + section
}

// specification is where the page of all requirements is, which make spec-page makes. An ID is the anchor of its rule.
const specification = "https://agentconform.github.io/agentconform/#"

// RuleURL is the address of a requirement in the specification; "" for what has not the form of an ID.
func RuleURL(id string) string {
	if !ruleID.MatchString(id) {
		return ""
	}
	return specification + id
}

var ruleID = regexp.MustCompile(`^[A-Z0-9]{2,4}-[A-Za-z0-9-]{1,60}$`)

// Quote is the sentence of the interface that a requirement judges, in quotation marks; "" where there is none.
func Quote(q *reports.Requirement) string {
	if q.Quote == "" {
		return ""
	}
	return `"` + q.Quote + `"`
}

// KnownText describes an entry of the baseline: "the reason (owner, until 2026-12-31)".
func KnownText(k *reports.Known) string {
	var details []string
	if k.Owner != "" {
		details = append(details, k.Owner)
	}
	if k.Expires != "" {
		details = append(details, "until "+k.Expires)
	}
	if k.Flaky {
		details = append(details, "flaky")
	}
	if details == nil {
		return k.Reason
	}
	return k.Reason + " (" + strings.Join(details, ", ") + ")"
}

// Duration shows a number of milliseconds: "12 ms", "1.5 s", "2m3s".
func Duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	if d >= time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", ms)
}

// Closing names and tells what stands at the end of a report: what remains, the counts, by what it was judged, and what was cleaned up.
// out is the folder of the reports; it may be empty.
func Closing(r *reports.Result, out string) [][2]string {
	stats := fmt.Sprintf("%s, %s, seed %d", reports.Count(r.Counts.Exchanges, "exchange"), Duration(r.Run.DurationMS), r.Run.Seed)
	if n := r.Counts.Explored; n > 0 {
		stats += fmt.Sprintf(", %s explored", reports.Count(n, "operation"))
	}
	if waits := Waits(r.Counts); waits != "" {
		stats += ", " + waits
	}
	cleanup, page := CleanupOf(r, out), ""
	if out != "" {
		page = out + "/index.html"
	}
	rows := [][2]string{
		{"Remaining", Remaining(r)}, {"Requirements", CountsOf(r).String()}, {"Claims", strings.Join(r.Target.Supports, ", ")},
		{"Scenarios", VerdictCounts(r.Counts.Scenarios)}, {"Stats", stats}, {"Suite", Suite(r)}, {"Cleanup", cleanup.Summary},
		{"Not cleaned up", cleanup.WhatIsLeft()}, {"Remove it", cleanup.Command}, {"Reports", page},
	}
	return slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
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

// Slug makes an id of a title: lower case, words joined by dashes.
func Slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
