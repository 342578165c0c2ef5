package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// chart is the timeline as a picture: a bar for each revision, a segment for each status.
type chart struct {
	Width, Height int
	Right         int // where the last statuses are written
	Ticks         []chartTick
	Bars          []chartBar
	Legend        []chartSegment // one of each status

	begin, end int64 // of the time that the axis shows, in milliseconds from the start of the run
}

type (
	chartTick struct {
		X     int
		Label string
	}
	chartBar struct {
		Y         int
		Last      reports.Transition
		CreatedBy string // the scenario or fixture that created the deployment; may be unknown
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
	chartPlot  = 150 // room for the names
	chartRight = 190 // room for the last status
	chartRow   = 42
	chartEnd   = 8 // width of the mark that ends a bar
)

// settled are the statuses with which a revision settles: polling ends there.
var settled = []string{"DEPLOYED", "CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "SKIPPED", "INTERRUPTED"}

// chartOf draws the transitions of a run; nil if there are none.
func chartOf(r *reports.Result) *chart {
	c := &chart{Width: chartWidth, Right: chartWidth - chartRight + 14, begin: math.MaxInt64}
	rows, order, creators := map[string][]reports.Transition{}, []string{}, map[string]string{}
	for _, t := range r.Timeline {
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
	const ticks = 6
	for i := range int64(ticks + 1) {
		at := c.begin + (c.end-c.begin)*i/ticks
		c.Ticks = append(c.Ticks, chartTick{c.x(at), reports.Duration(at)})
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

func (c *chart) x(at int64) int {
	return chartPlot + int((at-c.begin)*int64(chartWidth-chartPlot-chartRight)/(c.end-c.begin))
}

// bar draws a revision: a segment from each status to the next, and a mark where the revision settled. One that did not
// settle lasts to the end of the axis.
func (c *chart) bar(transitions []reports.Transition) chartBar {
	slices.SortStableFunc(transitions, func(a, b reports.Transition) int { return cmp.Compare(a.AtMS, b.AtMS) })
	last := transitions[len(transitions)-1]
	bar := chartBar{Last: last, Settled: slices.Contains(settled, last.Status)}
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

// shortID keeps both ends of an id: ids made in a row often share their beginning.
func shortID(id string) string {
	runes := []rune(id)
	if len(runes) <= 14 {
		return id
	}
	return string(runes[:8]) + "…" + string(runes[len(runes)-4:])
}
