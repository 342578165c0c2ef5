package html

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

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
	Legend        []chartSegment // one of each status
	Left          int            // revisions for which there is no room

	begin, end int64 // of the time that the axis shows, in milliseconds from the start of the run
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
		Final    string
		Settled  bool
		Segments []chartSegment
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
	maxBars    = 60
)

// settled are the statuses with which a revision settles: polling ends there.
var settled = []string{"DEPLOYED", "CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "SKIPPED", "INTERRUPTED"}

// chartOf draws the transitions; nil if there are none.
func chartOf(timeline []reports.Transition, origins map[string]origin) *chart {
	rows, order := map[string][]reports.Transition{}, []string{}
	c := &chart{Width: chartWidth, Right: chartWidth - chartRight + 14, begin: math.MaxInt64}
	for _, t := range timeline {
		if rows[t.Revision] == nil {
			order = append(order, t.Revision)
		}
		rows[t.Revision] = append(rows[t.Revision], t)
		c.begin, c.end = min(c.begin, t.AtMS), max(c.end, t.AtMS)
	}
	if len(order) == 0 {
		return nil
	}
	c.end = max(c.end, c.begin+1)
	c.Left = max(len(order)-maxBars, 0)
	order = order[:len(order)-c.Left]
	c.Height = 30 + chartRow*len(order)
	const ticks = 6
	for i := range int64(ticks + 1) {
		at := c.begin + (c.end-c.begin)*i/ticks
		c.Ticks = append(c.Ticks, chartTick{c.x(at), overview.Duration(at)})
	}
	for i, revision := range order {
		bar := c.bar(rows[revision], 24+chartRow*i)
		bar.Origin = origins[revision]
		c.Bars = append(c.Bars, bar)
		for _, s := range bar.Segments {
			if !slices.ContainsFunc(c.Legend, func(known chartSegment) bool { return known.Status == s.Status }) {
				c.Legend = append(c.Legend, chartSegment{Class: overview.Slug(s.Status), Status: s.Status})
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
func (c *chart) bar(transitions []reports.Transition, y int) chartBar {
	slices.SortStableFunc(transitions, func(a, b reports.Transition) int { return cmp.Compare(a.AtMS, b.AtMS) })
	last := transitions[len(transitions)-1]
	bar := chartBar{Y: y, Revision: last.Revision, Label: shortID(last.Revision), Final: last.Status, Settled: slices.Contains(settled, last.Status)}
	for i, t := range transitions {
		s := chartSegment{X: c.x(t.AtMS), Class: overview.Slug(t.Status), Status: t.Status}
		switch {
		case i+1 < len(transitions):
			next := transitions[i+1]
			s.Width = max(c.x(next.AtMS)-s.X, 3)
			s.Title = fmt.Sprintf("%s for %s, from %s", t.Status, overview.Duration(next.AtMS-t.AtMS), overview.Duration(t.AtMS))
		case bar.Settled:
			s.Width, s.Class = chartEnd, s.Class+" end"
			s.Title = fmt.Sprintf("%s at %s", t.Status, overview.Duration(t.AtMS))
		default:
			s.Width, s.Class = max(c.x(c.end)-s.X, chartEnd), s.Class+" rest"
			s.Title = fmt.Sprintf("%s from %s, not settled", t.Status, overview.Duration(t.AtMS))
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

// origin tells what a revision belongs to. Either may be unknown.
type origin struct {
	Deployment string // id
	CreatedBy  string // the scenario or fixture that created the deployment
}

// revisionAddress is an address that names a revision: what polls a revision asks for it there.
var revisionAddress = regexp.MustCompile(`/deployments/([^/?#]+)/revisions/([^/?#]+)`)

// origins finds the deployments of the revisions in the timeline: the addresses that were polled name them, the ledger
// says what created them.
func (p *page) origins() map[string]origin {
	creators, origins := map[string]string{}, map[string]origin{}
	for _, e := range p.R.Ledger {
		if e.Kind == "deployment" {
			creators[e.ID] = e.CreatedBy
		}
	}
	for x := range p.all.All() {
		if names := revisionAddress.FindStringSubmatch(x.URL); names != nil && origins[names[2]].Deployment == "" {
			origins[names[2]] = origin{safe.Visible(safe.Cut(names[1], 200)), creators[names[1]]}
		}
	}
	return origins
}
