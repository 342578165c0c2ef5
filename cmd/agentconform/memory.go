package main

import (
	"math"
	"os"
	"runtime/debug"
)

// The memory above which garbage is collected more often, in bytes: of a run, and of each request in flight. Below it,
// garbage is collected once it is this part of what is in use, in percent.
const (
	memoryOfRun     = 56 << 20
	memoryOfRequest = 5 << 20
	garbage         = 60
)

// limitMemory makes a run, above all one that judges large answers, collect garbage soon. It is no hard limit, and
// GOMEMLIMIT and GOGC take precedence.
func limitMemory(concurrency int) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 { // only asks
		return
	}
	debug.SetMemoryLimit(memoryOfRun + int64(concurrency)*memoryOfRequest)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
