package suite

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// maxChain is the maximum number of exchanges in a chain.
const maxChain = 300

// chain returns the exchanges that led to a violation, in the order in which they were sent: those of the scenario and of
// its fixtures up to the exchange that shows the violation, and earlier updates of the shared deployments by other
// scenarios. all has the exchanges of the test run. If a rule about all exchanges found the violation, the chain is that
// of the scenario that sent the exchange.
func (r *run) chain(s *features.Scenario, v outcome.Violation, all []*evidence.Observation) []reports.Link {
	shows := cmp.Or(v.Compared.Shown, v.Exchange)
	owner := s.Attribution()
	senders := r.senders(owner)
	sender := r.target.Collector.Observation(shows).Scenario
	if shows > 0 && !slices.Contains(senders, sender) {
		owner, senders = sender, r.senders(sender)
	}
	sent := r.target.Collector.SentBy(senders...)
	if shows > 0 {
		sent = upTo(sent, shows, v.Compared.With)
	}
	sent = aboutTheSame(sent, owner, shows, v.Compared.With)
	sent = withUpdates(sent, senders, all)
	sent = withoutRepeats(sent, v)
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

// upTo returns the exchanges up to the last one with one of the IDs.
func upTo(sent []*evidence.Observation, ids ...int) []*evidence.Observation {
	for last := len(sent) - 1; last >= 0; last-- {
		if slices.Contains(ids, sent[last].ID) {
			return sent[:last+1]
		}
	}
	return nil
}

// withUpdates adds the updates of a chain's deployments by other scenarios, each as set-up, because scenarios lease a
// deployment one after the other and find the state of the previous one.
func withUpdates(sent []*evidence.Observation, senders []string, all []*evidence.Observation) []*evidence.Observation {
	if len(sent) == 0 {
		return sent
	}
	chain := slices.Clone(sent)
	last := sent[len(sent)-1].Sent
	for _, u := range all {
		isAtDeployment := func(x *evidence.Observation) bool {
			return strings.HasPrefix(x.Base+x.Path+"/", u.Base+u.Path+"/")
		}
		isEarlierUpdate := u.Op.ID == "update-deployment" && u.Status/100 == 2 && u.Sent.Before(last)
		if isEarlierUpdate && !slices.Contains(senders, u.Scenario) && slices.ContainsFunc(sent, isAtDeployment) {
			setUp := *u
			setUp.Part = reports.SetUp
			chain = append(chain, &setUp)
		}
	}
	slices.SortStableFunc(chain, func(a, b *evidence.Observation) int { return a.Sent.Compare(b.Sent) })
	return chain
}

// senders returns a scenario or fixture and the fixtures that it uses, by the names of their exchanges in the record.
func (r *run) senders(owner string) []string {
	all := []string{owner}
	for _, name := range r.maker.Uses(owner) {
		all = append(all, shared.Attribution(name))
	}
	return all
}

// withoutRepeats removes reads between the first and the last of a series of identical reads, such as polls of one
// revision. It keeps the exchanges in the violation.
func withoutRepeats(sent []*evidence.Observation, v outcome.Violation) []*evidence.Observation {
	rows := map[string][]*evidence.Observation{} // by sender
	repeated := map[int]bool{}
	for _, x := range sent {
		row := append(rows[x.Scenario], x)
		if n := len(row); n > 2 && isSameRead(row[n-3], row[n-2]) && isSameRead(row[n-2], x) {
			repeated[row[n-2].ID] = true
		}
		rows[x.Scenario] = row
	}
	var kept []*evidence.Observation
	for _, x := range sent {
		isNamed := slices.Contains([]int{v.Exchange, v.Compared.Shown, v.Compared.With}, x.ID)
		if isNamed || !repeated[x.ID] {
			kept = append(kept, x)
		}
	}
	return kept
}

func isSameRead(a, b *evidence.Observation) bool {
	return a.Method == http.MethodGet && a.Method == b.Method && a.Caller == b.Caller && a.Status == b.Status &&
		a.Base+a.Path+"?"+a.Query == b.Base+b.Path+"?"+b.Query
}

// aboutTheSame removes the fixtures that are not related to the violation, such as runs that measured the speed of the
// target. A fixture is related if one of its exchanges is about a deployment, thread or run of the owner or of the
// exchanges that show the violation, or if their responses contain such an ID. A fixture with a refused creation is also
// related, because it may have created something.
func aboutTheSame(sent []*evidence.Observation, owner string, shows ...int) []*evidence.Observation {
	about := map[string]bool{}              // IDs
	related := map[string]bool{owner: true} // senders
	shown := ""                             // the responses that show the violation
	for _, x := range sent {
		if slices.Contains(shows, x.ID) {
			related[x.Scenario] = true
			shown += x.Response
		}
	}
	isRelated := func(id string) bool { return about[id] || strings.Contains(shown, id) }
	for known := 0; known < len(related); { // until no sender was added
		known = len(related)
		for _, x := range sent {
			if !related[x.Scenario] {
				continue
			}
			for _, id := range append(idsOf(x), strings.Split(x.Base, "/")...) { // the base may contain the ID of the deployment
				about[id] = true
			}
		}
		for _, x := range sent {
			isRefusedCreation := x.Method == http.MethodPost && x.Status/100 != 2
			if isRefusedCreation || slices.ContainsFunc(idsOf(x), isRelated) {
				related[x.Scenario] = true
			}
		}
	}
	return slices.DeleteFunc(sent, func(x *evidence.Observation) bool { return !related[x.Scenario] })
}

// idsOf returns the IDs in the path of an exchange, and the IDs of the objects that it created. It omits empty IDs.
func idsOf(o *evidence.Observation) []string {
	var all []string
	add := func(id string) {
		if id != "" {
			all = append(all, id)
		}
	}
	for _, parameter := range o.Op.Parameters {
		if parameter.In == "path" {
			add(o.In(parameter.Name))
		}
	}
	if o.Method == http.MethodPost && o.Status/100 == 2 {
		for _, field := range []string{"id", "thread_id", "run_id"} {
			add(gjson.Get(o.Response, field).String())
		}
	}
	return all
}

// comparison describes the exchanges that a violation compares, with their numbers in the result: "GET
// /v2/deployments/{deployment_id} (request 7) with ...". It returns "" if the violation compares none.
func (r *run) comparison(c outcome.Comparison, order []int) string {
	if c.Shown == 0 || c.With == 0 {
		return ""
	}
	request := func(exchange int) string {
		o := r.target.Collector.Observation(exchange)
		return fmt.Sprintf("%s %s (request %d)", o.Method, cmp.Or(o.Op.Path, r.target.Redact.Text(o.Base+o.Path)),
			slices.Index(order, exchange)+1)
	}
	return request(c.Shown) + " with " + request(c.With)
}
