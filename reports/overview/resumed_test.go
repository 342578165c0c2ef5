package overview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestResumed(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	one := reports.Resumption{BrokenAt: at, ResumedAt: at.Add(time.Hour), TakenOver: 1}
	two := reports.Resumption{BrokenAt: at.Add(2 * time.Hour), ResumedAt: at.Add(3 * time.Hour), TakenOver: 7}
	for want, resumed := range map[string][]reports.Resumption{
		"": nil,
		"broken off at 2026-01-02 03:04:05 UTC and resumed; 1 scenario taken over":                           {one},
		"broken off and resumed 2 times, last broken off at 2026-01-02 05:04:05 UTC; 7 scenarios taken over": {one, two},
	} {
		assert.Equal(t, want, overview.Resumed(&reports.Result{Run: reports.Run{Resumed: resumed}}))
	}
}
