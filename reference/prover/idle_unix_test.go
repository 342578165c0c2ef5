//go:build unix

package prover

import (
	"syscall"
	"time"
)

// idleWork is the CPU time that the watcher itself may use between two measurements.
const idleWork = 10 * time.Millisecond

// idleMeter measures how long the process has used no CPU time.
type idleMeter struct {
	used   time.Duration
	active time.Time
}

// duration returns how long the process has used no CPU time.
func (m *idleMeter) duration() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // it fails for invalid arguments only
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if used-m.used > idleWork || m.active.IsZero() {
		m.active = time.Now()
	}
	m.used = used
	return time.Since(m.active)
}
