package reports

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// Exchanges is the recorded evidence in order of id. It takes exchanges as they happen, and is safe for concurrent use.
// A nil one is empty. What a run records of each exchange is bounded, see steps/evidence.
type Exchanges struct {
	mu  sync.RWMutex
	all []Exchange
}

// NewExchanges holds the given exchanges, numbered from 1 in this order.
func NewExchanges(all ...Exchange) *Exchanges {
	e := &Exchanges{}
	for _, x := range all {
		e.Append(x)
	}
	return e
}

// Append keeps x, cut to the bounds of evidence, and returns its id: 1 for the first, and so on.
func (e *Exchanges) Append(x Exchange) int {
	x = Bounded(x)
	e.mu.Lock()
	defer e.mu.Unlock()
	x.ID = len(e.all) + 1
	e.all = append(e.all, x)
	return x.ID
}

// list gives the exchanges that there are now: what is appended or renumbered later is in another slice.
func (e *Exchanges) list() []Exchange {
	if e == nil {
		return nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.all
}

// Len returns the number of exchanges.
func (e *Exchanges) Len() int { return len(e.list()) }

// Get returns the exchange with this id.
func (e *Exchanges) Get(id int) (Exchange, error) {
	all := e.list()
	if id < 1 || id > len(all) {
		return Exchange{}, noSuchExchange(id, len(all))
	}
	return all[id-1], nil
}

// All gives the exchanges that there are now, in order of id.
func (e *Exchanges) All() iter.Seq[Exchange] { return slices.Values(e.list()) }

// UnmarshalJSON reads a list whose ids count from 1.
func (e *Exchanges) UnmarshalJSON(doc []byte) error {
	var all []Exchange
	if err := json.Unmarshal(doc, &all); err != nil {
		return err
	}
	for i, x := range all {
		if x.ID != i+1 {
			return fmt.Errorf("exchanges[%d]: its id is %d; the ids count from 1", i, x.ID)
		}
		e.Append(x)
	}
	return nil
}

// renumber gives the exchanges new ids: the exchange order[0] becomes 1, order[1] becomes 2 and so on.
func (e *Exchanges) renumber(order []int) error {
	all := e.list()
	if len(order) != len(all) {
		return fmt.Errorf("renumbering exchanges: the order names %d of %d; name every one once", len(order), len(all))
	}
	moved, used := make([]Exchange, 0, len(all)), make([]bool, len(all))
	for _, id := range order {
		if id < 1 || id > len(all) || used[id-1] {
			return fmt.Errorf("renumbering exchanges: id %d is unknown or named twice; ids are 1 to %d", id, len(all))
		}
		used[id-1] = true
		x := all[id-1]
		x.ID = len(moved) + 1
		moved = append(moved, x)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = moved
	return nil
}

func noSuchExchange(id, n int) error {
	return fmt.Errorf("no exchange %d: ids are 1 to %d", id, n)
}

// RenumberExchanges gives the exchanges of r new ids: the exchange order[0] becomes 1, order[1] becomes 2 and so on. It
// adapts all that refers to them. A run calls it at its end: the ids then follow from the features and not from which
// scenario was quicker.
func (r *Result) RenumberExchanges(order []int) error {
	if err := r.Exchanges.renumber(order); err != nil {
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
