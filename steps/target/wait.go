package target

import (
	"context"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// RetryFor looks again and again, less and less often, until there is nothing more to wait for or the time is over.
// That it is over is no error: what was hoped for is then judged as it is. A target may accept something (202)
// before it takes effect, and its lists may learn of it late.
func (t *Target) RetryFor(ctx context.Context, limit time.Duration, look func() (done bool, err error)) error {
	start := time.Now()
	for wait := t.Config.Polling.Interval; ; wait = min(wait*3/2, t.Config.Polling.MaxInterval) {
		done, err := look()
		if done || err != nil || time.Since(start)+wait > limit {
			return err
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// WaitSettleDelay waits until something that was done in the background would be seen.
func (t *Target) WaitSettleDelay(ctx context.Context, act *client.Answer) error {
	return client.Sleep(ctx, t.SettleDelay(act))
}

// SettleDelay is twice as long as the target took to answer, and longer where it said that it has only accepted the act.
func (t *Target) SettleDelay(act *client.Answer) time.Duration {
	wait := max(50*time.Millisecond, 2*act.Took)
	if act.Status == http.StatusAccepted {
		wait = max(wait, 500*time.Millisecond)
	}
	return min(wait, t.Config.Timeouts.Request)
}
