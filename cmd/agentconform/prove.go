package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/cmd/agentconform/internal/prover"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reference/mutants"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/proof"
)

// softMemory is how much memory a self-test uses before garbage is collected more often.
const softMemory = 3 << 30

type proveFlags struct {
	only   []string
	out    string
	list   bool
	replay bool
	whole  bool
	all    bool

	examples string
}

func newProve(io streams) *cobra.Command {
	f := &proveFlags{}
	c := &cobra.Command{
		Use:   "prove",
		Short: "Self-test: run the suite against mutants of the reference",
		Long: `Self-test of the suite by mutation testing. It runs the suite against
- mutants: the reference with one fault each. The requirement that the fault breaks must kill the mutant, that is, fail;
- equivalent mutants: the reference with one difference that the interface allows, and a server that shares no code with
  the reference. A failure is a false positive;
- null implementations: servers that implement nothing. They must not be reported conformant;
- with --all, generated mutants: each member of each answer dropped, changed, of another object or out of date, each
  parameter and each member of a request ignored or changed, each check of credentials skipped. Any requirement must kill them,
  unless the interface allows what they do. One that changed no exchange is not reached;
- with --whole, one of ten mutants that are rows before a server that shares no code with the reference.
Without --whole this is the gate, which takes a minute: a mutant is run against the scenarios of the requirement that must kill it,
and equivalent mutants that change different places are tried together. With --whole each server is run against all scenarios:
a mutant that fails a requirement that its fault does not declare has survived, too.
The mutation score is the number of killed mutants of those that a request reached and the interface does not allow. A mutant that is only blocked or inconclusive has survived.
The results are written to proof.json and proof.md.

Exit codes: 0 passed, 1 failed, 2 wrong usage, 3 interrupted.`,
		Example: `  agentconform prove
  agentconform prove --whole --replay                 everything about all mutants, a quarter of an hour
  agentconform prove --list
  agentconform prove --only CP-LIST-3 --out proof
  agentconform prove --only access                    all generated mutants that skip a check of credentials
  agentconform serve --fault limit-101-is-served      serve one fault, to run the suite against it`,
		Args: noArguments("choose mutants or requirements with --only"),
		RunE: func(c *cobra.Command, _ []string) error { return f.prove(c, io) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.only, "only", nil, "`names` of faults, mutants or null implementations, groups of mutants (answers, parameters, bodies, access, independent-server), or IDs of requirements (with an ID, also all equivalent mutants); the unmodified reference is always tested")
	flags.StringVar(&f.out, "out", "agentconform-proof", "`folder` for proof.json and proof.md")
	flags.BoolVar(&f.whole, "whole", false, "run all scenarios against each mutant")
	flags.BoolVar(&f.all, "all", false, "also try all generated mutants, which are derived from the contract, each until its first failure")
	flags.BoolVar(&f.replay, "replay", false, "also replay the findings of each fault: against the faulty server, the reference, a closed port, and with wrong credentials")
	flags.StringVar(&f.examples, "examples", "", "only the unmodified reference and one fault of each requirement; write their results into the `folder`, for list --result")
	flags.BoolVar(&f.list, "list", false, "list the faults, mutants and null implementations, and exit")
	return c
}

func (f *proveFlags) prove(c *cobra.Command, io streams) error {
	if f.list {
		return listDeviations(io)
	}
	if err := proof.Check(f.out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	// Hundreds of short runs allocate much and keep little: fewer garbage collections save a sixth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(softMemory))
	result, err := prover.Run(c.Context(), prover.Options{
		Only: f.only, Whole: f.whole, All: f.all, Replay: f.replay, Version: suiteVersion(), Describe: describe, Keep: f.keep(),
		Done: func(row proof.Row, done, total int) {
			state := "ok"
			if problem := row.Problem; problem != "" {
				state = problem
			}
			if row.Attempts > 1 {
				state += " (second attempt, alone)"
			}
			if row.Together > 1 {
				state += fmt.Sprintf(" (together with %d others)", row.Together-1)
			}
			fmt.Fprintf(io.err, "[%d/%d] %s %s (%d ms): %s\n", done, total, row.Kind, row.Name, row.MS, state)
		},
	})
	if c.Context().Err() != nil {
		return &exit{exitIncomplete, err}
	}
	if err != nil {
		return err
	}
	if err := proof.Write(f.out, result); err != nil {
		return &exit{exitIncomplete, err}
	}
	if err := proof.Console(io.out, result); err != nil {
		return err
	}
	if f.replay {
		fmt.Fprintln(io.out, replayed(result))
	}
	if len(result.Problems) > 0 {
		return failed(exitNonConformant)
	}
	return nil
}

// keep writes a result as an example; nil where none is wanted.
func (f *proveFlags) keep() func(name string, r *reports.Result) error {
	if f.examples == "" {
		return nil
	}
	return func(name string, r *reports.Result) error {
		if err := os.MkdirAll(f.examples, 0o755); err != nil {
			return err
		}
		return outfile.Write(filepath.Join(f.examples, name+".json"), outfile.Public, r.WriteJSON)
	}
}

// replayed sums up the replays.
func replayed(p *proof.Proof) string {
	findings, faults := 0, 0
	for _, r := range p.Rows {
		if r.Replayed > 0 {
			faults++
		}
		findings += r.Replayed
	}
	return fmt.Sprintf("replay: %d findings of %d faults still fail against the faulty server, pass against the reference, and are inconclusive at a closed port or with wrong credentials", findings, faults)
}

func listDeviations(io streams) error {
	generated, err := mutants.All()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "KIND\tNAME\tBREAKS\tDESCRIPTION")
	for _, d := range faults.All() {
		fmt.Fprintf(t, "fault\t%s\t%s\t%s\n", d.Name, d.Fails, d.Breaks)
	}
	for _, d := range prover.BeforeIndependent() {
		fmt.Fprintf(t, "fault\tindependent-server/%s\t%s\t%s\n", d.Name, d.Fails, d.Breaks)
	}
	for _, d := range faults.EquivalentMutants() {
		fmt.Fprintf(t, "equivalent\t%s\t\t%s\n", d.Name, d.Differs)
	}
	for _, row := range prover.IndependentServers() {
		fmt.Fprintf(t, "equivalent\t%s\t\t%s\n", row.Name, row.Does)
	}
	for _, d := range faults.NullImplementations() {
		fmt.Fprintf(t, "null\t%s\t\t%s\n", d.Name, d.Is)
	}
	for _, m := range generated {
		fmt.Fprintf(t, "generated\t%s\t\t%s\n", m.Name, m.Does)
	}
	return t.Flush()
}
