package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// AgentRefuses says that the agent server refuses callers without credentials, with which status.
func (t *Target) AgentRefuses(status int) { t.refusing.Store(int64(status)) }

// JudgeAgentAt sets the URL of the agent server that the run tests, as the control plane returned it.
func (t *Target) JudgeAgentAt(base string) {
	t.underTest.Store(&base)
	t.Progress(Event{Kind: Named, Name: base})
}

// AgentRefusal is the status with which the agent server refuses callers without credentials, where no user is
// configured and the server was seen to refuse: what needs no user is judged then. 0 otherwise.
func (t *Target) AgentRefusal() int {
	if len(t.Config.Users) > 0 {
		return 0
	}
	return int(t.refusing.Load())
}

// AgentAddress is the address of the agent server under test, "" while it is not known.
func (t *Target) AgentAddress() string {
	if found := t.underTest.Load(); found != nil {
		return *found
	}
	return t.Config.AgentTarget
}

// Refused blocks what needs the agent server at an address that the control plane has named, where an error says that
// no request goes there. It returns any other error as it is.
func Refused(t *Target, named string, err error) error {
	var why *client.NotNamed
	if !errors.As(err, &why) {
		return err
	}
	return outcome.Blocked("no user's token is sent to the agent server address that the deployment has at %s, %.200q: "+
		"%s; %s", t.Config.AgentURLFrom, t.Redact.Text(named), why, why.Remedy()).By(reports.ByKey, why.Key)
}

// ListsBySearch says that the target serves the search endpoint and not GET /threads, for a configuration that does
// not say.
func (t *Target) ListsBySearch() { t.searches.Store(true) }

// Searches tells whether threads are listed with the search endpoint: the configuration says so, or it says nothing and
// the target was seen to serve no other.
func (t *Target) Searches() bool {
	return t.Config.Agent.Listing == "search" || t.Config.Agent.Listing == "" && t.searches.Load()
}

// NotServed tells whether an answer says that the server has no such operation.
func NotServed(a *client.Answer) bool {
	return a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed
}

// NoteListing notes that GET /threads, which the interface shows, is not served. The answer is that to it.
func (t *Target) NoteListing(a *client.Answer) {
	if NotServed(a) {
		t.Note(reports.Note{Kind: reports.NoteListing, Exchange: a.ID,
			Text: fmt.Sprintf("GET /threads is answered with %d; threads are listed with POST /threads/search", a.Status)})
	}
}

// ListingHint names the configuration that a list without the expected thread may ask for.
func (t *Target) ListingHint() string {
	call := map[bool]string{false: "GET /threads", true: "POST /threads/search"}[t.Searches()]
	return call + " was asked: if the target lists threads by the other one, or the list is a page, set agent.listing to " +
		"get or search"
}

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

// Unfetched says that nothing was fetched from the fixtures, and what to do about it; both are "" where something
// was, or the suite serves none.
func (t *Target) Unfetched() (found, remedy string) {
	if t.Fixtures == nil || t.Fixtures.Fetched() > 0 {
		return "", ""
	}
	return "nothing was fetched from the fixtures at " + t.Fixtures.Advertised(),
		"set " + AdvertiseKey + " to a URL at which the target's builder reaches this machine"
}

// BlamingFixtures adds to an outcome that nothing was fetched from the fixtures, where that is so: then the target has
// nothing that it could build.
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

// RetryFor is [client.Repeat] for a limit of time. A target may accept something (202) before it takes effect, and its lists may learn of it
// late.
func (t *Target) RetryFor(ctx context.Context, limit time.Duration, look func() (done bool, err error)) error {
	return client.Repeat(ctx, t.Config.Polling.Interval, t.Config.Polling.MaxInterval, time.Now().Add(limit), look)
}

// WaitSettleDelay waits until something that was done in the background would be seen.
func (t *Target) WaitSettleDelay(ctx context.Context, act *client.Answer) error {
	return client.Sleep(ctx, t.SettleDelay(act))
}

// SettleDelay is twice as long as the target took to answer, and longer where it said that it has only accepted the
// act.
func (t *Target) SettleDelay(act *client.Answer) time.Duration {
	wait := max(50*time.Millisecond, 2*act.Took)
	if act.Status == http.StatusAccepted {
		wait = max(wait, 500*time.Millisecond)
	}
	return min(wait, t.Config.Timeouts.Request)
}
