package overview

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// LeastTime is the least time that the run could have taken, and of what it is made: "26.5 s: 1954 requests, 8 in flight". It is empty where
// the result does not hold it.
func LeastTime(r *reports.Result) string {
	l := r.Run.Least
	if l == nil {
		return ""
	}
	if l.RequestsMS >= l.PathMS {
		return fmt.Sprintf("%s: %s, %d in flight", Duration(l.MS), reports.Count(r.Counts.Exchanges, "request"), l.Concurrency)
	}
	var parts []string
	for _, p := range l.Path {
		if 20*p.MS >= l.PathMS { // what is shorter explains nothing
			parts = append(parts, fmt.Sprintf("%s (%s)", p.Name, Duration(p.MS)))
		}
	}
	return Duration(l.MS) + ": " + strings.Join(parts, ", then ")
}
