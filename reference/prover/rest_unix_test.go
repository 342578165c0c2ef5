//go:build unix

package prover

import (
	"syscall"
	"time"
)

// workOfATick is the CPU time below which the process has done nothing between two looks but watch itself.
const workOfATick = 10 * time.Millisecond

// restMeter measures for how long the process has used no CPU time.
type restMeter struct {
	used   time.Duration
	active time.Time
}

// since returns for how long the process has used no CPU time.
func (r *restMeter) since() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it fails for invalid arguments only
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if used-r.used > workOfATick || r.active.IsZero() {
		r.active = time.Now()
	}
	r.used = used
	return time.Since(r.active)
}
