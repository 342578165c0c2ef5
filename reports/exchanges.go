package reports

import (
	"fmt"
	"slices"
)

// Record appends exchanges to those that were recorded, each cut to the bounds of evidence. Ids count from 1.
func Record(all []Exchange, more ...Exchange) []Exchange {
	for _, x := range more {
		x = bounded(x)
		x.ID = len(all) + 1
		all = append(all, x)
	}
	return all
}

// Exchange returns the exchange with this id.
func (r *Result) Exchange(id int) (Exchange, error) {
	if id < 1 || id > len(r.Exchanges) {
		return Exchange{}, fmt.Errorf("no exchange %d: ids are 1 to %d", id, len(r.Exchanges))
	}
	return r.Exchanges[id-1], nil
}

// RenumberExchanges gives the exchanges of r new ids: the exchange order[0] becomes 1, order[1] becomes 2 and so on; the
// order names each once. It adapts all that refers to them. A run calls it at its end: the ids then follow from the
// features and not from which scenario was quicker.
func (r *Result) RenumberExchanges(order []int) {
	renamed, moved := make(map[int]int, len(order)), make([]Exchange, len(order))
	for i, id := range order {
		renamed[id], moved[i] = i+1, r.Exchanges[id-1]
		moved[i].ID = i + 1
	}
	r.Exchanges = moved
	for f := range Each(r.Findings) {
		f.Exchange = renamed[f.Exchange]
		for l := range Each(f.Exchanges) {
			l.Exchange = renamed[l.Exchange]
		}
	}
	for n := range Each(r.Notes) {
		n.Exchange = renamed[n.Exchange]
	}
	for q := range Each(r.Requirements) {
		for s := range Each(q.Scenarios) {
			for i, id := range s.Exchanges {
				s.Exchanges[i] = renamed[id]
			}
			slices.Sort(s.Exchanges)
		}
	}
}
