package html

import (
	"io"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// Specification is what the page of all requirements shows.
type Specification struct {
	Suite    reports.Suite
	Rules    []Rule
	Excluded [][3]string // subject, section, reason
}

// Rule is a requirement with what is known of it without a run. Its scenarios have no verdicts.
type Rule struct {
	reports.Requirement
	Sections []string    // number and title of each
	Facts    [][2]string // a name and a text each, such as what it needs in the configuration
	After    []string    // IDs of requirements whose failure explains one of this
	Varies   string      // what conforming servers may differ in, for the whole feature
	Faults   []Fault
	Keeps    *Example // nil: none is known
	Breaks   *Example
}

// Fault is a deliberate deviation of the reference that breaks a rule.
type Fault struct{ Name, Breaks string }

// Example is an exchange that keeps a rule, or one that breaks it.
type Example struct {
	Fault    Fault           // of the server that answered; none: the unmodified reference
	Finding  reports.Finding // of the one that breaks it; its pointer names the place
	Exchange reports.Exchange
}

// specification is what its templates show, beside those of the report.
type specification struct {
	Specification
	assets
	Title    string
	Counts   string            // by level
	Verdicts []reports.Verdict // none
	Parts    []*part
}

// rule is a rule as it is shown.
type rule struct {
	Rule
	Kept, Broken *evidence
}

// WriteSpecification writes the page of all requirements: each rule in its words, with its scenarios, the faults that
// break it, and an exchange that keeps it and one that breaks it. Like the page of a result, it needs nothing else. An
// ID is the anchor of its requirement.
func WriteSpecification(w io.Writer, s Specification) error {
	p := &specification{Specification: s, assets: ownAssets(), Title: "agentconform, interface " + s.Suite.Interface}
	var all []*reports.Requirement
	for r := range reports.Each(s.Rules) {
		all = append(all, &r.Requirement)
	}
	p.Counts = overview.ByLevel(all)
	for _, name := range partNames {
		one := &part{Name: name, Slug: reports.Slug(name)}
		for _, r := range s.Rules {
			if partName(r.Profile) == name {
				one.N++
				one.add(ruleOf(r, one.Slug))
			}
		}
		if one.N > 0 {
			p.Parts = append(p.Parts, one)
		}
	}
	return parsed().ExecuteTemplate(w, "specification", p)
}

func ruleOf(r Rule, part string) requirement {
	shown, pointer := &rule{}, ""
	if r.Breaks != nil {
		pointer = r.Breaks.Finding.Pointer
		shown.Broken = exampleOf(r.Breaks, pointer)
		r.Breaks = &Example{Fault: r.Breaks.Fault, Finding: r.Breaks.Finding}
	}
	shown.Kept = exampleOf(r.Keeps, pointer)
	r.Keeps = nil
	shown.Rule = scrubbed(r, maxText)
	return requirement{Requirement: &shown.Requirement, Part: part, Rule: shown}
}

// exampleOf shows an exchange, around the place that is broken.
func exampleOf(e *Example, pointer string) *evidence {
	if e == nil || e.Exchange.Method == "" {
		return nil
	}
	x := e.Exchange
	x.ID, x.Curl = 0, "" // of a run that nobody has
	return evidenceOf(x, pointer)
}
