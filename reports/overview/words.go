package overview

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Section says where a requirement is from. Those without a section of the interface come from what clients
// in the field rely on.
func Section(section string) string {
	if section == "" || section[0] < '0' || section[0] > '9' {
		return "relied on by clients in the field"
	}
	if strings.Contains(section, ",") {
		return "interface, sections " + section
	}
	return "interface, section " + section
}

// Quote is the sentence of the interface that a requirement judges, in quotation marks; "" where there is none.
func Quote(q *reports.Requirement) string {
	if q.Quote == "" {
		return ""
	}
	return `"` + q.Quote + `"`
}

// VerdictCounts lists the verdicts that occur: "8 passed, 4 failed".
func VerdictCounts(counts map[reports.Verdict]int) string {
	var parts []string
	for _, v := range []reports.Verdict{reports.Passed, reports.Failed, reports.Blocked, reports.Inconclusive, reports.Skipped} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
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

// Names lists ids: "CP-LIST-1, CP-LIST-2 and 5 more".
func Names(requirements []*reports.Requirement) string {
	var ids []string
	for i, q := range requirements {
		if i == 12 {
			return strings.Join(ids, ", ") + fmt.Sprintf(" and %d more", len(requirements)-i)
		}
		ids = append(ids, safe.Line(q.ID))
	}
	return strings.Join(ids, ", ")
}

// Known describes an entry of the baseline: "the reason (owner, until 2026-12-31)".
func Known(k *reports.Known) string {
	details := []string{}
	if k.Owner != "" {
		details = append(details, k.Owner)
	}
	if k.Expires != "" {
		details = append(details, "until "+k.Expires)
	}
	if k.Flaky {
		details = append(details, "flaky")
	}
	if len(details) == 0 {
		return k.Reason
	}
	return k.Reason + " (" + strings.Join(details, ", ") + ")"
}

// Slug makes an id of a title: lower case, words joined by dashes.
func Slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
