package suite

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// The bounds of a chain: how many identical reads in a row it keeps, and how many exchanges in all.
const (
	maxReads = 4
	maxChain = 300
)

// chains finds the exchanges that led to violations, in the record of a run.
type chains struct {
	target *target.Target
	uses   func(owner string) []string // fixtures of a scenario or a fixture
}

func (r *run) chains() chains { return chains{r.target, r.maker.Uses} }

func (c chains) seen(exchange int) evidence.Observation {
	return c.target.Collector.Observation(exchange)
}

// of lists the exchanges that led to a violation, in the order in which they were sent: those of the scenario's fixtures
// and its own, up to the one that shows it, and what other scenarios had changed before at a deployment that they share.
// What a rule finds that judges all exchanges of a run has the chain of the scenario that made the exchange.
func (c chains) of(s *features.Scenario, v outcome.Violation, updates []update) []reports.Link {
	shows := cmp.Or(v.Compared.Shown, v.Exchange)
	owner := s.Key() + " " + s.Name
	senders := c.senders(owner)
	if sender := c.target.Collector.Sender(shows); shows > 0 && !slices.Contains(senders, sender) {
		owner, senders = sender, c.senders(sender)
	}
	sent := c.target.Collector.SentBy(senders...)
	last := len(sent) - 1
	for last >= 0 && shows > 0 && sent[last].ID != shows && sent[last].ID != v.Compared.With {
		last--
	}
	sent = sent[:last+1]
	sent = c.aboutTheSame(sent, owner, shows, v.Compared.With)
	sent = c.withUpdates(sent, senders, updates)
	sent = c.withoutRepeats(sent, v)
	var links []reports.Link
	for _, x := range sent[max(0, len(sent)-maxChain):] {
		link := reports.Link{Exchange: x.ID, Part: x.Part}
		if x.ID == shows {
			link.Part = reports.Observation
		}
		links = append(links, link)
	}
	return links
}

// update is a request that has changed a deployment.
type update struct {
	exchange int
	address  string // of the deployment
}

// updates lists the requests of the run that have changed a deployment.
func (c chains) updates() (all []update) {
	for _, o := range c.target.Collector.Observations() {
		if o.Op.ID == updateDeployment && o.Status/100 == 2 {
			all = append(all, update{o.ID, o.Base + o.Path})
		}
	}
	return all
}

// updateDeployment is the id of the operation in the contract.
const updateDeployment = "update-deployment"

// withUpdates adds the updates by others of the deployments that a chain is about: a deployment that scenarios lease in turn
// is as the one before has left it.
func (c chains) withUpdates(sent []evidence.Sent, senders []string, updates []update) []evidence.Sent {
	if len(sent) == 0 {
		return sent
	}
	about := map[string]bool{}
	for _, x := range sent {
		o := c.seen(x.ID)
		for _, u := range updates {
			about[u.address] = about[u.address] || strings.HasPrefix(o.Base+o.Path+"/", u.address+"/")
		}
	}
	last := sent[len(sent)-1].At
	for _, u := range updates {
		if x := c.target.Collector.SentAs(u.exchange); about[u.address] && !slices.Contains(senders, x.By) && x.At.Before(last) {
			sent = append(sent, x)
		}
	}
	slices.SortStableFunc(sent, func(a, b evidence.Sent) int { return a.At.Compare(b.At) })
	return sent
}

// senders are the scenario or fixture and the fixtures that it uses, by the names under which their exchanges are recorded.
func (c chains) senders(owner string) []string {
	all := []string{owner}
	for _, name := range c.uses(owner) {
		all = append(all, shared.Attribution(name))
	}
	return all
}

// withoutRepeats leaves out reads between the first and the last of many identical ones in a row, such as polls of one
// revision. What the violation names stays.
func (c chains) withoutRepeats(sent []evidence.Sent, v outcome.Violation) []evidence.Sent {
	lastOf, runs := map[string]int{}, []([]int){} // runs of positions with the same request, by sender
	keys := map[string]string{}
	for i, x := range sent {
		key := ""
		if o := c.seen(x.ID); o.Method == http.MethodGet {
			key = o.Base + o.Path + "?" + o.Query
		}
		if at, began := lastOf[x.By]; began && key != "" && keys[x.By] == key {
			runs[at] = append(runs[at], i)
			continue
		}
		lastOf[x.By], keys[x.By] = len(runs), key
		runs = append(runs, []int{i})
	}
	drop := map[int]bool{}
	for _, positions := range runs {
		if len(positions) <= maxReads {
			continue
		}
		for _, i := range positions[1 : len(positions)-1] {
			drop[i] = !slices.Contains([]int{v.Exchange, v.Compared.Shown, v.Compared.With}, sent[i].ID)
		}
	}
	var kept []evidence.Sent
	for i, x := range sent {
		if !drop[i] {
			kept = append(kept, x)
		}
	}
	return kept
}

// describeComparisons says of each finding what it compares, with the exchanges as they are numbered in the end.
func (c chains) describeComparisons(res *reports.Result, comparisons []outcome.Comparison, order []int) {
	for i, compared := range comparisons {
		if compared.Shown == 0 || compared.With == 0 {
			continue
		}
		shown, with := slices.Index(order, compared.Shown)+1, slices.Index(order, compared.With)+1
		chain := res.Findings[i].Exchanges
		at := func(id int) int {
			return slices.IndexFunc(chain, func(l reports.Link) bool { return l.Exchange == id })
		}
		what, when := c.requestOf(compared.With), "before"
		if what == c.requestOf(compared.Shown) {
			what = "the one"
		}
		if at(with) > at(shown) {
			when = "after"
		}
		res.Findings[i].Compared = fmt.Sprintf("%s (exchange %d)%s with %s %s it (exchange %d)",
			c.requestOf(compared.Shown), shown, c.actBetween(chain, with, shown, order), what, when, with)
	}
}

// requestOf names a request as the contract does: "GET /v2/deployments/{deployment_id}".
func (c chains) requestOf(exchange int) string {
	o := c.seen(exchange)
	return o.Method + " " + cmp.Or(o.Op.Path, c.target.Redact.Text(o.Base+o.Path))
}

// actBetween describes the last request between two exchanges of a chain that changed something: ", after the PATCH
// (exchange 10),".
func (c chains) actBetween(chain []reports.Link, from, to int, order []int) (described string) {
	between := false
	for _, link := range chain {
		switch {
		case link.Exchange == to && between:
			return described
		case link.Exchange == from:
			between = true
		case between:
			if o := c.seen(order[link.Exchange-1]); o.Method != http.MethodGet {
				described = fmt.Sprintf(", after the %s (exchange %d),", o.Method, link.Exchange)
			}
		}
	}
	return ""
}
