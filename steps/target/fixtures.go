package target

import (
	"context"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// AdvertiseKey is the key of the URL at which a target's builder reaches the fixtures.
const AdvertiseKey = "fixtures.advertise"

// Fixtures are the sources that the suite itself serves to the target's builder (key fixtures).
type Fixtures interface {
	Listening() string                 // address, "host:port"
	Advertised() string                // base URL for builders
	Contents() []string                // what is served, for people
	Fetched() int                      // requests of others that were served
	Reached(ctx context.Context) error // why this machine does not reach the advertised URL; nil where it does
}

// Unfetched says that nothing was fetched from the fixtures, and what to do about it; both are "" where something was, or the suite serves none.
func (t *Target) Unfetched() (found, remedy string) {
	if t.Fixtures == nil || t.Fixtures.Fetched() > 0 {
		return "", ""
	}
	return "nothing was fetched from the fixtures at " + t.Fixtures.Advertised(),
		"set " + AdvertiseKey + " to a URL at which the target's builder reaches this machine"
}

// BlamingFixtures adds to an outcome that nothing was fetched from the fixtures, where that is so: then the target has nothing
// that it could build.
func (t *Target) BlamingFixtures(o *outcome.Outcome) *outcome.Outcome {
	found, remedy := t.Unfetched()
	if found == "" {
		return o
	}
	o.Reason += "; " + found + ": " + remedy
	if len(o.Violations) > 0 {
		o.Hinting(found + ": " + remedy)
	}
	return o.By(reports.ByKey, AdvertiseKey)
}
