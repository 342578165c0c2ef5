package reports

import (
	"fmt"
	"iter"
	"slices"
	"sync"
)

// Recorder takes exchanges as they happen and gives them back in order of id. [Memory] is one. It is safe for concurrent
// use.
type Recorder interface {
	Exchanges
	// Append keeps x, cut to the bounds of evidence, and returns its id: 1 for the first, and so on.
	Append(x Exchange) int
	// Renumber gives the exchanges new ids: the exchange order[0] becomes 1, order[1] becomes 2 and so on.
	Renumber(order []int) error
}

// Memory keeps exchanges in memory. What a run records of each is bounded, see steps/evidence.
type Memory struct {
	mu        sync.RWMutex
	exchanges []Exchange
}

// NewMemory returns a recorder that holds the given exchanges, numbered from 1 in this order.
func NewMemory(exchanges ...Exchange) *Memory {
	m := &Memory{}
	for _, x := range exchanges {
		m.Append(x)
	}
	return m
}

// Append keeps x, cut to the bounds of evidence, and returns its id.
func (m *Memory) Append(x Exchange) int {
	x = Bounded(x)
	m.mu.Lock()
	defer m.mu.Unlock()
	x.ID = len(m.exchanges) + 1
	m.exchanges = append(m.exchanges, x)
	return x.ID
}

// Len returns the number of exchanges.
func (m *Memory) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.exchanges)
}

// Get returns the exchange with this id.
func (m *Memory) Get(id int) (Exchange, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if id < 1 || id > len(m.exchanges) {
		return Exchange{}, noSuchExchange(id, len(m.exchanges))
	}
	return m.exchanges[id-1], nil
}

// All gives the exchanges that there are now, in order of id.
func (m *Memory) All() iter.Seq[Exchange] {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Values(m.exchanges) // what is appended or renumbered later is in another slice
}

// Renumber gives the exchanges new ids; see [Recorder].
func (m *Memory) Renumber(order []int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.exchanges)
	if len(order) != n {
		return fmt.Errorf("renumbering exchanges: the order names %d of %d exchanges; name every one once", len(order), n)
	}
	moved, used := make([]Exchange, 0, n), make([]bool, n)
	for _, id := range order {
		if id < 1 || id > n || used[id-1] {
			return fmt.Errorf("renumbering exchanges: id %d is unknown or named twice; name every id from 1 to %d once", id, n)
		}
		used[id-1] = true
		x := m.exchanges[id-1]
		x.ID = len(moved) + 1
		moved = append(moved, x)
	}
	m.exchanges = moved
	return nil
}

func noSuchExchange(id, n int) error {
	return fmt.Errorf("no exchange %d: ids are 1 to %d", id, n)
}

// RenumberExchanges gives the exchanges of r new ids, as [Recorder] says, and adapts all that refers to them. A run
// calls it at its end: the ids then follow from the features and not from which scenario was quicker.
func (r *Result) RenumberExchanges(order []int) error {
	recorder, is := r.Exchanges.(Recorder)
	if !is {
		return fmt.Errorf("renumbering exchanges: a %T cannot be renumbered", r.Exchanges)
	}
	if err := recorder.Renumber(order); err != nil {
		return err
	}
	renamed := make(map[int]int, len(order))
	for i, id := range order {
		renamed[id] = i + 1
	}
	for i := range r.Findings {
		r.Findings[i].Exchange = renamed[r.Findings[i].Exchange]
		for j, link := range r.Findings[i].Exchanges {
			r.Findings[i].Exchanges[j].Exchange = renamed[link.Exchange]
		}
	}
	for i := range r.Notes {
		r.Notes[i].Exchange = renamed[r.Notes[i].Exchange]
	}
	for i := range r.Requirements {
		for j := range r.Requirements[i].Scenarios {
			ids := r.Requirements[i].Scenarios[j].Exchanges
			for k := range ids {
				ids[k] = renamed[ids[k]]
			}
			slices.Sort(ids)
		}
	}
	return nil
}
