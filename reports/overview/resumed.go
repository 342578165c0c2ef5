package overview

import (
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// Resumed says that the run was broken off and went on: when, and how many scenarios were taken over; "" if it was not.
//
//	broken off at 2026-11-22 19:23:18 UTC and resumed; 100 scenarios taken over
func Resumed(r *reports.Result) string {
	n := len(r.Run.Resumed)
	if n == 0 {
		return ""
	}
	last := r.Run.Resumed[n-1]
	at, resumed := last.BrokenAt.UTC().Format("2006-01-02 15:04:05 UTC"), reports.Count(last.TakenOver, "scenario")+" taken over"
	if n == 1 {
		return fmt.Sprintf("broken off at %s and resumed; %s", at, resumed)
	}
	return fmt.Sprintf("broken off and resumed %d times, last broken off at %s; %s", n, at, resumed)
}
