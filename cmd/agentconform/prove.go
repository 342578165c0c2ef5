package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reference/prover"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/proof"
)

type proveFlags struct {
	only                     []string
	out, examples            string
	list, replay, whole, all bool
}

func newProve() *cobra.Command {
	f := &proveFlags{}
	c := &cobra.Command{
		Use:   "prove",
		Short: "Self-test: run the suite against mutants of the reference",
		Long: `Self-test of the suite by mutation testing. It runs the suite against
- mutants: the reference with one fault each. The requirement that the fault breaks must fail, which kills the mutant;
- equivalent mutants: the reference with one difference that the interface allows, and a server that shares no code with
  the reference. A failure is a false positive;
- null implementations: servers that implement nothing. They must not be reported conformant;
- with --all, generated mutants: each part of a request or response is dropped or changed, and each check of credentials
  is skipped. Any requirement must kill them, unless the interface allows the difference. A mutant that changed no
  exchange is not reached;
- with --whole, one in ten of the mutants in front of a server that shares no code with the reference.

Without --whole this is the gate: a mutant is run against the scenarios of the requirement that must kill it, and
equivalent mutants that change different places are run together. With --whole each server is run against all
scenarios, and a mutant that fails a requirement that its fault does not declare has survived as well.

The mutation score is the number of killed mutants among those that a request reached and the interface does not allow.
A mutant that is only blocked or inconclusive has survived. The results are written to proof.json and proof.md.

Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 interrupted or not completed.`,
		Example: `  agentconform prove
  agentconform prove --whole --replay             run all checks of all mutants
  agentconform prove --list
  agentconform prove --only CP-LIST-3 --out proof
  agentconform prove --only access                skip checks of credentials
  agentconform serve --fault limit-101-is-served  serve one fault, to test it`,
		Args: noArguments("choose mutants or requirements with --only"),
		RunE: f.prove,
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.only, "only", nil,
		"`names` of faults, mutants or null implementations, groups of mutants (answers, parameters, bodies, access, "+
			"independent-server), or IDs of requirements (with an ID, also all equivalent mutants); the unmodified "+
			"reference is always tested")
	flags.StringVar(&f.out, "out", "agentconform-proof", "`folder` for proof.json and proof.md")
	flags.BoolVar(&f.whole, "whole", false, "run all scenarios against each mutant")
	flags.BoolVar(&f.all, "all", false,
		"also run all generated mutants, which are derived from the contract, each until its first failure")
	flags.BoolVar(&f.replay, "replay", false,
		"also replay the findings of each fault: against the faulty server, the reference, a closed port, and with "+
			"wrong credentials")
	flags.StringVar(&f.examples, "examples", "",
		"run only the unmodified reference and one fault of each requirement; write their results into the `folder`, for "+
			"list --result")
	flags.BoolVar(&f.list, "list", false, "list the faults, mutants and null implementations, and exit")
	return c
}

func (f *proveFlags) prove(c *cobra.Command, _ []string) error {
	if f.list {
		return listDeviations(c.OutOrStdout())
	}
	if err := proof.Files.Check(f.out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	// Hundreds of short test runs allocate much memory and keep little. Fewer garbage collections save a sixth of the
	// time.
	defer debug.SetGCPercent(debug.SetGCPercent(1200))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30)) // garbage is collected more often above this limit
	options := prover.Options{
		Only: f.only, Whole: f.whole, All: f.all, Replay: f.replay, Version: suiteVersion(),
		Done: func(row proof.Row, done, total int) { c.PrintErrf("[%d/%d] %s\n", done, total, describeRow(row)) },
	}
	if f.examples != "" && len(f.only) > 0 {
		return errors.New("--examples chooses the faults: remove --only")
	}
	if f.examples != "" {
		options.Only = oneOfEach()
		options.Keep = func(name string, r *reports.Result) error {
			return outfile.Write(filepath.Join(f.examples, name+".json"), outfile.Public, r.WriteJSON)
		}
	}
	if err := options.Check(); err != nil {
		return err
	}
	if err := proof.Files.Begin(f.out); err != nil {
		return fmt.Errorf("preparing the folder for the reports: %w; name another with --out", err)
	}
	result, err := prover.Run(c.Context(), options)
	if err != nil {
		return &exit{err, exitIncomplete}
	}
	if err := proof.Files.Write(f.out, result); err != nil {
		return &exit{err, exitIncomplete}
	}
	if err := proof.Console(c.OutOrStdout(), result); err != nil {
		return err
	}
	return exitIf(len(result.Problems) > 0, exitNonConformant)
}

// describeRow returns the result of a row for a progress line.
func describeRow(row proof.Row) string {
	text := fmt.Sprintf("%s %s (%d ms): %s", row.Kind, row.Name, row.MS, cmp.Or(row.Problem, "ok"))
	if row.Attempts > 1 {
		text += " (second attempt, separate)"
	}
	if row.Together > 1 {
		text += fmt.Sprintf(" (together with %d others)", row.Together-1)
	}
	if row.Replayed > 0 {
		text += fmt.Sprintf(" (%s replayed)", reports.Count(row.Replayed, "finding"))
	}
	return text
}

// oneOfEach returns the name of one fault for each requirement, preferably one that the requirement's own scenarios
// reach.
func oneOfEach() []string {
	chosen := map[string]*deviate.Row{}
	for _, f := range faults.All() {
		known, isChosen := chosen[f.Fails]
		if !isChosen || known.Elsewhere && !f.Elsewhere {
			chosen[f.Fails] = f
		}
	}
	var names []string
	for _, f := range chosen {
		names = append(names, f.Name)
	}
	return names
}

func listDeviations(w io.Writer) error {
	rows, err := prover.Rows()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "KIND\tNAME\tBREAKS\tDESCRIPTION")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Kind, r.Name, r.Fails, r.Does)
	}
	return t.Flush()
}
