package html

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// TestTicks checks that the ticks of the timeline are round times between its first and its last status.
func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		begin, end int64
		ticks      []string
	}{
		"one status":   {700, 700, []string{"700 ms", "701 ms"}},
		"milliseconds": {3, 260, []string{"50 ms", "100 ms", "150 ms", "200 ms", "250 ms"}},
		"seconds":      {412, 19100, []string{"5 s", "10 s", "15 s"}},
		"minutes":      {20_000, 400_000, []string{"1 min", "2 min", "3 min", "4 min", "5 min", "6 min"}},
		"a day":        {0, 24 * 3600 * 1000, []string{"0 s", "240 min", "480 min", "720 min", "960 min", "1200 min", "1440 min"}},
	} {
		r := &reports.Result{Timeline: []reports.Transition{{Revision: "a", AtMS: c.begin}, {Revision: "a", AtMS: c.end}}}
		var labels []string
		for _, tick := range chartOf(r).Ticks {
			labels = append(labels, tick.Label)
		}
		assert.Equal(t, c.ticks, labels, name)
	}
}

// TestForgedTimes checks that the chart of a forged result is limited.
func TestForgedTimes(t *testing.T) {
	for _, times := range [][2]int64{{math.MaxInt64, math.MaxInt64}, {math.MinInt64, math.MaxInt64}, {-5, -5}, {0, math.MaxInt64 - 1}} {
		c := chartOf(&reports.Result{Timeline: []reports.Transition{{Revision: "a", AtMS: times[0]}, {Revision: "a", AtMS: times[1]}}})
		assert.NotEmpty(t, c.Ticks, times)
		assert.Less(t, len(c.Ticks), 10, times)
		for _, s := range c.Bars[0].Segments {
			assert.True(t, s.X >= chartPlot && s.X+s.Width <= chartWidth, "%v: %v", times, s)
		}
	}
}
