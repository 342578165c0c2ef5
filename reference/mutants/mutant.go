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

// Groups lists the groups in their order.
func Groups() []Group { return []Group{Answers, Parameters, Bodies, Access} }

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

// All derives all mutants, in a fixed order. The error is that of a rule.
func All() ([]Mutant, error) {
	d := &deriver{seen: map[string]bool{}}
	for _, op := range deviate.Documents().Operations() {
		d.answers(op)
		d.parameters(op)
		d.bodies(op)
		for _, check := range checks {
			if check.name == "others" && !strings.Contains(op.Path, "{") {
				continue // it names no object that could be somebody else's
			}
			d.add(Access, op.ID+"/access/"+check.name, op.ID+" "+check.does, append([]string{op.ID}, check.when...), "as owner")
		}
	}
	return d.all, d.err
}

// deriver collects mutants, and the first error.
type deriver struct {
	all  []Mutant
	seen map[string]bool
	err  error
}

func (d *deriver) add(group Group, name, does string, when []string, do string) {
	row, err := deviate.New(name, when, []string{do})
	if d.seen[name] {
		err = fmt.Errorf("two mutants are named %s", name)
	}
	if err != nil && d.err == nil {
		d.err = err
	}
	d.seen[name] = true
	d.all = append(d.all, Mutant{
		Name: name, Group: group, Does: does, Control: controls[name], Allowed: allowed(name), Row: row,
	})
}

func (d *deriver) answers(op deviate.Operation) {
	for _, kind := range []string{"answer", "refusal"} {
		status := map[string]string{"answer": "status < 300", "refusal": "status >= 300"}[kind]
		for _, at := range op.AnswerPlaces(kind == "answer") {
			for _, r := range changes {
				if r.fits(op, kind == "answer", at) {
					d.add(Answers, op.ID+"/"+kind+"/"+at+"/"+r.name, at+" in the "+kind+" of "+op.ID+" "+r.does,
						[]string{op.ID, status}, strings.Replace(r.do, "PLACE", "answer."+at, 1))
				}
			}
		}
	}
}

func (d *deriver) parameters(op deviate.Operation) {
	for _, p := range op.Parameters {
		if p.In == "path" {
			d.add(Parameters, op.ID+"/path/"+p.Name+"/foreign",
				op.ID+" takes the "+p.Name+" of another request in place of its own", []string{op.ID}, "foreign path."+p.Name)
			continue
		}
		place := "query." + p.Name
		for _, r := range parameterChanges {
			when := []string{op.ID, place + " is present"}
			if r.when != "" {
				when = append(when, strings.Replace(r.when, "PLACE", place, 1))
			}
			if r.fits(p) {
				d.add(Parameters, op.ID+"/query/"+p.Name+"/"+r.name, "the parameter "+p.Name+" of "+op.ID+" "+r.does,
					when, strings.Replace(r.do, "PLACE", place, 1))
			}
		}
	}
}

func (d *deriver) bodies(op deviate.Operation) {
	for _, at := range op.RequestPlaces() {
		for _, r := range bodyChanges {
			d.add(Bodies, op.ID+"/request/"+at+"/"+r.name, at+" in the request of "+op.ID+" "+r.does,
				[]string{op.ID}, strings.Replace(r.do, "PLACE", "request."+at, 1))
		}
	}
}

// Find returns the mutant with the name.
func Find(name string) (Mutant, error) {
	all, err := All()
	if err != nil {
		return Mutant{}, err
	}
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	return Mutant{}, fmt.Errorf("unknown generated mutant %q; agentconform prove --list shows all names", name)
}
