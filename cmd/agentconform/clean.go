package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

type cleanFlags struct {
	target      targetFlags
	ledger, run string
}

func newClean(io streams) *cobra.Command {
	f := &cleanFlags{}
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what earlier runs left at the target",
		Long: `Remove the deployments that earlier runs created at the target and did not remove: because they were killed, or
because the target was out of reach.

Exit codes: 0 nothing is left, 2 wrong usage, 3 something could not be removed, or a line of the ledger not be read.`,
		Example: `  agentconform clean --config vendor.yaml
  agentconform clean --config vendor.yaml --ledger out/ledger.jsonl --run 3f2a91c0`,
		Args: noArguments("--ledger names the ledger, --run the run and --config the target"),
		RunE: func(c *cobra.Command, _ []string) error { return f.clean(c, io) },
	}
	f.target.add(c)
	c.Flags().StringVar(&f.ledger, "ledger", filepath.Join(defaultOut, "ledger.jsonl"), "ledger `file` of the runs")
	c.Flags().StringVar(&f.run, "run", "", "only what the run with this `ID` created")
	return c
}

func (f *cleanFlags) clean(c *cobra.Command, io streams) error {
	cfg, err := f.target.load(c)
	if err != nil {
		return err
	}
	if cfg.Target == "" {
		return errors.New("no control plane is configured: name the target with --config or --target")
	}
	left, damaged, err := evidence.ReadLedger(f.ledger)
	if err != nil {
		return fmt.Errorf("%w; name the ledger of a run with --ledger", err)
	}
	left = slices.DeleteFunc(left, func(e evidence.Left) bool { return f.run != "" && e.Run != f.run })
	for _, e := range left {
		if e.Target != cfg.Target {
			return fmt.Errorf("run %s created %s %s at %s, and the target is %s: a target that does not know it would make it forgotten; name the right one, or one run with --run", e.Run, e.Kind, e.ID, e.Target, cfg.Target)
		}
	}
	for _, d := range damaged {
		fmt.Fprintf(io.out, "%s:%d cannot be read, and what it tells of may still be there: %s\n", safe.Line(f.ledger), d.Line, safe.Line(safe.Ellipsis(d.Text, 120)))
	}
	removed, err := f.remove(c, cfg, left, io)
	if err != nil {
		return &exit{exitIncomplete, err}
	}
	if len(damaged) > 0 {
		return &exit{exitIncomplete, fmt.Errorf("not every line of %s could be read: remove by hand what those lines tell of, and take them out", f.ledger)}
	}
	if removed < len(left) {
		return failed(exitIncomplete)
	}
	return nil
}

// remove removes what was left, and notes it in the ledger.
func (f *cleanFlags) remove(c *cobra.Command, cfg *config.Config, left []evidence.Left, io streams) (removed int, err error) {
	ledger, err := evidence.OpenLedger(f.ledger, f.run, cfg.Target)
	if err != nil {
		return 0, err
	}
	defer ledger.Close()
	var noted error
	err = steps.Clean(c.Context(), cfg, left, func(e evidence.Left, problem string) {
		which := safe.Line(fmt.Sprintf("%s %s of run %s", e.Kind, e.ID, e.Run))
		if problem != "" {
			fmt.Fprintf(io.out, "%s stays: %s\n", which, safe.Line(problem))
			return
		}
		removed++
		fmt.Fprintf(io.out, "%s is removed\n", which)
		noted = errors.Join(noted, ledger.Removed(e.Kind, e.ID))
	})
	fmt.Fprintf(io.out, "%d of %d removed\n", removed, len(left))
	return removed, errors.Join(err, noted)
}
