package proof

import (
	"fmt"
	"slices"
	"strings"
)

// figures are the numbers of a self-test. Good counts the equivalent mutants that were reported conformant and the null implementations
// that were not.
type figures struct {
	all, good map[Kind]int
	outcomes  map[Kind]map[Outcome]int // of mutants; a declared one without a problem was killed
	failures  []int                    // how many requirements failed, by declared mutant, in order
}

func (p *Proof) figures() figures {
	f := figures{all: map[Kind]int{}, good: map[Kind]int{}, outcomes: map[Kind]map[Outcome]int{Fault: {}, Proxied: {}, GeneratedMutant: {}}}
	for _, r := range p.Rows {
		f.all[r.Kind]++
		if r.Problem == "" {
			f.good[r.Kind]++
		}
		switch r.Kind {
		case Fault:
			f.failures = append(f.failures, len(r.Red))
			outcome := Killed
			if r.Problem != "" {
				outcome = Survived
			}
			f.outcomes[Fault][outcome]++
		case Proxied, GeneratedMutant:
			f.outcomes[r.Kind][r.Outcome()]++
		}
	}
	slices.Sort(f.failures)
	return f
}

// score is how many mutants were killed of those that a request reached and that the interface does not allow, and its parts where
// there are several.
func (f figures) score() (killed, of int, parts string) {
	var all []string
	for _, kind := range []struct {
		kind Kind
		name string
	}{{Fault, "declared"}, {Proxied, "before the independent server"}, {GeneratedMutant, "derived"}} {
		if f.all[kind.kind] == 0 {
			continue
		}
		n := f.outcomes[kind.kind]
		killed, of = killed+n[Killed], of+n[Killed]+n[Survived]
		var counts []string
		for _, outcome := range []Outcome{Killed, Survived, Explained, NotReached} {
			if n[outcome] > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", n[outcome], outcome))
			}
		}
		all = append(all, kind.name+" "+strings.Join(counts, ", "))
	}
	if len(all) > 1 {
		parts = ": " + strings.Join(all, "; ")
	}
	return killed, of, parts
}

// Sentence sums the self-test up. A partial run leaves out the kinds that were not run.
func (p *Proof) Sentence() string {
	f := p.figures()
	var parts []string
	over, each := "", ""
	if p.Whole {
		over = fmt.Sprintf(" over %d requirements", len(p.Requirements))
	}
	if n := len(f.failures); p.Gate && n > 0 && f.all[GeneratedMutant] == 0 {
		each = ", each by the scenarios of its requirement"
	} else if n > 0 && !p.Gate {
		each = fmt.Sprintf(" (causes per mutant: median %d, maximum %d)", f.failures[n/2], f.failures[n-1])
	}
	if killed, of, kinds := f.score(); f.all[Fault]+f.all[Proxied]+f.all[GeneratedMutant] > 0 {
		parts = append(parts, fmt.Sprintf("mutation score %d/%d%s%s%s", killed, of, over, each, kinds))
	}
	add := func(kind Kind, format string) {
		if f.all[kind] > 0 {
			parts = append(parts, fmt.Sprintf(format, f.good[kind], f.all[kind]))
		}
	}
	add(Equivalent, "equivalent mutants reported conformant: %d/%d")
	add(Null, "null implementations rejected: %d/%d")
	if parts == nil {
		return "no mutants were run"
	}
	return strings.Join(parts, "; ")
}

// beyondTheGate says what a whole self-test shows more.
const beyondTheGate = "This is the gate: against a mutant it runs the scenarios of the requirement that must kill it. agentconform " +
	"prove --whole runs all scenarios against each server, and also shows that no requirement fails that the fault does not declare."
