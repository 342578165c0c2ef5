package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// line is a row for the console.
func (r *row) line() string {
	state := "ok   "
	if len(r.Wrong) > 0 {
		state = "WRONG"
	}
	s := fmt.Sprintf("%s %-10s %-34s %-14s %5.1f s, %4.1f s CPU, %4d MB", state, r.Group, r.Name, r.Verdict, r.Seconds, r.CPU, r.Megabytes)
	if len(r.Wrong) > 0 {
		s += "  " + strings.Join(r.Wrong, "; ")
	}
	return s
}

// summary says in one line how the runs ended.
func summary(rows []row) string {
	var wrong, alone int
	for _, r := range rows {
		if r.wrong() {
			wrong++
		}
		if r.alone {
			alone++
		}
	}
	slowest := slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.Seconds, b.Seconds) })
	largest := slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.Megabytes, b.Megabytes) })
	return fmt.Sprintf("%d hostile modes, %d wrong, %d measured once more alone; slowest %s with %.1f s, largest %s with %d MB",
		len(rows), wrong, alone, slowest.Name, slowest.Seconds, largest.Name, largest.Megabytes)
}
