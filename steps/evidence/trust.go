package evidence

import (
	"maps"

	"github.com/agentconform/agentconform/spec"
)

// noteTrust notes an answer to credentials of the configuration. What is wrong with a request on purpose may be refused
// before the credentials are looked at: it does not count.
func (c *Collector) noteTrust(id int, o *observed) {
	status := o.Exchange.Status
	c.byExchange[id] = status
	if o.Wrong {
		return
	}
	if c.bySide[o.Side] == nil {
		c.bySide[o.Side] = map[int]int{}
	}
	c.bySide[o.Side][status]++
}

// Trusted counts the answers of a side to credentials of the configuration, by status.
func (c *Collector) Trusted(side spec.Side) map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.bySide[side])
}

// TrustedStatus is the status of the exchange where it was made with credentials of the configuration, else 0.
func (c *Collector) TrustedStatus(exchange int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byExchange[exchange]
}

// Waited notes an answer that asked the client to wait, and whether it did.
func (c *Collector) Waited(granted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if granted {
		c.granted++
	} else {
		c.refused++
	}
}

// Throttled is how often the client waited because it was asked to, and how often it did not.
func (c *Collector) Throttled() (waited, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.granted, c.refused
}
