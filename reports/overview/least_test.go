package overview

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// TestLeastTime says of what the least time is made: of all requests, or of the parts of the critical path that matter.
func TestLeastTime(t *testing.T) {
	path := []reports.PathPart{{Name: "a fixture", MS: 40_000, Revisions: 2}, {Name: "X-1 a scenario", MS: 9_500}, {Name: "cleaning up", MS: 500}}
	for want, least := range map[string]*reports.Least{
		"": nil,
		"50.0 s: a fixture (40.0 s), then X-1 a scenario (9.5 s)": {MS: 50_000, RequestsMS: 3000, PathMS: 50_000, Concurrency: 8, Path: path},
		"1m10s: 7 requests, 8 in flight":                          {MS: 70_000, RequestsMS: 70_000, PathMS: 50_000, Concurrency: 8, Path: path},
	} {
		assert.Equal(t, want, LeastTime(&reports.Result{Run: reports.Run{Least: least}, Counts: reports.Counts{Exchanges: 7}}))
	}
}
