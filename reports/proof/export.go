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
		var text strings.Builder
		if err := write(&text, p); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		if err := outfile.Text(filepath.Join(dir, name), outfile.Public, []byte(text.String())); err != nil {
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
	if again := p.triedAgain(); len(again) > 0 {
		fmt.Fprintf(&b, "tried a second time, alone, because the first run was undecided: %s\n", list(again))
	}
	fmt.Fprintf(&b, "%s in %s: %s\n", p.Verdict(), took(p), p.Sentence())
	if p.Gate {
		b.WriteString(beyondTheGate + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the result as tables.
func Markdown(w io.Writer, p *Proof) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n", upper(p.Verdict()), upper(p.Sentence()))
	if p.Gate {
		b.WriteString("\n" + beyondTheGate + "\n")
	}
	if len(p.Problems) > 0 {
		b.WriteString("\n## Problems\n\n")
		for _, problem := range p.Problems {
			fmt.Fprintf(&b, "- %s\n", safe.Markdown(problem))
		}
	}
	if again := p.triedAgain(); len(again) > 0 {
		fmt.Fprintf(&b, "\nTried a second time, alone, because the first run was undecided: %s.\n", list(again))
	}
	b.WriteString("\n## Mutants\n\n| Requirement | Fault | Description | Killed | Failed | Finding | ms |\n| --- | --- | --- | --- | ---: | --- | ---: |\n")
	for _, r := range p.rows(Fault) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s | %d |\n", r.Fails, r.Name, safe.Markdown(r.Does), ok(r), len(r.Red), safe.Markdown(r.Shown), r.MS)
	}
	if generated := slices.Concat(p.rows(Proxied), p.rows(GeneratedMutant)); len(generated) > 0 {
		b.WriteString("\n## Mutants of the independent server, and generated mutants\n\n| Name | Description | Outcome | Changed | Failed | ms |\n| --- | --- | --- | ---: | --- | ---: |\n")
		for _, r := range generated {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %d |\n", r.Name, safe.Markdown(r.Does+allowedBecause(r)), cmp.Or(safe.Markdown(r.Problem), string(r.Outcome())), r.Changed, list(r.Red), r.MS)
		}
		for _, name := range p.wide() {
			fmt.Fprintf(&b, "\nMore than three requirements fail: %s\n", name)
		}
	}
	for _, kind := range []struct {
		kind  Kind
		title string
	}{{Equivalent, "Equivalent mutants"}, {Null, "Null implementations"}} {
		fmt.Fprintf(&b, "\n## %s\n\n| Name | Description | OK | Verdict | ms |\n| --- | --- | --- | --- | ---: |\n", kind.title)
		for _, r := range p.rows(kind.kind) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", r.Name, safe.Markdown(r.Does), ok(r), r.Verdict, r.MS)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// triedAgain names the rows with a second attempt.
func (p *Proof) triedAgain() (names []string) {
	for _, r := range p.Rows {
		if r.Attempts > 1 {
			names = append(names, r.Name)
		}
	}
	return names
}

func (p *Proof) rows(kind Kind) []Row {
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r Row) bool { return r.Kind != kind })
}

func ok(r Row) string {
	if r.Problem == "" {
		return "yes"
	}
	return "no: " + safe.Markdown(r.Problem)
}

// upper starts a sentence.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// took is the duration of the self-test.
func took(p *Proof) string {
	return (time.Duration(p.DurationMS) * time.Millisecond).Round(100 * time.Millisecond).String()
}
