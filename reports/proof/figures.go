package proof

import (
	"fmt"
	"strings"
)

// The summary of the figures.
const (
	wholeSentence      = scoreSentence + " over %d requirements" + failuresSentence + "; " + equivalentSentence + "; " + nullSentence
	gateSentence       = scoreSentence + " over %d requirements, each by the scenarios of its requirement; " + equivalentSentence + "; " + nullSentence
	scoreSentence      = "mutation score %d/%d"
	failuresSentence   = " (failed requirements per mutant: median %d, maximum %d)"
	equivalentSentence = "equivalent mutants reported conformant: %d/%d"
	nullSentence       = "null implementations rejected: %d/%d"
)

// part is the summary without the kinds that were not run.
func (f Figures) part() string {
	var parts []string
	if f.Faults > 0 {
		score := fmt.Sprintf(scoreSentence, f.Killed, f.Faults)
		if !f.Gate {
			score += fmt.Sprintf(failuresSentence, f.MedianFailures, f.MaxFailures)
		}
		parts = append(parts, score)
	}
	if f.Equivalents > 0 {
		parts = append(parts, fmt.Sprintf(equivalentSentence, f.Conformant, f.Equivalents))
	}
	if f.Nulls > 0 {
		parts = append(parts, fmt.Sprintf(nullSentence, f.Rejected, f.Nulls))
	}
	if f.Generated.All > 0 {
		parts = append(parts, f.Generated.String())
	}
	if parts == nil {
		return "no mutants were run"
	}
	return strings.Join(parts, "; ")
}

// String is the summary of a self-test with all kinds.
func (f Figures) String() string {
	if f.Gate {
		return fmt.Sprintf(gateSentence, f.Killed, f.Faults, f.Requirements, f.Conformant, f.Equivalents, f.Rejected, f.Nulls)
	}
	return fmt.Sprintf(wholeSentence, f.Killed, f.Faults, f.Requirements, f.MedianFailures, f.MaxFailures,
		f.Conformant, f.Equivalents, f.Rejected, f.Nulls)
}

// beyondTheGate says what a whole self-test shows more.
const beyondTheGate = "This is the gate: against a mutant it runs the scenarios of the requirement that must kill it. agentconform " +
	"prove --whole runs all scenarios against each server, and also shows that no requirement fails that the fault does not declare."
