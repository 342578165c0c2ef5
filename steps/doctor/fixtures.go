package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/target"
)

// examineFixtures says what a run serves to the target's builder, and whether it is reached under the advertised URL:
// from this machine, and by anybody else so far.
func (x *examiner) examineFixtures(ctx context.Context) {
	f, c := x.target.Fixtures, x.target.Config
	if f == nil {
		if c.Fixtures.Serve != "" && c.Target == "" {
			x.add(Noted, "fixtures", "not served: no control plane is configured", "set target, or remove fixtures")
		}
		return
	}
	x.add(Fine, "fixtures", fmt.Sprintf("served at %s, for builders at %s: %s; graph in %s", f.Listening(), f.Advertised(),
		strings.Join(f.Contents(), ", "), c.Fixtures.Graph), "")
	err := f.Reached(ctx)
	fetched := "nothing was fetched while doctor ran: it creates no deployment"
	if n := f.Fetched(); n > 0 {
		fetched = reports.Count(n, "request") + " of others served while doctor ran"
	}
	if err != nil {
		x.add(Noted, target.AdvertiseKey, fmt.Sprintf("%s is not reached from this machine: %v; %s", f.Advertised(), err, fetched),
			"check that the target's builder reaches it, or correct "+target.AdvertiseKey)
		return
	}
	x.add(Fine, target.AdvertiseKey, fmt.Sprintf("%s is reached from this machine; %s", f.Advertised(), fetched), "")
}
