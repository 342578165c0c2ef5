package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

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
	case r.Counted && r.Changed == 0:
		return NotReached
	case r.Allowed != "":
		return Explained
	}
	return Survived
}

func (r Row) judgeGenerated() string {
	outcome := r.Outcome()
	switch {
	case r.Control && outcome != Killed:
		return fmt.Sprintf("control mutant, which must be killed: %s; nothing of this self-test counts", outcome)
	case outcome == Killed && r.Changed == 0:
		return r.unchanged()
	case outcome == Killed && r.Allowed != "":
		return fmt.Sprintf("allowed (%s), but %s failed (%s)", r.Allowed, list(r.Red), r.Shown)
	case outcome == Survived:
		return fmt.Sprintf("survived %s that it changed; blocked or inconclusive: %s", reports.Count(int(r.Changed), "exchange"), list(r.Open))
	}
	return ""
}

// unchanged is the problem of a mutant that was killed for something else.
func (r Row) unchanged() string {
	return fmt.Sprintf("it changed nothing, and %s failed (%s)", list(r.Red), r.Shown)
}

// wide names the generated mutants that more than three requirements show, with them: each is to be explained.
func (p *Proof) wide() (all []string) {
	for _, r := range p.rows(GeneratedMutant) {
		if len(r.Red) > 3 {
			all = append(all, r.Name+": "+strings.Join(r.Red, ", "))
		}
	}
	slices.Sort(all)
	return all
}

// allowedBecause is the reason behind the description of a mutant that the interface allows.
func allowedBecause(r Row) string {
	if r.Allowed == "" {
		return ""
	}
	return "; allowed: " + r.Allowed
}
