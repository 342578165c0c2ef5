package proof

import (
	"fmt"
	"slices"
	"strings"
)

// figures are the numbers of a self-test. Good counts the mutants that were killed, the equivalent mutants that were reported
// conformant and the null implementations that were not.
type figures struct {
	all, good map[Kind]int
	outcomes  map[Outcome]int // of generated mutants
	failures  []int           // how many requirements failed, by mutant, in order
}

func (p *Proof) figures() figures {
	f := figures{all: map[Kind]int{}, good: map[Kind]int{}, outcomes: map[Outcome]int{}}
	for _, r := range p.Rows {
		f.all[r.Kind]++
		if r.Problem == "" {
			f.good[r.Kind]++
		}
		switch r.Kind {
		case Fault:
			f.failures = append(f.failures, len(r.Red))
		case GeneratedMutant:
			f.outcomes[r.Outcome()]++
		}
	}
	slices.Sort(f.failures)
	return f
}

// Sentence sums the self-test up. A partial run leaves out the kinds that were not run.
func (p *Proof) Sentence() string {
	f := p.figures()
	var parts []string
	add := func(kind Kind, format string, args ...any) {
		if f.all[kind] > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	over, each := "", ", each by the scenarios of its requirement"
	if p.Whole {
		over = fmt.Sprintf(" over %d requirements", len(p.Requirements))
	}
	if n := len(f.failures); !p.Gate && n > 0 {
		each = fmt.Sprintf(" (failed requirements per mutant: median %d, maximum %d)", f.failures[n/2], f.failures[n-1])
	}
	add(Fault, "mutation score %d/%d%s%s", f.good[Fault], f.all[Fault], over, each)
	add(Equivalent, "equivalent mutants reported conformant: %d/%d", f.good[Equivalent], f.all[Equivalent])
	add(Null, "null implementations rejected: %d/%d", f.good[Null], f.all[Null])
	add(GeneratedMutant, "generated mutants: %d, of which %d killed, %d equivalent, %d unproved, %d survived", f.all[GeneratedMutant],
		f.outcomes[Killed], f.outcomes[Explained], f.outcomes[Unproved], f.outcomes[Survived])
	if parts == nil {
		return "no mutants were run"
	}
	return strings.Join(parts, "; ")
}

// beyondTheGate says what a whole self-test shows more.
const beyondTheGate = "This is the gate: against a mutant it runs the scenarios of the requirement that must kill it. agentconform " +
	"prove --whole runs all scenarios against each server, and also shows that no requirement fails that the fault does not declare."
