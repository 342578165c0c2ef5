package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/invariants"
	"github.com/agentconform/agentconform/steps/recording"
)

// JudgeRecording judges the exchanges of a recording with the third phase of a test run, and sends nothing. Only
// scenarios that judge the record are selected. The result is never conformant, because a recording shows only the
// requests of its clients.
func JudgeRecording(ctx context.Context, o Options, from *recording.Recording) (*reports.Result, error) {
	o.Select.Tags = tagRecord
	o.LedgerFile = ""
	r, err := newRun(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.target.Close() //nolint:errcheck // nothing was written
	first, last := from.Span()
	r.recording = from
	r.start = first
	r.target.Recorded = true
	r.target.Collector.StartAt(first)
	r.invariants = invariants.NewRecord(r.target, func() []invariants.Other { return nil })
	r.played, err = from.Play(ctx, r.target)
	if err != nil {
		return nil, err
	}
	r.forecast.recorded = true
	r.forecast.refuses = r.played.Refuses
	r.repetition = 1
	if err := r.execute(ctx, r.selected); err != nil {
		return nil, err
	}
	res := r.result(ctx, 0)
	res.Run.DurationMS = last.Sub(first).Milliseconds()
	res.Run.Recording = &reports.Recording{File: r.target.Redact.Text(from.Name), Exchanges: r.played.Judged}
	res.Counts.Exchanges = r.played.Judged
	if res.Verdict == reports.Conformant {
		res.Verdict = reports.Incomplete
	}
	res.Headline = recordedHeadline(r.played)
	return res, nil
}

// recordedHeadline describes how many exchanges of a recording were judged, and which of its entries were not.
func recordedHeadline(s recording.Summary) string {
	var others []string
	add := func(n int, format string) {
		if n > 0 {
			others = append(others, fmt.Sprintf(format, n))
		}
	}
	add(s.Elsewhere, "%d at other addresses")
	add(s.NotFromTarget, "%d that a cache or a redirect answered")
	text := "this is a recording: " + reports.Count(s.Judged, "exchange") + " judged"
	if len(others) > 0 {
		text += ", without " + strings.Join(others, " and ")
	}
	if s.Judged == 0 {
		if len(s.Origins) > 0 {
			text += " (" + strings.Join(s.Origins, ", ") + ")"
		}
		return text + "; name the address of its server with --target or --agent-target"
	}
	others = nil
	add(s.NoResponse, "%d had no response")
	add(s.Cut, "%d had no whole body")
	return reports.Joined("; ", text, strings.Join(others, ", "))
}

// recordedOrder returns the IDs of the exchanges in the findings, in the order in which reports show them. A recording
// may have many more exchanges than a report can show.
func (r *run) recordedOrder() (order []int) {
	var named []int
	for _, f := range r.counting.findings {
		named = append(named, f.Exchange)
		for _, link := range f.Exchanges {
			named = append(named, link.Exchange)
		}
	}
	for _, v := range r.verdicts {
		for _, found := range v.Violations {
			named = append(named, found.Compared.Shown, found.Compared.With)
		}
	}
	slices.Sort(named)
	for _, id := range r.target.Collector.Order() {
		if _, isNamed := slices.BinarySearch(named, id); isNamed {
			order = append(order, id)
		}
	}
	return order
}
