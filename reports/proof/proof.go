// Package proof contains the result of the self-test (agentconform prove) and its reports. The self-test is mutation
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

// Schema is the name and version of the format of proof.json.
const Schema = "agentconform.proof/v1"

// Kind is the kind of server that a row tests.
type Kind string

// The kinds of servers.
const (
	Pristine   Kind = "pristine"   // the unmodified reference: must be conformant
	Fault      Kind = "fault"      // a mutant: must be killed by the requirement that the fault breaks
	Equivalent Kind = "equivalent" // an equivalent mutant: must be conformant, and fail no SHOULD that it does not declare
	Null       Kind = "null"       // a null implementation: must not be conformant
	// Proxied is a mutant of the independent server: if the fault changes an exchange, the requirement that it breaks must
	// kill the mutant.
	Proxied Kind = "proxied"
	// Situation is a mutant that breaks one check after one event: the requirement that owns the check must kill it.
	Situation Kind = "situation"
	// GeneratedMutant is derived from the contract: any requirement must kill it, unless the interface allows the change.
	GeneratedMutant Kind = "generated"
)

// Proof is the result of a self-test.
type Proof struct {
	Schema       string        `json:"schema"`
	Version      string        `json:"version"`
	Whole        bool          `json:"whole"` // false with --only
	Gate         bool          `json:"gate"`  // mutants ran only the scenarios of the requirement that must kill them
	Requirements []Requirement `json:"requirements"`
	Rows         []Row         `json:"rows"`
	Problems     []string      `json:"problems"` // reasons why the self-test failed; empty if it passed
	DurationMS   int64         `json:"duration_ms"`
}

// Requirement is one column of the matrix.
type Requirement struct {
	ID    string        `json:"id"`
	Level reports.Level `json:"level"`
	Title string        `json:"title"`
	After []string      `json:"after,omitempty"` // IDs of requirements whose failure explains a failure of this one
}

// Row is one test run against one server.
type Row struct {
	Kind    Kind              `json:"kind"`
	Name    string            `json:"name"`
	Does    string            `json:"does"` // sentence about the observable behavior
	Edition string            `json:"edition,omitempty"`
	Fails   string            `json:"fails,omitempty"` // requirement that must kill the mutant
	Also    map[string]string `json:"also,omitempty"`  // further requirements that inevitably fail, with the reason
	// Unjudged are requirements that an equivalent mutant makes blocked, inconclusive or skipped, with the reason.
	Unjudged map[string]string `json:"unjudged,omitempty"`
	Changed  int64             `json:"changed,omitempty"` // number of exchanges that a mutant has changed
	// Group is the rule of a generated mutant, or the server of a proxied one. Allowed is the reason why the interface
	// allows the change. If a Control mutant is not killed, the self-test is void.
	Group    string             `json:"group,omitempty"`
	Allowed  string             `json:"allowed,omitempty"`
	Control  bool               `json:"control,omitempty"`
	Verdict  reports.Conclusion `json:"verdict"`
	Together int                `json:"together,omitempty"` // number of equivalent mutants in one server
	Passed   int                `json:"passed"`             // number of requirements that passed
	// Red are the requirements that failed and that no other failure explains. It does not contain invariants that failed
	// in addition to the requirement that the fault breaks, because they are judged on all exchanges.
	Red []string `json:"red"`
	// Explained are the failed requirements that other failures explain, with these failures.
	Explained map[string][]string `json:"explained,omitempty"`
	Open      []string            `json:"open"`               // blocked or inconclusive requirements
	Findings  []string            `json:"findings,omitempty"` // their ids
	Shown     string              `json:"shown,omitempty"`
	Problem   string              `json:"problem,omitempty"`
	MS        int64               `json:"ms"`
	// Attempts is 2 if the first test run was undecided, otherwise 0 or 1. The second one runs without other servers.
	Attempts int `json:"attempts,omitempty"`
	// Replayed is the number of findings that were replayed with the expected verdict against all four targets.
	Replayed int `json:"replayed,omitempty"`
}

// Outcome is the outcome of a mutant.
type Outcome string

// The outcomes of mutants.
const (
	Killed     Outcome = "killed"
	Explained  Outcome = "equivalent"  // not killed, and the interface allows the change
	NotReached Outcome = "not reached" // it changed no exchange
	Survived   Outcome = "survived"
)

// Outcome returns the outcome of a mutant. If its requirement is only blocked, the mutant has survived. If its
// requirement has failed, the mutant is killed, even if requirements in Also explain the failure. After a situation, any
// failure of its requirement kills it, because rules about the record of the whole test run may explain the failure.
func (r Row) Outcome() Outcome {
	isUndeclared := func(id string) bool {
		return r.Also[id] == "" && !slices.ContainsFunc(r.Explained[id], func(cause string) bool { return r.Also[cause] != "" })
	}
	causes := r.Explained[r.Fails]
	switch {
	case r.Fails == "" && len(r.Red) > 0, slices.Contains(r.Red, r.Fails):
		return Killed
	case len(causes) > 0 && (r.Kind == Situation || !slices.ContainsFunc(causes, isUndeclared)):
		return Killed
	case r.Kind == Fault || r.Kind == Situation:
		return Survived
	case r.Changed == 0:
		return NotReached
	case r.Allowed != "":
		return Explained
	}
	return Survived
}

// Undecided reports whether the only problem of the row is a requirement that was not judged. A busy machine may be the
// reason.
func (r Row) Undecided() bool {
	switch r.Kind {
	case Pristine, Equivalent:
		return len(r.undeclared()) == 0 && r.Verdict == reports.Incomplete
	case Fault:
		return slices.Contains(r.Open, r.Fails) && len(r.undeclared()) == 0
	case Proxied, Situation:
		return slices.Contains(r.Open, r.Fails)
	case GeneratedMutant:
		return r.Outcome() == Survived && r.Verdict == reports.Incomplete
	}
	return false
}

// undeclared returns the requirements that failed and are not declared.
func (r Row) undeclared() []string {
	var ids []string
	for _, id := range r.Red {
		if id != r.Fails && r.Also[id] == "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Judge returns the problem of a row, or "" if there is none. level is the level of the requirement that must kill the
// mutant. gate is [Proof.Gate].
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
	case Fault, Proxied, Situation, GeneratedMutant:
		return r.judgeMutant(level, gate)
	}
	return ""
}

// judgeMutant is Judge for a mutant. Only faults of the reference declare other failures and the verdict.
func (r Row) judgeMutant(level reports.Level, gate bool) string {
	outcome, failed := r.Outcome(), list(r.Red)
	switch {
	case r.Control && outcome != Killed:
		return fmt.Sprintf("control mutant, which must be killed: %s; this self-test is void", outcome)
	case outcome == Killed && r.Changed == 0: // another fault failed the requirement
		return fmt.Sprintf("it changed no exchange, but %s failed (%s)", failed, r.Shown)
	case outcome == Killed && r.Allowed != "":
		return fmt.Sprintf("allowed (%s), but %s failed (%s)", r.Allowed, failed, r.Shown)
	case outcome == Survived && r.Kind != Fault && r.Kind != Situation:
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
		return fmt.Sprintf("%s also failed, which the fault does not declare; failed: %s", red[0], failed)
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

// list returns IDs for a message.
func list(ids []string) string { return cmp.Or(strings.Join(ids, ", "), "none") }

// Conclude sets the problems of the rows and of the self-test. A whole self-test also needs enough faults for each
// requirement.
func (p *Proof) Conclude() {
	p.Problems = []string{}
	levels, faults, proxied := map[string]reports.Level{}, map[string]int{}, map[Outcome]int{}
	for _, q := range p.Requirements {
		levels[q.ID] = q.Level
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		if row.Problem == "" {
			row.Problem = row.Judge(levels[row.Fails], p.Gate)
		}
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
		p.Problems = append(p.Problems, "no mutant of the independent server was killed")
	}
	if !p.Whole {
		return
	}
	if !p.Gate {
		p.Problems = append(p.Problems, p.missingExplanations()...)
	}
	for _, q := range p.Requirements {
		minimum := 1
		if q.Level == reports.Must {
			minimum = 2
		}
		if n := faults[q.ID]; n < minimum {
			p.Problems = append(p.Problems, fmt.Sprintf("%s (%s) has %s, expected at least %d", q.ID, q.Level,
				reports.Count(n, "fault"), minimum))
		}
	}
}

// missingExplanations returns a problem for each @after tag without a fault that makes both requirements fail. Such a tag
// may hide a second cause.
func (p *Proof) missingExplanations() (problems []string) {
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

// Verdict returns the verdict of the self-test in words, with the number of problems.
func (p *Proof) Verdict() string {
	switch {
	case len(p.Problems) == 0 && !p.Whole:
		return "self-test passed (partial run)"
	case len(p.Problems) == 0:
		return "self-test passed"
	}
	return "self-test failed (" + reports.Count(len(p.Problems), "problem") + ")"
}
