package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// chart is the timeline as a picture: a bar for each revision, a segment for each status.
type chart struct {
	Width, Height int
	Right         int // where the last statuses are written
	Ticks         []chartTick
	Bars          []chartBar
	Legend        []chartKey
	Left          int // revisions for which there is no room
}

type (
	chartTick struct {
		X     int
		Label string
	}
	chartBar struct {
		Y        int
		Revision string
		Label    string
		Origin   origin
		Made     string // the deployment and what created it, in a line
		Final    string
		Settled  bool
		Segments []chartSegment
	}
	chartSegment struct {
		X, Width             int
		Class, Status, Title string
	}
	chartKey struct{ Class, Status string }
)

const (
	chartWidth = 960
	chartPlot  = 150 // room for the names
	chartRight = 190 // room for the last status
	chartRow   = 42
	chartEnd   = 8 // width of the mark that ends a bar
	maxBars    = 60
)

// settled are the statuses with which a revision settles: polling ends there.
var settled = map[string]bool{"DEPLOYED": true, "CREATE_FAILED": true, "BUILD_FAILED": true, "DEPLOY_FAILED": true, "SKIPPED": true, "INTERRUPTED": true}

// chartOf draws the transitions; nil if there are none.
func chartOf(timeline []reports.Transition, origins map[string]origin) *chart {
	rows, order := map[string][]reports.Transition{}, []string{}
	begin, end := int64(math.MaxInt64), int64(0)
	for _, t := range timeline {
		if rows[t.Revision] == nil {
			order = append(order, t.Revision)
		}
		rows[t.Revision] = append(rows[t.Revision], t)
		begin, end = min(begin, t.AtMS), max(end, t.AtMS)
	}
	if len(order) == 0 {
		return nil
	}
	axis := chartAxis{begin, max(end, begin+1)}
	c := &chart{Width: chartWidth, Right: chartWidth - chartRight + 14, Left: max(len(order)-maxBars, 0)}
	order = order[:min(len(order), maxBars)]
	c.Height = 30 + chartRow*len(order)
	c.ticks(axis)
	seen := map[string]bool{}
	for i, revision := range order {
		c.Bars = append(c.Bars, barOf(rows[revision], 24+chartRow*i, axis, origins[revision]))
		for _, t := range rows[revision] {
			if !seen[t.Status] {
				seen[t.Status] = true
				c.Legend = append(c.Legend, chartKey{statusClass(t.Status), t.Status})
			}
		}
	}
	return c
}

// chartAxis is the time that the axis shows, in milliseconds from the start of the run.
type chartAxis struct{ begin, end int64 }

func (a chartAxis) x(at int64) int {
	return chartPlot + int((at-a.begin)*int64(chartWidth-chartPlot-chartRight)/(a.end-a.begin))
}

// barOf draws a revision: a segment from each status to the next, and a mark where the revision settled. One that did not
// settle lasts to the end of the axis.
func barOf(transitions []reports.Transition, y int, axis chartAxis, from origin) chartBar {
	slices.SortStableFunc(transitions, func(a, b reports.Transition) int { return cmp.Compare(a.AtMS, b.AtMS) })
	last := transitions[len(transitions)-1]
	bar := chartBar{Y: y, Revision: last.Revision, Label: shortID(last.Revision), Origin: from, Made: from.String(), Final: last.Status, Settled: settled[last.Status]}
	for i, t := range transitions {
		s := chartSegment{X: axis.x(t.AtMS), Class: statusClass(t.Status), Status: t.Status}
		switch {
		case i+1 < len(transitions):
			next := transitions[i+1]
			s.Width = max(axis.x(next.AtMS)-s.X, 3)
			s.Title = fmt.Sprintf("%s for %s, from %s", t.Status, overview.Duration(next.AtMS-t.AtMS), overview.Duration(t.AtMS))
		case bar.Settled:
			s.Width, s.Class = chartEnd, s.Class+" end"
			s.Title = fmt.Sprintf("%s at %s", t.Status, overview.Duration(t.AtMS))
		default:
			s.Width, s.Class = max(axis.x(axis.end)-s.X, chartEnd), s.Class+" rest"
			s.Title = fmt.Sprintf("%s from %s, not settled", t.Status, overview.Duration(t.AtMS))
		}
		bar.Segments = append(bar.Segments, s)
	}
	return bar
}

// String names the deployment and what created it; it is empty where both are unknown.
func (o origin) String() string {
	switch {
	case o.Deployment == "":
		return ""
	case o.CreatedBy == "":
		return "deployment " + shortID(o.Deployment)
	}
	return "deployment " + shortID(o.Deployment) + ", created by " + safe.Ellipsis(o.CreatedBy, 110)
}

// ticks puts a few round numbers on the axis: the smallest step of 1, 2 or 5 times a power of ten that needs no more
// than eight.
func (c *chart) ticks(axis chartAxis) {
	step := int64(1)
	for i := 0; (axis.end-axis.begin)/step > 8; i++ {
		step = []int64{2, 5, 10}[i%3] * pow10(i/3)
	}
	for at := (axis.begin + step - 1) / step * step; at <= axis.end; at += step {
		c.Ticks = append(c.Ticks, chartTick{axis.x(at), overview.Duration(at)})
	}
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// statusClass groups the statuses: what is under way, what is up, what has failed, what was given up.
func statusClass(status string) string {
	switch {
	case status == "DEPLOYED":
		return "up"
	case strings.HasSuffix(status, "_FAILED"):
		return "bad"
	case status == "SKIPPED" || status == "INTERRUPTED":
		return "off"
	case strings.HasPrefix(status, "AWAITING_") || status == "QUEUED":
		return "wait"
	case status == "CREATING" || status == "BUILDING" || status == "DEPLOYING":
		return "work-" + strings.ToLower(status)
	}
	return "odd"
}

// shortID keeps both ends of an id: ids made in a row often share their beginning.
func shortID(id string) string {
	runes := []rune(id)
	if len(runes) <= 14 {
		return id
	}
	return string(runes[:8]) + "…" + string(runes[len(runes)-4:])
}
