package proof

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// Files are the reports of a self-test.
var Files = outfile.Set[*Proof]{
	Mark:  `"agentconform.proof/`,
	Files: []outfile.File[*Proof]{{Name: "proof.json", Write: JSON}, {Name: "proof.md", Write: Markdown}},
}

// JSON writes p as JSON.
func JSON(w io.Writer, p *Proof) error { return reports.WriteEncoded(w, p, "  ") }

// Console writes the problems, the verdict and the numbers.
func Console(w io.Writer, p *Proof) error {
	_, err := io.WriteString(w, p.text())
	return err
}

func (p *Proof) text() string {
	var b strings.Builder
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "PROBLEM  %s\n", safe.Line(problem))
	}
	var repeated []string
	for _, r := range p.Rows {
		if r.Attempts > 1 {
			repeated = append(repeated, r.Name)
		}
	}
	if repeated != nil {
		fmt.Fprintf(&b, "repeated without other servers, because the first test run was undecided: %s\n", list(repeated))
	}
	took := (time.Duration(p.DurationMS) * time.Millisecond).Round(100 * time.Millisecond)
	fmt.Fprintf(&b, "%s in %s: %s\n", p.Verdict(), took, p.Sentence())
	if p.Gate {
		b.WriteString(gateNote + "\n")
	}
	return b.String()
}

// gateNote explains the difference between the gate and a whole self-test.
const gateNote = "This is the gate: against a mutant it runs only the scenarios of the requirement that must kill it. " +
	"agentconform prove --whole runs all scenarios against each server, and checks that no other requirement fails " +
	"than those that the fault declares."

// Markdown writes the text of [Console] and a table of the rows.
func Markdown(w io.Writer, p *Proof) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s", p.Verdict(), safe.MarkdownBlock("", p.text()))
	b.WriteString("\n| Kind | Name | Requirement | Description | Outcome | Changed | Failed | Finding | ms |\n" +
		"| --- | --- | --- | --- | --- | ---: | --- | --- | ---: |\n")
	for _, r := range p.Rows {
		description, outcome := r.Does, "ok"
		if r.Allowed != "" {
			description += "; allowed: " + r.Allowed
		}
		if slices.Contains([]Kind{Fault, Proxied, GeneratedMutant}, r.Kind) {
			outcome = string(r.Outcome())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %s | %s | %d |\n", r.Kind, r.Name, r.Fails, safe.Markdown(description),
			safe.Markdown(cmp.Or(r.Problem, outcome)), r.Changed, list(r.Red), safe.Markdown(r.Shown), r.MS)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sums are the kinds of rows that [Proof.Sentence] counts, in order.
var sums = []struct {
	kind Kind
	name string
}{
	{Fault, "declared"}, {Proxied, "before the independent server"}, {GeneratedMutant, "derived"},
	{Equivalent, "equivalent mutants reported conformant: "}, {Null, "null implementations rejected: "},
}

// Sentence returns the mutation score and the counts of all kinds of servers that were tested. The score counts only
// mutants that a request reached and that the interface does not allow.
func (p *Proof) Sentence() string {
	killed, reached := 0, 0
	var failures []int // number of failed requirements of each declared mutant
	var parts []string
	for _, sum := range sums {
		counts, all := map[Outcome]int{}, 0
		for _, r := range p.Rows {
			if r.Kind != sum.kind {
				continue
			}
			outcome := r.Outcome()
			if r.Kind != Proxied && r.Kind != GeneratedMutant {
				outcome = Survived
				if r.Problem == "" {
					outcome = Killed
				}
			}
			if r.Kind == Fault {
				failures = append(failures, len(r.Red))
			}
			counts[outcome]++
			all++
		}
		switch {
		case all == 0:
		case sum.kind == Equivalent || sum.kind == Null:
			parts = append(parts, fmt.Sprintf("%s%d/%d", sum.name, counts[Killed], all))
		default:
			killed, reached = killed+counts[Killed], reached+counts[Killed]+counts[Survived]
			var each []string
			for _, outcome := range []Outcome{Killed, Survived, Explained, NotReached} {
				if counts[outcome] > 0 {
					each = append(each, fmt.Sprintf("%d %s", counts[outcome], outcome))
				}
			}
			parts = append(parts, sum.name+" "+strings.Join(each, ", "))
		}
	}
	if reached == 0 {
		return cmp.Or(strings.Join(parts, "; "), "no mutants were run")
	}
	score := fmt.Sprintf("mutation score %d/%d", killed, reached)
	if p.Whole {
		score += fmt.Sprintf(" over %d requirements", len(p.Requirements))
	}
	slices.Sort(failures)
	if failures != nil && !p.Gate {
		score += fmt.Sprintf(" (causes per mutant: median %d, maximum %d)", failures[len(failures)/2],
			failures[len(failures)-1])
	}
	return score + ": " + strings.Join(parts, "; ")
}
