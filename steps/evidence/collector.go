package evidence

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Collector observes every exchange of a run. It may be used by many goroutines.
type Collector struct {
	Words     *Words
	Exchanges *reports.Exchanges

	judge    judge
	recorder recorder
	start    time.Time

	mu sync.Mutex // for all below; held while an exchange gets its id and is noted under it
	seen

	observations  []Observation
	observedBytes int // of their bodies

	// What the contract says against answers.
	violations map[string]*Violation
	order      []string       // keys of violations, first seen first
	known      map[string]int // of these, by operation

	// Where the exchanges belong.
	all      []place // by exchange, in the order of their ids
	sequence map[string]int

	mistakes         []string // requests of the suite that break the contract, and not on purpose
	given            givenIDs
	ownToken         OwnToken // where callers' own tokens were seen
	granted, refused int      // answers that asked the client to wait, by whether it did
}

// New returns a collector.
func New(oracle *spec.Oracle, redact *client.Redactor, start time.Time) *Collector {
	return &Collector{
		Words: NewWords(nil), judge: newJudge(oracle), recorder: newRecorder(redact), Exchanges: reports.NewExchanges(), start: start,
		seen: newSeen(oracle, redact), violations: map[string]*Violation{}, known: map[string]int{}, sequence: map[string]int{}, given: givenIDs{},
	}
}

// Translate has exchanges recorded in the target's words, as they were sent and received.
func (c *Collector) Translate(words spec.Words) {
	c.recorder.words, c.Words = words, NewWords(words)
}

// ReachedBy says how the target is reached. It is called before anything is observed.
func (c *Collector) ReachedBy(r Reach) { c.recorder.Reach = r }

// Observe records one exchange and judges it. It is a client.Observer.
func (c *Collector) Observe(ctx context.Context, r client.Request, sent time.Time, a *client.Answer, cause string) int {
	o := c.observe(ctx, r, sent, a, cause)
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.Exchanges.Append(o.Exchange)
	c.take(id, o)
	return id
}
