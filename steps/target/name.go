package target

import (
	"fmt"
	"sync"
)

// NamePrefix begins the name of everything that runs create.
const NamePrefix = "agentconform-"

// MarkKey is the key of a thread's metadata that holds such a name, where a scenario gives its threads one.
const MarkKey = "agentconform"

// Name makes a name for something that the run creates: it carries the run's id and is used once.
func (t *Target) Name(purpose string) string {
	return fmt.Sprintf(NamePrefix+"%s-%s-%d", t.RunID, purpose, t.names.next(purpose))
}

// names counts the names that were given. Its zero value is ready for use.
type names struct {
	mu     sync.Mutex
	serial map[string]int // by purpose
}

// next returns the number of the next name for a purpose, from 1.
func (n *names) next(purpose string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.serial == nil {
		n.serial = map[string]int{}
	}
	n.serial[purpose]++
	return n.serial[purpose]
}
