package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
)

// mark is in the first lines of proof.json.
const mark outfile.Mark = `"agentconform.proof/`

// Check finds out before a self-test whether [Write] may write into the folder: an error names a file that is not ours.
func Check(dir string) error {
	return outfile.Folder(dir, mark, "proof.json", "proof.md")
}

// Write writes proof.json and proof.md into the folder.
func Write(dir string, p *Proof) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating the folder of the self-test: %w", err)
	}
	for name, write := range map[string]func(io.Writer, *Proof) error{"proof.json": JSON, "proof.md": Markdown} {
		err := outfile.Write(filepath.Join(dir, name), outfile.Public, func(w io.Writer) error { return write(w, p) })
		if err != nil {
			return fmt.Errorf("writing the self-test: %w", err)
		}
	}
	return nil
}

// JSON writes the whole result.
func JSON(w io.Writer, p *Proof) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(p)
}

// Console writes every problem, then the verdict and the figures.
func Console(w io.Writer, p *Proof) error {
	var b strings.Builder
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "PROBLEM  %s\n", safe.Line(problem))
	}
	var again []string
	for _, r := range p.Rows {
		if r.Attempts > 1 {
			again = append(again, r.Name)
		}
	}
	if again != nil {
		fmt.Fprintf(&b, "tried a second time, alone, because the first run was undecided: %s\n", list(again))
	}
	took := (time.Duration(p.DurationMS) * time.Millisecond).Round(100 * time.Millisecond)
	fmt.Fprintf(&b, "%s in %s: %s\n", p.Verdict(), took, p.Sentence())
	if p.Gate {
		b.WriteString(beyondTheGate + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// beyondTheGate says what a whole self-test shows more.
const beyondTheGate = "This is the gate: against a mutant it runs the scenarios of the requirement that must kill it. agentconform " +
	"prove --whole runs all scenarios against each server, and also shows that no requirement fails that the fault does not declare."

// Markdown writes what the console shows, and a table of the rows.
func Markdown(w io.Writer, p *Proof) error {
	var b, console strings.Builder
	if err := Console(&console, p); err != nil {
		return err
	}
	fmt.Fprintf(&b, "# %s\n\n%s", p.Verdict(), safe.MarkdownBlock("", console.String()))
	b.WriteString("\n| Kind | Name | Requirement | Description | Outcome | Changed | Failed | Finding | ms |\n" +
		"| --- | --- | --- | --- | --- | ---: | --- | --- | ---: |\n")
	for _, r := range p.Rows {
		does, outcome := r.Does, "ok"
		if r.Allowed != "" {
			does += "; allowed: " + r.Allowed
		}
		if slices.Contains([]Kind{Fault, Proxied, GeneratedMutant}, r.Kind) {
			outcome = string(r.Outcome())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %s | %s | %d |\n", r.Kind, r.Name, r.Fails, safe.Markdown(does),
			safe.Markdown(cmp.Or(r.Problem, outcome)), r.Changed, list(r.Red), safe.Markdown(r.Shown), r.MS)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Proof) rows(kinds ...Kind) (rows []Row) {
	for _, r := range p.Rows {
		if slices.Contains(kinds, r.Kind) {
			rows = append(rows, r)
		}
	}
	return rows
}

// outcomes counts the rows of a kind of mutants. A declared one without a problem was killed.
func (p *Proof) outcomes(kind Kind) map[Outcome]int {
	counts := map[Outcome]int{}
	for _, r := range p.rows(kind) {
		switch {
		case kind != Fault:
			counts[r.Outcome()]++
		case r.Problem == "":
			counts[Killed]++
		default:
			counts[Survived]++
		}
	}
	return counts
}

// score is how many mutants were killed of those that a request reached and that the interface does not allow, and its
// parts where there are several; "" where none was run.
func (p *Proof) score(of string) string {
	killed, reached := 0, 0
	var parts []string
	for _, kind := range []struct {
		kind Kind
		name string
	}{{Fault, "declared"}, {Proxied, "before the independent server"}, {GeneratedMutant, "derived"}} {
		n := p.outcomes(kind.kind)
		if len(n) == 0 {
			continue
		}
		killed, reached = killed+n[Killed], reached+n[Killed]+n[Survived]
		var counts []string
		for _, outcome := range []Outcome{Killed, Survived, Explained, NotReached} {
			if n[outcome] > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", n[outcome], outcome))
			}
		}
		parts = append(parts, kind.name+" "+strings.Join(counts, ", "))
	}
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("mutation score %d/%d%s", killed, reached, of)
	}
	return fmt.Sprintf("mutation score %d/%d%s: %s", killed, reached, of, strings.Join(parts, "; "))
}

// Sentence sums the self-test up. A partial run leaves out the kinds that were not run.
func (p *Proof) Sentence() string {
	var failures []int // how many requirements failed, by declared mutant
	for _, r := range p.rows(Fault) {
		failures = append(failures, len(r.Red))
	}
	slices.Sort(failures)
	of := ""
	if p.Whole {
		of = fmt.Sprintf(" over %d requirements", len(p.Requirements))
	}
	switch n := len(failures); {
	case n > 0 && !p.Gate:
		of += fmt.Sprintf(" (causes per mutant: median %d, maximum %d)", failures[n/2], failures[n-1])
	case n > 0 && len(p.rows(GeneratedMutant)) == 0:
		of += ", each by the scenarios of its requirement"
	}
	parts := []string{p.score(of), p.right(Equivalent, "equivalent mutants reported conformant: %d/%d"), p.right(Null, "null implementations rejected: %d/%d")}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return cmp.Or(strings.Join(parts, "; "), "no mutants were run")
}

// right counts the rows of a kind without a problem.
func (p *Proof) right(kind Kind, format string) string {
	rows := p.rows(kind)
	if len(rows) == 0 {
		return ""
	}
	good := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Problem != "" })
	return fmt.Sprintf(format, len(good), len(rows))
}
