// Package proof holds the result of the self-test (agentconform prove) and its reports. The self-test is mutation
// testing of the suite: it runs against mutants (the reference with one fault), equivalent mutants and null
// implementations.
package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Schema names the version of the format of proof.json.
const Schema = "agentconform.proof/v1"

// Kind is the kind of server that a row tests.
type Kind string

// The kinds of servers.
const (
	Pristine   Kind = "pristine"   // the unmodified reference: must be conformant
	Fault      Kind = "fault"      // a mutant: must be killed by the requirement that the fault breaks
	Equivalent Kind = "equivalent" // an equivalent mutant: must be conformant, and fail no SHOULD that it does not declare
	Null       Kind = "null"       // a null implementation: must not be conformant
	// Proxied is a mutant of the independent server: the requirement that the fault breaks must kill it, where the fault
	// changes anything.
	Proxied Kind = "proxied"
	// GeneratedMutant is derived from the contract: any requirement must kill it, unless the interface allows what it
	// does.
	GeneratedMutant Kind = "generated"
)

// Proof is the result of a self-test.
type Proof struct {
	Schema       string        `json:"schema"`
	Version      string        `json:"version"`
	Whole        bool          `json:"whole"` // false if limited by --only
	Gate         bool          `json:"gate"`  // faults met the scenarios of the requirement that must kill them only
	Requirements []Requirement `json:"requirements"`
	Rows         []Row         `json:"rows"`
	Problems     []string      `json:"problems"` // why the self-test failed; empty if it passed
	DurationMS   int64         `json:"duration_ms"`
}

// Requirement is one column of the matrix.
type Requirement struct {
	ID    string        `json:"id"`
	Level reports.Level `json:"level"`
	Title string        `json:"title"`
	After []string      `json:"after,omitempty"` // whose failure explains one of this
}

// Row is one run of the suite against one server.
type Row struct {
	Kind    Kind              `json:"kind"`
	Name    string            `json:"name"`
	Does    string            `json:"does"` // what a client observes, in a sentence
	Edition string            `json:"edition,omitempty"`
	Fails   string            `json:"fails,omitempty"` // the requirement that must kill the mutant
	Also    map[string]string `json:"also,omitempty"`  // further requirements that inevitably fail, with the reason
	// Unjudged are requirements that an equivalent mutant leaves blocked, inconclusive or skipped, with the reason.
	Unjudged map[string]string `json:"unjudged,omitempty"`
	Changed  int64             `json:"changed,omitempty"` // how many exchanges a mutant has changed
	// Group, Allowed and Control are of generated mutants: the rule (of a proxied one the server), why the interface
	// allows what it does, and whether it must be killed for anything to count.
	Group    string             `json:"group,omitempty"`
	Allowed  string             `json:"allowed,omitempty"`
	Control  bool               `json:"control,omitempty"`
	Verdict  reports.Conclusion `json:"verdict"`
	Together int                `json:"together,omitempty"` // so many equivalent mutants were tried at once
	Passed   int                `json:"passed"`             // how many requirements passed
	// Red are the requirements that failed, and no other failure explains. Invariants that failed beside the requirement
	// that a fault breaks are not among them: they are judged on all exchanges.
	Red []string `json:"red"`
	// Explained are the requirements that failed and which failures explain them.
	Explained map[string][]string `json:"explained,omitempty"`
	Open      []string            `json:"open"`               // blocked or inconclusive
	Findings  []string            `json:"findings,omitempty"` // their ids
	Shown     string              `json:"shown,omitempty"`
	Problem   string              `json:"problem,omitempty"`
	MS        int64               `json:"ms"`
	// Attempts is 2 where the first one was undecided, 0 or 1 otherwise. The second one runs alone.
	Attempts int `json:"attempts,omitempty"`
	// Replayed is how many findings were replayed with the expected verdict against all four targets.
	Replayed int `json:"replayed,omitempty"`
}

// Outcome is what a run shows of a mutant.
type Outcome string

// The outcomes of mutants.
const (
	Killed     Outcome = "killed"
	Explained  Outcome = "equivalent"  // not killed, and the interface allows what it does
	NotReached Outcome = "not reached" // it changed no exchange, so that nothing is proved
	Survived   Outcome = "survived"
)

// Outcome is the outcome of a mutant. What is only blocked has survived.
func (r Row) Outcome() Outcome {
	switch {
	case r.Fails == "" && len(r.Red) > 0, slices.Contains(r.Red, r.Fails):
		return Killed
	case r.Kind == Fault:
		return Survived
	case r.Changed == 0:
		return NotReached
	case r.Allowed != "":
		return Explained
	}
	return Survived
}

// Undecided tells whether nothing is wrong but that the run did not judge what it should have: a busy machine may be
// the reason.
func (r Row) Undecided() bool {
	switch r.Kind {
	case Pristine, Equivalent:
		return len(r.undeclared()) == 0 && r.Verdict == reports.Incomplete
	case Fault:
		return slices.Contains(r.Open, r.Fails) && len(r.undeclared()) == 0
	case Proxied:
		return slices.Contains(r.Open, r.Fails)
	case GeneratedMutant:
		return r.Outcome() == Survived && r.Verdict == reports.Incomplete
	}
	return false
}

// undeclared returns the requirements that failed and are not declared.
func (r Row) undeclared() []string {
	return slices.DeleteFunc(slices.Clone(r.Red), func(id string) bool { return id == r.Fails || r.Also[id] != "" })
}

// Judge returns the problem of a row, "" if there is none. The level is that of the requirement that must kill it; gate
// is as in [Proof].
func (r Row) Judge(level reports.Level, gate bool) string {
	switch r.Kind {
	case Pristine, Equivalent:
		if red := r.undeclared(); len(red) > 0 {
			return fmt.Sprintf("false positive: %s failed (%s)", list(red), r.Shown)
		}
		if r.Verdict != reports.Conformant {
			return fmt.Sprintf("verdict is %s, expected conformant; blocked or inconclusive: %s", r.Verdict, list(r.Open))
		}
	case Null:
		if r.Verdict == reports.Conformant {
			return "reported conformant"
		}
	case Fault, Proxied, GeneratedMutant:
		return r.judgeMutant(level, gate)
	}
	return ""
}

// judgeMutant is Judge for a mutant. What else fails, and the verdict, are declared for a fault of the reference only.
func (r Row) judgeMutant(level reports.Level, gate bool) string {
	outcome, failed := r.Outcome(), list(r.Red)
	switch {
	case r.Control && outcome != Killed:
		return fmt.Sprintf("control mutant, which must be killed: %s; nothing of this self-test counts", outcome)
	case outcome == Killed && r.Changed == 0: // for something else
		return fmt.Sprintf("it changed nothing, and %s failed (%s)", failed, r.Shown)
	case outcome == Killed && r.Allowed != "":
		return fmt.Sprintf("allowed (%s), but %s failed (%s)", r.Allowed, failed, r.Shown)
	case outcome == Survived && r.Kind != Fault:
		return fmt.Sprintf("survived %s that it changed; blocked or inconclusive: %s",
			reports.Count(int(r.Changed), "exchange"), list(r.Open))
	case outcome == Survived && r.Changed == 0:
		return fmt.Sprintf("mutant survived %s: it changed no exchange; correct its conditions", r.Fails)
	case outcome == Survived && slices.Contains(r.Open, r.Fails):
		return fmt.Sprintf("mutant survived %s: blocked or inconclusive, expected failed; failed: %s", r.Fails, failed)
	case outcome == Survived:
		return fmt.Sprintf("mutant survived %s; failed: %s", r.Fails, failed)
	case r.Kind != Fault:
		return ""
	}
	if red := r.undeclared(); len(red) > 0 {
		return fmt.Sprintf("%s failed too, which the fault does not declare; failed: %s", red[0], failed)
	}
	for id := range r.Also {
		if !gate && !slices.Contains(r.Red, id) {
			return fmt.Sprintf("%s did not fail, but the fault declares it", id)
		}
	}
	if level == reports.Must && r.Verdict != reports.NonConformant {
		return fmt.Sprintf("verdict is %s, expected non-conformant", r.Verdict)
	}
	return ""
}

// list joins IDs for a message.
func list(ids []string) string { return cmp.Or(strings.Join(ids, ", "), "none") }

// Conclude fills the problems of the rows and of the whole. A full self-test also needs enough faults for every
// requirement.
func (p *Proof) Conclude() {
	p.Problems = []string{}
	levels, faults, proxied := map[string]reports.Level{}, map[string]int{}, map[Outcome]int{}
	for _, q := range p.Requirements {
		levels[q.ID] = q.Level
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Problem = cmp.Or(row.Problem, row.Judge(levels[row.Fails], p.Gate))
		switch row.Kind {
		case Fault:
			faults[row.Fails]++
		case Proxied:
			proxied[row.Outcome()]++
		}
		if row.Problem != "" {
			p.Problems = append(p.Problems, fmt.Sprintf("%s %s: %s", row.Kind, row.Name, row.Problem))
		}
	}
	if len(proxied) > 0 && proxied[Killed] == 0 {
		p.Problems = append(p.Problems, "no mutant of the independent server was killed: nothing is shown by them")
	}
	if !p.Whole {
		return
	}
	if !p.Gate {
		p.Problems = append(p.Problems, p.unshown()...)
	}
	for _, q := range p.Requirements {
		fewest := map[reports.Level]int{reports.Must: 2, reports.Should: 1, reports.May: 1}[q.Level]
		if n := faults[q.ID]; n < fewest {
			p.Problems = append(p.Problems, fmt.Sprintf("%s (%s) has %s, expected at least %d", q.ID, q.Level,
				reports.Count(n, "fault"), fewest))
		}
	}
}

// unshown are the explanations of failures that no fault has shown: they may hide a second cause, and explain nothing.
func (p *Proof) unshown() (problems []string) {
	for _, q := range p.Requirements {
		for _, id := range q.After {
			shows := func(r Row) bool {
				return r.Kind == Fault && r.Fails == id && slices.Contains(r.Explained[q.ID], id)
			}
			if !slices.ContainsFunc(p.Rows, shows) {
				problems = append(problems, fmt.Sprintf("@after:%s of %s: no fault of %s makes both fail", id, q.ID, id))
			}
		}
	}
	return problems
}

// Verdict says whether the self-test passed.
func (p *Proof) Verdict() string {
	switch {
	case len(p.Problems) == 0 && !p.Whole:
		return "self-test passed (partial run)"
	case len(p.Problems) == 0:
		return "self-test passed"
	}
	return "self-test failed (" + reports.Count(len(p.Problems), "problem") + ")"
}
