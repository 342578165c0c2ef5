package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/story"
)

// chart is the timeline: a bar for each revision, with a segment for each status.
type chart struct {
	Width, Height int
	Right         int // x coordinate of the last statuses
	Ticks         []chartTick
	Bars          []chartBar
	Legend        []chartSegment // one for each status

	begin, end int64 // begin and end of the axis, in milliseconds since the start of the test run
}

type (
	chartTick struct {
		X     int
		Label string
	}
	chartBar struct {
		Y         int
		Last      reports.Transition
		CreatedBy string // scenario or fixture that created the deployment; may be empty
		Settled   bool
		Segments  []chartSegment
	}
	chartSegment struct {
		X, Width             int
		Class, Status, Title string
	}
)

const (
	chartWidth = 960
	chartPlot  = 150 // width of the names
	chartRight = 190 // width of the last status
	chartRow   = 42
	chartEnd   = 8 // width of the mark at the end of a bar
)

// maxAt is the maximum time of a transition in the chart, in milliseconds: more than 30 years, without an overflow.
const maxAt = 1 << 40

// chartOf returns the chart of the transitions, or nil if there are none.
func chartOf(r *reports.Result) *chart {
	c := &chart{Width: chartWidth, Right: chartWidth - chartRight + 14, begin: math.MaxInt64}
	var order []string // order of the revisions
	rows := map[string][]reports.Transition{}
	creators := map[string]string{}
	for _, t := range r.Timeline {
		t.AtMS = min(max(t.AtMS, 0), maxAt) // the result may come from anywhere
		if rows[t.Revision] == nil {
			order = append(order, t.Revision)
		}
		rows[t.Revision] = append(rows[t.Revision], t)
		c.begin, c.end = min(c.begin, t.AtMS), max(c.end, t.AtMS)
	}
	if len(order) == 0 {
		return nil
	}
	for _, e := range r.Ledger {
		creators[e.ID] = e.CreatedBy
	}
	c.end = max(c.end, c.begin+1)
	c.Height = 30 + chartRow*len(order)
	step := tickStep(c.end - c.begin)
	for at := (c.begin + step - 1) / step * step; at <= c.end; at += step {
		c.Ticks = append(c.Ticks, chartTick{c.x(at), tickLabel(at)})
	}
	for i, revision := range order {
		bar := c.bar(rows[revision])
		bar.Y, bar.CreatedBy = 24+chartRow*i, creators[bar.Last.Deployment]
		c.Bars = append(c.Bars, bar)
		for _, s := range bar.Segments {
			if !slices.ContainsFunc(c.Legend, func(known chartSegment) bool { return known.Status == s.Status }) {
				c.Legend = append(c.Legend, chartSegment{Class: reports.Slug(s.Status), Status: s.Status})
			}
		}
	}
	return c
}

// tickStep returns a round distance of ticks, in milliseconds, with which an axis of this length has at most 8 ticks.
func tickStep(length int64) int64 {
	const second, minute = 1000, 60 * 1000
	for _, step := range []int64{1, 5, 10, 50, 100, 500, second, 2 * second, 5 * second, 10 * second, 30 * second, minute,
		2 * minute, 5 * minute, 10 * minute, 30 * minute} {
		if length <= 8*step {
			return step
		}
	}
	return 60 * minute * (length/(8*60*minute) + 1)
}

// tickLabel returns a round time since the start of the test run: "500 ms", "5 s", "1.5 min".
func tickLabel(ms int64) string {
	unit, length := "ms", 1.0
	switch {
	case ms >= 60*1000:
		unit, length = "min", 60*1000
	case ms >= 1000 || ms == 0:
		unit, length = "s", 1000
	}
	return strconv.FormatFloat(float64(ms)/length, 'f', -1, 64) + " " + unit
}

func (c *chart) x(at int64) int {
	return chartPlot + int((at-c.begin)*int64(chartWidth-chartPlot-chartRight)/(c.end-c.begin))
}

// bar returns the bar of a revision: a segment from each status to the next, and a mark at the settled status. If the
// revision did not settle, the last segment extends to the end of the axis.
func (c *chart) bar(transitions []reports.Transition) chartBar {
	slices.SortStableFunc(transitions, func(a, b reports.Transition) int { return cmp.Compare(a.AtMS, b.AtMS) })
	last := transitions[len(transitions)-1]
	bar := chartBar{Last: last, Settled: story.IsSettled(last.Status)}
	for i, t := range transitions {
		s := chartSegment{X: c.x(t.AtMS), Class: reports.Slug(t.Status), Status: t.Status}
		switch {
		case i+1 < len(transitions):
			next := transitions[i+1]
			s.Width = max(c.x(next.AtMS)-s.X, 3)
			s.Title = fmt.Sprintf("%s for %s, from %s", t.Status, reports.Duration(next.AtMS-t.AtMS), reports.Duration(t.AtMS))
		case bar.Settled:
			s.Width, s.Class = chartEnd, s.Class+" end"
			s.Title = fmt.Sprintf("%s at %s", t.Status, reports.Duration(t.AtMS))
		default:
			s.Width, s.Class = max(c.x(c.end)-s.X, chartEnd), s.Class+" rest"
			s.Title = fmt.Sprintf("%s from %s, not settled", t.Status, reports.Duration(t.AtMS))
		}
		bar.Segments = append(bar.Segments, s)
	}
	return bar
}

// shortID shortens an id to its last characters, because ids of one test run often begin with the same ones.
func shortID(id string) string { return safe.Ellipsis(safe.ShortIDs(id), 16) }
