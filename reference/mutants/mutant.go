// Package mutants derives faults of the reference from the contract, by rule: each member of each answer dropped, changed, of another
// object or out of date; each parameter and each member of a request ignored or changed; each check of credentials skipped. Nobody chose
// them, so they show what the suite does not see.
//
// A mutant stands between the reference and its clients. It counts the exchanges that it changed: one that changed none proves nothing.
package mutants

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
)

// Group is a rule by which mutants are derived.
type Group string

// The groups. Each has control mutants.
const (
	Answers    Group = "answers"    // a member of an answer
	Parameters Group = "parameters" // a parameter in query or path
	Bodies     Group = "bodies"     // a member of a request
	Access     Group = "access"     // a check of credentials
)

// Mutant is the reference with one derived change.
type Mutant struct {
	Name  string // "get-deployment/id/dropped"
	Group Group
	Does  string // what it changes, in a sentence
	// Control marks a mutant that the suite must kill. If one survives, nothing that the self-test says counts.
	Control bool
	// Allowed says why a client may be answered like this; empty where the suite must kill the mutant.
	Allowed string

	Row *deviate.Row
}

// All derives all mutants, in a fixed order.
func All() []Mutant {
	d := &deriver{}
	for _, op := range deviate.Documents().Operations() {
		for _, at := range op.ResponsePlaces(true) {
			d.each(fitting(op, at), Answers, op.ID+"/answer/"+at, at+" in the answer of "+op.ID, "answer."+at, op.ID, "status < 300")
		}
		for _, at := range op.ResponsePlaces(false) {
			rules := own
			if strings.Contains(op.Path, "{") { // else it is about no object
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
				continue // another name of role, which the suite does not send
			}
			d.each(bodyChanges, Bodies, op.ID+"/request/"+at, at+" in the request of "+op.ID, "request."+at, op.ID)
		}
		for _, c := range checks {
			if c.name == "others" && !strings.Contains(op.Path, "{") {
				continue // it names no object that could be somebody else's
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
		met := when
		if r.when != "" {
			met = append(when[:len(when):len(when)], strings.Replace(r.when, "PLACE", at, 1))
		}
		d.add(group, name+"/"+r.name, does+" "+r.does, met, strings.Replace(r.do, "PLACE", at, 1))
	}
}

func (d *deriver) add(group Group, name, does string, when []string, do string) {
	row, err := deviate.New(name, when, []string{do})
	if err != nil {
		panic(err) // the rules are a part of the program, and a test reads them
	}
	d.all = append(d.all, Mutant{
		Name: name, Group: group, Does: does, Control: controls[name], Allowed: allowed(name), Row: row,
	})
}

// Find returns the mutant with the name.
func Find(name string) (Mutant, error) {
	for _, m := range All() {
		if m.Name == name {
			return m, nil
		}
	}
	return Mutant{}, fmt.Errorf("unknown generated mutant %q; agentconform prove --list shows all names", name)
}
