// Package mutants derives faults of the reference from the contract. Because they are not chosen by hand, they show which
// faults the suite does not detect.
//
// Start reading with [All]. Its rules are in rules.go: each member of each response is dropped, changed, out of date or
// taken from another object; each parameter and each member of a request is ignored or changed; each check of credentials
// is skipped. A mutant is a row of package deviate, which counts the exchanges that it changes. A mutant that changed
// none proves nothing.
package mutants

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/spec/spelling"
)

// Group is a rule by which mutants are derived.
type Group string

// The groups. Each has control mutants.
const (
	Answers    Group = "answers"    // a member of a response
	Parameters Group = "parameters" // a parameter in query or path
	Bodies     Group = "bodies"     // a member of a request
	Access     Group = "access"     // a check of credentials
)

// Mutant is the reference with one derived change.
type Mutant struct {
	Name  string // such as "get-deployment/answer/id/dropped"
	Group Group
	Does  string // what it changes, in a sentence
	// Control marks a mutant that the suite must kill. If it survives, the result of the self-test is worthless.
	Control bool
	// Allowed is the reason why the interface allows the mutant, or "" if the suite must kill it.
	Allowed string

	Row *deviate.Row
}

// All returns all mutants in a fixed order.
func All() []Mutant {
	d := &deriver{}
	for _, op := range deviate.Documents().Operations() {
		for _, at := range op.ResponsePlaces(true) {
			d.each(fitting(op, at), Answers, op.ID+"/answer/"+at, at+" in the response of "+op.ID, "answer."+at, op.ID, "status < 300")
		}
		for _, at := range op.ResponsePlaces(false) {
			rules := common
			if strings.Contains(op.Path, "{") { // only an operation on an object can return a different object
				rules = constant
			}
			d.each(rules, Answers, op.ID+"/refusal/"+at, at+" in the refusal of "+op.ID, "answer."+at, op.ID, "status >= 300")
		}
		for _, p := range op.Parameters {
			at, does := p.In+"."+p.Name, "the parameter "+p.Name+" of "+op.ID
			if p.In == "path" {
				d.each(pathChanges, Parameters, op.ID+"/path/"+p.Name, does, at, op.ID)
				continue
			}
			for _, r := range parameterChanges {
				if r.fits == nil || r.fits(p) {
					d.each([]rule{r}, Parameters, op.ID+"/query/"+p.Name, does, at, op.ID, at+" is present")
				}
			}
		}
		for _, at := range op.RequestPlaces() {
			if strings.HasSuffix(at, "messages.*.type") {
				continue // an alternative to role; the suite does not send it
			}
			d.each(bodyChanges, Bodies, op.ID+"/request/"+at, at+" in the request of "+op.ID, "request."+at, op.ID)
		}
		for _, c := range checks {
			if c.name == "others" && !strings.Contains(op.Path, "{") {
				continue // the path contains no object that another user could own
			}
			d.add(Access, op.ID+"/access/"+c.name, op.ID+" "+c.does, append([]string{op.ID}, c.when...), "as owner")
		}
	}
	return d.all
}

// deriver collects mutants.
type deriver struct{ all []Mutant }

// each adds a mutant of a place for each rule.
func (d *deriver) each(rules []rule, group Group, name, does, at string, when ...string) {
	for _, r := range rules {
		conditions := slices.Clone(when)
		if r.when != "" {
			conditions = append(conditions, strings.Replace(r.when, "PLACE", at, 1))
		}
		d.add(group, name+"/"+r.name, does+" "+r.does, conditions, strings.Replace(r.do, "PLACE", at, 1))
	}
}

func (d *deriver) add(group Group, name, does string, when []string, do string) {
	row, err := deviate.New(name, when, []string{do})
	if err != nil {
		panic(err) // impossible: the rules are constants, and a test reads them
	}
	d.all = append(d.all, Mutant{
		Name: name, Group: group, Does: does, Control: controls[name], Allowed: allowed(name), Row: row,
	})
}

// Find returns the mutant with the name.
func Find(name string) (Mutant, error) {
	var names []string
	for _, m := range All() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mutant{}, fmt.Errorf("unknown generated mutant %q; %sagentconform prove --list shows all names", name,
		spelling.DidYouMean(spelling.Nearest(name, names)))
}
