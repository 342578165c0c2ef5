package script

import (
	"fmt"
	"regexp"
	"strconv"
)

// minHold is the minimum time for which a script keeps a run of the conformance graph in progress, in seconds. The suite
// uses less time, but a script is slower, because each request opens a connection.
const minHold = 5

// hold matches the words of the conformance graph that keep a run in progress, with the time in milliseconds.
var hold = regexp.MustCompile(`(\bwait(?:-after-write)?=)([0-9]{1,6})\b`)

// held returns the number of milliseconds for which the run of a step was kept in progress, or 0.
func (s *step) held() int64 {
	found := hold.FindStringSubmatch(s.Request.Body)
	if found == nil || s.Operation != "create-run" {
		return 0
	}
	ms, _ := strconv.ParseInt(found[2], 10, 64)
	return ms
}

// longer returns a text with holds of at least minHold.
func longer(text string) string {
	return hold.ReplaceAllStringFunc(text, func(word string) string {
		part := hold.FindStringSubmatch(word)
		ms, _ := strconv.Atoi(part[2])
		return part[1] + strconv.Itoa(max(ms, minHold*1000))
	})
}

// writeTiming writes the lines that keep a step on the same side of the end of each earlier run as in the test run.
func (s *script) writeTiming(i int) {
	each := s.steps[i]
	for _, run := range s.steps[:i] {
		ms := run.held()
		end := run.AtMS + ms
		seconds := max(ms/1000, minHold)
		switch {
		case ms == 0 || run.over:
		case each.begin >= end:
			run.over = true
			fmt.Fprintf(&s.text, "  until_end %d %d\n", run.number, seconds)
		case i+1 == len(s.steps) || s.steps[i+1].begin >= end:
			fmt.Fprintf(&s.text, "  in_time %d %d\n", run.number, seconds)
		}
	}
}
