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

// maxChain is how many exchanges a chain has at most.
const maxChain = 300

// chain lists the exchanges that led to a violation, in the order in which they were sent: those of the scenario's
// fixtures and its own, up to the one that shows it, and what other scenarios had changed before at a deployment that
// they share: all are those of the run. What a rule finds that judges all of them has the chain of the scenario that
// made the exchange.
func (r *run) chain(s *features.Scenario, v outcome.Violation, all []evidence.Observation) []reports.Link {
	shows := cmp.Or(v.Compared.Shown, v.Exchange)
	owner := s.Key() + " " + s.Name
	senders := r.senders(owner)
	if sender := r.target.Collector.Observation(shows).Scenario; shows > 0 && !slices.Contains(senders, sender) {
		owner, senders = sender, r.senders(sender)
	}
	sent := r.target.Collector.SentBy(senders...)
	last := len(sent) - 1
	for last >= 0 && shows > 0 && sent[last].ID != shows && sent[last].ID != v.Compared.With {
		last--
	}
	sent = sent[:last+1]
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

// withUpdates adds the updates by others of the deployments that a chain is about, each as a precondition: a deployment
// that scenarios lease in turn is as the one before has left it.
func withUpdates(sent []evidence.Observation, senders []string, all []evidence.Observation) []evidence.Observation {
	if len(sent) == 0 {
		return sent
	}
	chain, last := slices.Clone(sent), sent[len(sent)-1].Sent
	for _, u := range all {
		isAbout := func(x evidence.Observation) bool {
			return strings.HasPrefix(x.Base+x.Path+"/", u.Base+u.Path+"/")
		}
		isEarlier := u.Op.ID == "update-deployment" && u.Status/100 == 2 && u.Sent.Before(last)
		if isEarlier && !slices.Contains(senders, u.Scenario) && slices.ContainsFunc(sent, isAbout) {
			u.Part = reports.SetUp
			chain = append(chain, u)
		}
	}
	slices.SortStableFunc(chain, func(a, b evidence.Observation) int { return a.Sent.Compare(b.Sent) })
	return chain
}

// senders are a scenario or fixture and the fixtures that it uses, by the names of their exchanges in the record.
func (r *run) senders(owner string) []string {
	all := []string{owner}
	for _, name := range r.maker.Uses(owner) {
		all = append(all, shared.Attribution(name))
	}
	return all
}

// withoutRepeats leaves out reads between the first and the last of identical ones in a row, such as polls of one
// revision. What the violation names stays.
func withoutRepeats(sent []evidence.Observation, v outcome.Violation) []evidence.Observation {
	rows := map[string][]evidence.Observation{} // of each sender
	drop := map[int]bool{}
	for _, x := range sent {
		row := append(rows[x.Scenario], x)
		if n := len(row); n > 2 && isSameRead(row[n-3], row[n-2]) && isSameRead(row[n-2], x) {
			drop[row[n-2].ID] = true
		}
		rows[x.Scenario] = row
	}
	return slices.DeleteFunc(sent, func(x evidence.Observation) bool {
		return drop[x.ID] && !slices.Contains([]int{v.Exchange, v.Compared.Shown, v.Compared.With}, x.ID)
	})
}

func isSameRead(a, b evidence.Observation) bool {
	return a.Method == http.MethodGet && a.Method == b.Method && a.Caller == b.Caller && a.Status == b.Status &&
		a.Base+a.Path+"?"+a.Query == b.Base+b.Path+"?"+b.Query
}

// aboutTheSame leaves out the fixtures that have nothing to do with what a chain shows, such as runs that measured how
// fast the target is: those whose exchanges are about other deployments, threads and runs than the exchanges of the
// owner, and those that show the violation. What a fixture created may also be in an answer that shows the violation,
// and where one of its requests was refused nobody knows what that has created.
func aboutTheSame(sent []evidence.Observation, owner string, shows ...int) []evidence.Observation {
	about, related := map[string]bool{}, map[string]bool{owner: true}
	shown := ""
	for _, x := range sent {
		if slices.Contains(shows, x.ID) {
			related[x.Scenario] = true
			shown += x.Answer
		}
	}
	for known := 0; known < len(related); {
		known = len(related)
		for _, x := range sent {
			if related[x.Scenario] {
				for _, id := range append(idsOf(x), strings.Split(x.Base, "/")...) { // that of the deployment may be in the base
					about[id] = true
				}
			}
		}
		for _, x := range sent {
			refused := x.Method == http.MethodPost && x.Status/100 != 2
			if refused || slices.ContainsFunc(idsOf(x), func(id string) bool {
				return about[id] || strings.Contains(shown, id)
			}) {
				related[x.Scenario] = true
			}
		}
	}
	return slices.DeleteFunc(sent, func(x evidence.Observation) bool { return !related[x.Scenario] })
}

// idsOf returns the ids that an exchange is about: those in its path, and what it has created.
func idsOf(o evidence.Observation) (ids []string) {
	for _, parameter := range o.Op.Parameters {
		if parameter.In == "path" {
			ids = append(ids, o.In(parameter.Name))
		}
	}
	if o.Method == http.MethodPost && o.Status/100 == 2 {
		for _, field := range []string{"id", "thread_id", "run_id"} {
			if id := gjson.Get(o.Answer, field).String(); id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// comparison says what a violation compares, "" where it compares nothing, with the exchanges as they are numbered in
// the end, in their order: "GET /v2/deployments/{deployment_id} (exchange 7) with ...".
func (r *run) comparison(c outcome.Comparison, order []int) string {
	if c.Shown == 0 || c.With == 0 {
		return ""
	}
	request := func(exchange int) string {
		o := r.target.Collector.Observation(exchange)
		return fmt.Sprintf("%s %s (exchange %d)", o.Method, cmp.Or(o.Op.Path, r.target.Redact.Text(o.Base+o.Path)),
			slices.Index(order, exchange)+1)
	}
	return request(c.Shown) + " with " + request(c.With)
}
