package main

import (
	"math"
	"runtime/debug"
)

// The memory above which garbage is collected more often, in bytes: of a run, and of each request in flight.
const (
	memoryOfRun     = 56 << 20
	memoryOfRequest = 5 << 20
)

// limitMemory makes a run that judges large answers collect them soon, and returns what undoes that. It is no hard limit, and GOMEMLIMIT
// takes precedence. A run that stays below is not slowed down.
func limitMemory(concurrency int) (undo func()) {
	before := debug.SetMemoryLimit(-1) // only asks
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(memoryOfRun + int64(concurrency)*memoryOfRequest)
	return func() { debug.SetMemoryLimit(before) }
}
