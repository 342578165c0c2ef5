package suite

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/evidence"
)

// aboutTheSame leaves out the fixtures that have nothing to do with what a chain shows, such as runs that measured how fast the
// target is: those whose exchanges are about other deployments, threads and runs than the exchanges of the owner, and those that
// show the violation. What a fixture created may also be in an answer that shows the violation, and where one of its requests was
// refused nobody knows what that has created.
func (c chains) aboutTheSame(sent []evidence.Sent, owner string, shows ...int) []evidence.Sent {
	about, related, shown := map[string]bool{}, map[string]bool{owner: true}, ""
	for _, x := range sent {
		if slices.Contains(shows, x.ID) {
			related[x.By] = true
			shown += c.seen(x.ID).Answer
		}
	}
	for known := 0; known < len(related); {
		known = len(related)
		for _, x := range sent {
			if related[x.By] {
				own, base := c.idsOf(x.ID)
				for _, id := range append(own, base...) {
					about[id] = true
				}
			}
		}
		for _, x := range sent {
			own, _ := c.idsOf(x.ID)
			if slices.ContainsFunc(own, func(id string) bool { return about[id] || strings.Contains(shown, id) }) || c.refused(x.ID) {
				related[x.By] = true
			}
		}
	}
	return slices.DeleteFunc(sent, func(x evidence.Sent) bool { return !related[x.By] })
}

// refused tells whether a request that creates something was not answered with 2xx.
func (c chains) refused(exchange int) bool {
	o := c.seen(exchange)
	return o.Method == http.MethodPost && o.Status/100 != 2
}

// idsOf returns the ids that an exchange is about: those in its path, and what it has created. The base may hold the id of the deployment that
// an agent server belongs to.
func (c chains) idsOf(exchange int) (own, base []string) {
	o := c.seen(exchange)
	for _, parameter := range o.Op.Parameters {
		if parameter.In == "path" {
			own = append(own, o.In(parameter.Name))
		}
	}
	if o.Method == http.MethodPost && o.Status/100 == 2 {
		for _, field := range []string{"id", "thread_id", "run_id"} {
			if id := gjson.Get(o.Answer, field).String(); id != "" {
				own = append(own, id)
			}
		}
	}
	if address, err := url.Parse(o.Base); err == nil {
		base = strings.Split(address.Path, "/")
	}
	return own, base
}
