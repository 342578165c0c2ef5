package html

import (
	"io"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// Specification is the data of the page of all requirements.
type Specification struct {
	Suite    reports.Suite
	Rules    []Rule
	Excluded [][3]string // subject, section, reason
}

// Rule is a requirement in the specification. Its scenarios have no verdicts.
type Rule struct {
	reports.Requirement
	Facts  [][2]string // labels and texts, for example the keys that it needs
	After  []string    // IDs of requirements whose failure explains a failure of this one
	Varies string      // permitted differences of conforming servers, for the whole feature
	Faults []Fault
	Keeps  *Example // an exchange that meets the rule; may be nil
	Breaks *Example // an exchange that violates the rule; may be nil
}

// Fault is a deliberate deviation of the reference that breaks a rule.
type Fault struct{ Name, Breaks string }

// Example is an exchange that meets or violates a rule.
type Example struct {
	Fault    Fault           // fault of the server; empty: the unmodified reference
	Finding  reports.Finding // finding of an exchange that violates the rule
	Exchange reports.Exchange
}

// specification is the data for the templates of the specification page. It has all fields that the templates of the
// report use.
type specification struct {
	Specification
	assets
	Title  string
	Counts string           // number of rules by level
	Words  []overview.Class // empty
	Parts  []part
}

// rule is a rule with the evidence of its examples.
type rule struct {
	Rule
	Kept, Broken *evidence
}

// WriteSpecification writes the page of all requirements: each rule with its scenarios, the faults that break it, an
// exchange that meets it and one that violates it. Like the page of a result, it needs no other file. The IDs of
// requirements are its anchors.
func WriteSpecification(w io.Writer, s Specification) error {
	p := &specification{Specification: s, assets: assetsOf(style, commonScript+exchangesScript+pageScript), Title: "agentconform, interface " + s.Suite.Interface}
	var all []*reports.Requirement
	var rules []requirement
	for r := range reports.Each(s.Rules) {
		all = append(all, &r.Requirement)
		rules = append(rules, ruleOf(*r))
	}
	p.Counts = overview.ByLevel(all)
	p.Parts = partsOf(rules)
	return parsed().ExecuteTemplate(w, "specification", p)
}

func ruleOf(r Rule) requirement {
	shown, pointer := &rule{}, ""
	if r.Breaks != nil {
		pointer = r.Breaks.Finding.Pointer
		shown.Broken = exampleOf(r.Breaks, pointer)
		r.Breaks = &Example{Fault: r.Breaks.Fault, Finding: r.Breaks.Finding}
	}
	shown.Kept = exampleOf(r.Keeps, pointer)
	r.Keeps = nil
	shown.Rule = scrubbed(r, maxText)
	return requirement{Requirement: &shown.Requirement, Rule: shown}
}

// exampleOf returns the evidence of an example, or nil if it has no exchange.
func exampleOf(e *Example, pointer string) *evidence {
	if e == nil || e.Exchange.Method == "" {
		return nil
	}
	x := e.Exchange
	x.ID, x.Curl = 0, "" // readers do not have the test run
	return evidenceOf(x, pointer)
}
