package steps

import (
	"context"
	"time"
)

// longerHold is beyond what a join may be cut off at in the machinery around an agent server, and short enough for every run
// of the suite.
const longerHold = 1200 * time.Millisecond

// userStartsLongerAndJoins has a join wait for longer than the other sentences do.
func (w *World) userStartsLongerAndJoins(ctx context.Context) error {
	w.wanted = longerHold
	return w.userStartsLongAndJoins(ctx)
}
