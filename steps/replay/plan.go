package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
)

// Find returns the findings that a name stands for: the id of one, or the ID of a requirement.
func Find(r *reports.Result, name string) ([]reports.Finding, error) {
	var found []reports.Finding
	for _, f := range r.Findings {
		if f.ID == name || strings.EqualFold(f.Requirement, name) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the result holds no finding and no failed requirement %q; it has %s", name, names(r))
	}
	return found, nil
}

func names(r *reports.Result) string {
	if len(r.Findings) == 0 {
		return "no findings at all"
	}
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.ID+" ("+f.Requirement+")")
	}
	return strings.Join(all, ", ")
}

// Plan returns what is to be sent for a finding, in the order in which it was sent. The last one shows the finding.
func Plan(r *reports.Result, f reports.Finding) ([]reports.Exchange, error) {
	if f.Exchange == 0 {
		return nil, fmt.Errorf("finding %s has no exchange that shows it", f.ID)
	}
	shows, err := r.Exchanges.Get(f.Exchange)
	if err != nil {
		return nil, err
	}
	p := &planner{chosen: map[int]reports.Exchange{}, origin: map[string]int{}}
	for x, err := range r.Exchanges.All() {
		if err != nil {
			return nil, err
		}
		p.all = append(p.all, x)
	}
	slices.SortStableFunc(p.all, before)
	p.findOrigins()
	for _, x := range p.all {
		if x.Scenario == shows.Scenario && before(x, shows) <= 0 && !strings.HasPrefix(x.Scenario, "fixture:") {
			p.choose(x)
		}
	}
	p.choose(shows)
	var plan []reports.Exchange
	for _, x := range p.all {
		if _, ok := p.chosen[x.ID]; ok && x.ID != shows.ID {
			plan = append(plan, x)
		}
	}
	return append(withoutPolls(plan, shows), shows), nil
}

// withoutPolls leaves out reads that only found that something had not come to its end: the later read that did
// waits for it.
func withoutPolls(plan []reports.Exchange, shows reports.Exchange) []reports.Exchange {
	return slices.DeleteFunc(plan, func(x reports.Exchange) bool {
		status := statusIn(x.Response.Body)
		return x.Method == http.MethodGet && status != "" && !final(status) && slices.ContainsFunc(append(plan, shows), func(later reports.Exchange) bool {
			return later.Method == x.Method && later.URL == x.URL && before(x, later) < 0
		})
	})
}

func statusIn(body string) string {
	if !json.Valid([]byte(body)) {
		return ""
	}
	return gjson.Get(body, "status").String()
}

// final tells whether a revision or a run with the status has come to its end.
func final(status string) bool {
	return strings.HasSuffix(status, "_FAILED") ||
		slices.Contains([]string{"DEPLOYED", "SKIPPED", "INTERRUPTED", "success", "error", "timeout", "interrupted"}, status)
}

// before compares exchanges by when they were answered.
func before(a, b reports.Exchange) int {
	return cmp.Or(cmp.Compare(a.AtMS, b.AtMS), cmp.Compare(a.ID, b.ID))
}

// planner closes a set of exchanges over what they need.
type planner struct {
	all    []reports.Exchange // in the order in which they were answered
	chosen map[int]reports.Exchange
	origin map[string]int // by id of a thing: index of the exchange whose answer showed it first
}

func (p *planner) findOrigins() {
	for i, x := range p.all {
		for _, id := range idsIn(x.Response.Body) {
			if _, known := p.origin[id]; !known {
				p.origin[id] = i
			}
		}
	}
}

// choose takes an exchange and what came before it: who showed the ids that it names first, and, where that was a
// read, the writes to the same thing until then.
func (p *planner) choose(x reports.Exchange) {
	if _, ok := p.chosen[x.ID]; ok {
		return
	}
	p.chosen[x.ID] = x
	for id, i := range p.origin {
		origin := p.all[i]
		if before(origin, x) >= 0 || !strings.Contains(x.URL, id) && !strings.Contains(x.Request.Body, id) {
			continue
		}
		p.choose(origin)
		if origin.Method == http.MethodGet {
			p.chooseWrites(origin)
		}
	}
}

func (p *planner) chooseWrites(read reports.Exchange) {
	for _, w := range p.all {
		if before(w, read) < 0 && w.Method != http.MethodGet && w.Status < 300 && strings.HasPrefix(read.URL, w.URL) {
			p.choose(w)
		}
	}
}

// idsIn returns the values of the fields of a JSON object that are ids by their name.
func idsIn(body string) []string {
	if !json.Valid([]byte(body)) {
		return nil
	}
	var ids []string
	var walk func(v gjson.Result, depth int)
	walk = func(v gjson.Result, depth int) {
		if depth > 4 {
			return
		}
		v.ForEach(func(key, value gjson.Result) bool {
			if isID(key.String()) && value.Type == gjson.String && len(value.Str) >= 8 {
				ids = append(ids, value.Str)
			}
			if value.IsObject() || value.IsArray() {
				walk(value, depth+1)
			}
			return true
		})
	}
	walk(gjson.Parse(body), 0)
	return ids
}

func isID(field string) bool { return field == "id" || strings.HasSuffix(field, "_id") }
