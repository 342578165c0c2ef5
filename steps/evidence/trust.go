package evidence

import "github.com/agentconform/agentconform/spec"

// Trusted counts the answers of a side to credentials of the configuration, by status. What is wrong with a request on purpose may be refused
// before the credentials are looked at: it does not count.
func (c *Collector) Trusted(side spec.Side) map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[int]int{}
	for _, o := range c.observations {
		if o.Trusted && o.Side == side && !o.Wrong {
			all[o.Status]++
		}
	}
	return all
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
