package suite

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
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
			if e, err := c.journal.Get(x.ID); err == nil {
				shown += e.Response.Body
			}
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
	x, err := c.journal.Get(exchange)
	return err == nil && x.Method == "POST" && x.Status/100 != 2
}

// idsOf returns the ids that an exchange is about: those in its path, and what it has created. The base is the rest of the path,
// which may hold the id of the deployment that an agent server belongs to.
func (c chains) idsOf(exchange int) (own, base []string) {
	x, err := c.journal.Get(exchange)
	if err != nil {
		return nil, nil
	}
	address, err := url.Parse(x.URL)
	if err != nil {
		return nil, nil
	}
	path, template := strings.Split(address.Path, "/"), []string(nil)
	if op, known := c.operation(x); known {
		template = strings.Split(strings.Trim(op.Path, "/"), "/")
	}
	begin := max(len(path)-len(template), 0)
	for i, name := range template {
		if strings.HasPrefix(name, "{") && begin+i < len(path) {
			own = append(own, path[begin+i])
		}
	}
	return append(own, createdIn(x)...), path[:begin]
}

// createdIn returns the ids of what a POST has created.
func createdIn(x reports.Exchange) (ids []string) {
	if x.Method != "POST" || x.Status/100 != 2 {
		return nil
	}
	for _, field := range []string{"id", "thread_id", "run_id"} {
		if id := gjson.Get(x.Response.Body, field).String(); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
