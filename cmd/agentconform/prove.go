package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/cmd/agentconform/internal/prover"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports/proof"
)

type proveFlags struct {
	only        []string
	out, readme string
	concurrency int
	list        bool
	replay      bool
}

func newProve(io streams) *cobra.Command {
	f := &proveFlags{}
	c := &cobra.Command{
		Use:   "prove",
		Short: "Prove that every requirement can fail, and that nothing harmless trips it",
		Long: `Run the suite against deliberate faults and variations of the reference, and write the matrix.

The proof fails when a fault is missed or caught only as blocked or inconclusive, when a fault turns a requirement
red that it does not declare, when a variation turns anything red, and when a server that is no implementation at all
is taken for conformant.`,
		Example: `  agentconform prove
  agentconform prove --list
  agentconform prove --only CP-LIST-3 --out proof
  agentconform serve --fault limit-101-is-served      see one fault for yourself`,
		Args: noArguments("--only chooses faults, variations or requirements"),
		RunE: func(c *cobra.Command, _ []string) error { return f.prove(c, io) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.only, "only", nil, "`names` of faults, variations or impostors, or IDs of requirements: a part of the proof, with the unmutated reference, and every variation where an ID is given")
	flags.StringVar(&f.out, "out", "agentconform-proof", "`folder` for proof.json, proof.md and proof.html")
	flags.IntVar(&f.concurrency, "concurrency", 12, "runs of the suite at once")
	flags.StringVar(&f.readme, "readme", "", "write the figures between the proof marks of the `file`")
	flags.BoolVar(&f.replay, "replay", false, "also judge the findings of each fault again: at the faulty server, the reference, a dead port, and with wrong credentials")
	flags.BoolVar(&f.list, "list", false, "list the faults, variations and impostors, and prove nothing")
	return c
}

func (f *proveFlags) prove(c *cobra.Command, io streams) error {
	if f.list {
		return listDeviations(io)
	}
	if f.concurrency < 1 || f.concurrency > 64 {
		return fmt.Errorf("--concurrency %d: give a number from 1 to 64", f.concurrency)
	}
	// Hundreds of short runs make much garbage and keep little: collecting it less often is worth a sixth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	result, err := prover.Run(c.Context(), prover.Options{
		Only: f.only, Concurrency: f.concurrency, Replay: f.replay, Version: suiteVersion(), Describe: describe,
		Done: func(row proof.Row, done, total int) {
			state := "as it should be"
			if problem := row.Problem; problem != "" {
				state = problem
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
	if f.readme != "" && result.Whole {
		return updateFigures(f.readme, result.Figures())
	}
	return nil
}

// replayed sums up what became of findings that were judged again.
func replayed(p *proof.Proof) string {
	findings, faults := 0, 0
	for _, r := range p.Rows {
		if r.Replayed > 0 {
			faults++
		}
		findings += r.Replayed
	}
	return fmt.Sprintf("replay: %d findings of %d faults still fail at the faulty server, pass at the reference, and cannot be told at a dead port or with wrong credentials", findings, faults)
}

// updateFigures rewrites the figures of the last proof in a page.
func updateFigures(path string, figures proof.Figures) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the page for the figures: %w", err)
	}
	renewed, err := proof.Renew(page, figures)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, renewed, 0o644)
}

func listDeviations(io streams) error {
	t := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "KIND\tNAME\tBREAKS\tWHAT IT DOES")
	for _, d := range faults.All() {
		fmt.Fprintf(t, "fault\t%s\t%s\t%s\n", d.Name, d.Fails, d.Breaks)
	}
	for _, d := range faults.Variations() {
		fmt.Fprintf(t, "variation\t%s\t\t%s\n", d.Name, d.Differs)
	}
	for _, d := range faults.Impostors() {
		fmt.Fprintf(t, "impostor\t%s\t\t%s\n", d.Name, d.Is)
	}
	return t.Flush()
}
