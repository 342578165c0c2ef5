package evidence

import (
	"maps"
	"sync"

	"github.com/agentconform/agentconform/spec"
)

// trust is how credentials of the configuration were answered.
type trust struct {
	mu         sync.Mutex
	bySide     map[spec.Side]map[int]int // by status; not those to what is wrong on purpose
	byExchange map[int]int               // statuses
}

// note notes an answer to credentials of the configuration. What is wrong with a request on purpose may be refused
// before the credentials are looked at: it does not count.
func (t *trust) note(id int, o *observed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := o.Exchange.Status
	t.byExchange[id] = status
	if o.Wrong {
		return
	}
	if t.bySide[o.Side] == nil {
		t.bySide[o.Side] = map[int]int{}
	}
	t.bySide[o.Side][status]++
}

// Trusted counts the answers of a side to credentials of the configuration, by status.
func (t *trust) Trusted(side spec.Side) map[int]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.bySide[side])
}

// TrustedStatus is the status of the exchange where it was made with credentials of the configuration, else 0.
func (t *trust) TrustedStatus(exchange int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byExchange[exchange]
}
