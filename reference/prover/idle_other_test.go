//go:build !unix

package prover

import "time"

// idleMeter measures nothing on this system.
type idleMeter struct{}

func (*idleMeter) duration() time.Duration { return 0 }
