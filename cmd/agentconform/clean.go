package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/evidence"
)

func newClean(io streams) *cobra.Command {
	var target targetFlags
	var path, run string
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what earlier runs left at the target",
		Long: `Remove the deployments that earlier runs created at the target and did not remove: because they were killed, or
because the target was out of reach.`,
		Example: `  agentconform clean --config vendor.yaml
  agentconform clean --config vendor.yaml --ledger out/ledger.jsonl --run 3f2a91c0`,
		Args: noArguments("--ledger names the ledger, --run the run and --config the target"),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := target.load(c)
			if err != nil {
				return err
			}
			if cfg.Target == "" {
				return errors.New("no control plane is configured: name the target with --config or --target")
			}
			left, err := evidence.ReadLedger(path)
			if err != nil {
				return fmt.Errorf("%w; name the ledger of a run with --ledger", err)
			}
			left = slices.DeleteFunc(left, func(e evidence.Left) bool { return run != "" && e.Run != run })
			for _, e := range left {
				if e.Target != cfg.Target {
					return fmt.Errorf("run %s created %s %s at %s, and the target is %s: a target that does not know it would make it forgotten; name the right one, or one run with --run", e.Run, e.Kind, e.ID, e.Target, cfg.Target)
				}
			}
			ledger, err := evidence.OpenLedger(path, run, cfg.Target)
			if err != nil {
				return err
			}
			defer ledger.Close()
			removed := 0
			err = steps.Clean(c.Context(), cfg, left, func(e evidence.Left, problem string) {
				if problem != "" {
					fmt.Fprintf(io.out, "%s %s of run %s stays: %s\n", e.Kind, safe.Line(e.ID), e.Run, safe.Line(problem))
					return
				}
				removed++
				fmt.Fprintf(io.out, "%s %s of run %s is removed\n", e.Kind, safe.Line(e.ID), e.Run)
				err = errors.Join(err, ledger.Removed(e.Kind, e.ID))
			})
			fmt.Fprintf(io.out, "%d of %d removed\n", removed, len(left))
			if err != nil || removed < len(left) {
				return &exit{exitIncomplete, err}
			}
			return nil
		},
	}
	target.add(c)
	c.Flags().StringVar(&path, "ledger", filepath.Join(defaultOut, "ledger.jsonl"), "ledger `file` of the runs")
	c.Flags().StringVar(&run, "run", "", "only what the run with this `ID` created")
	return c
}
