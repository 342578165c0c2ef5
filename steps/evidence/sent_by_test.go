package evidence

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// record records an exchange of a scenario.
func (c *Collector) record(t testing.TB, scenario string, sent time.Time) int {
	r := exchange.Request{Side: spec.AgentServer, Method: "GET", Path: "/threads/t/state"}
	return c.Observe(WithScenario(t.Context(), scenario, 1), r, sent, nil, "closed")
}

func TestSentBy(t *testing.T) {
	now := time.Now()
	c := newCollector(t, client.NewRedactor(nil), now)
	late := c.record(t, "a", now.Add(time.Second))
	other := c.record(t, "b", now)
	early := c.record(t, "a", now)
	c.record(t, "c", now)
	same := c.record(t, "a", now)
	assert.Equal(t, []int{early, same, late}, IDs(c.SentBy("a")))
	assert.Equal(t, []int{other, early, same, late}, IDs(c.SentBy("a", "b")), "in the order in which they were sent")
	assert.Empty(t, c.SentBy("unknown"))
	assert.Empty(t, c.SentBy())
}

// TestSentByDoesNotScanOtherScenarios compares the time that SentBy needs with few and many exchanges of other scenarios.
// A scan takes more than a hundred times as long.
func TestSentByDoesNotScanOtherScenarios(t *testing.T) {
	fastest := func(others int) time.Duration {
		c := newCollector(t, client.NewRedactor(nil), time.Now())
		for range 10 {
			c.record(t, "a", time.Now())
		}
		c.record(t, "b", time.Now())
		for range others { // excludes the time to judge each exchange
			o := c.observations[10]
			c.observations = append(c.observations, o)
			c.byScenario[o.Scenario] = append(c.byScenario[o.Scenario], o)
		}
		least := time.Hour
		for range 100 {
			start := time.Now()
			assert.Len(t, c.SentBy("a"), 10)
			least = min(least, time.Since(start))
		}
		return least
	}
	assert.Less(t, fastest(100_000), 20*max(fastest(0), time.Microsecond))
}

func BenchmarkSentBy(b *testing.B) {
	oracle, err := spec.New()
	if err != nil {
		b.Fatal(err)
	}
	c := New(oracle, client.NewRedactor(nil), time.Now(), nil, Reach{})
	for i := range 5000 {
		c.record(b, fmt.Sprint("scenario ", i%600), time.Now())
	}
	for b.Loop() {
		c.SentBy("scenario 7")
	}
}
