package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/suite"
)

type cleanFlags struct {
	targetFlags
	ledger, run     string
	dryRun, verbose bool
}

func newClean() *cobra.Command {
	f := &cleanFlags{}
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what earlier test runs did not remove",
		Long: `Remove the deployments and threads that earlier test runs did not remove from the target, because they were
killed, the target was unreachable, or --keep was given. The ledger of the test runs lists them with their addresses.

Credentials are sent only to the configured target and agent server, and to the agent server that the target names for
a deployment of the ledger.

Exit codes: 0 all removed, or nothing to remove; 2 wrong usage or configuration; 3 something could not be removed, or
a line of the ledger could not be read.`,
		Example: `  agentconform clean --config vendor.yaml
  agentconform clean --config vendor.yaml --ledger out/ledger.jsonl --run 3f2a91
  agentconform clean --config vendor.yaml --dry-run --verbose`,
		Args: noArguments("name the ledger with --ledger, the run with --run and the target with --config"),
		RunE: f.clean,
	}
	f.add(c)
	flags := c.Flags()
	flags.StringVar(&f.ledger, "ledger", filepath.Join(reports.DefaultOut, "ledger.jsonl"), "ledger `file` of the test runs")
	flags.StringVar(&f.run, "run", "", "remove only what the test run with this `ID` created")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print how much would be removed, and remove nothing")
	flags.BoolVar(&f.verbose, "verbose", false, "with --dry-run, list each deployment and thread")
	return c
}

func (f *cleanFlags) clean(c *cobra.Command, _ []string) error {
	cfg, err := f.loadNamed()
	if err != nil {
		return err
	}
	all, damaged, err := evidence.ReadLedger(f.ledger)
	if err != nil {
		return fmt.Errorf("%w; name the ledger of a test run with --ledger", err)
	}
	var left []evidence.Left
	for _, e := range all {
		if f.run == "" || e.Run == f.run {
			left = append(left, e)
		}
	}
	for _, e := range left {
		if suite.Elsewhere(cfg, e) {
			return fmt.Errorf("test run %s created %s %s at %s, but the target is %s: "+
				"name that target, or choose another test run with --run", e.Run, e.Kind, e.ID, cmp.Or(e.Address, e.Target),
				strings.Join(cfg.Addresses(), ", "))
		}
	}
	for _, d := range damaged {
		c.Printf("%s:%d: cannot be read; the deployment or thread in it may still exist: %s\n", safe.Line(f.ledger), d.Line,
			safe.Line(safe.Ellipsis(d.Text, 120)))
	}
	if f.dryRun {
		f.preview(c, left)
		return nil
	}
	removed, err := f.remove(c, cfg, left)
	if err == nil && len(damaged) > 0 {
		err = fmt.Errorf("some lines of %s cannot be read: "+
			"remove the deployments and threads in them by hand, then delete the lines", f.ledger)
	}
	if err != nil {
		return &exit{err, exitIncomplete}
	}
	return exitIf(removed < len(left), exitIncomplete)
}

// preview prints what would be removed: the sum of each test run, or with --verbose each deployment and thread.
func (f *cleanFlags) preview(c *cobra.Command, left []evidence.Left) {
	sums := map[string]map[string]int{} // by test run and kind
	var runs []string
	for _, e := range left {
		if f.verbose {
			c.Printf("%s would be removed\n", nameOf(left, e.LedgerEntry))
		}
		if sums[e.Run] == nil {
			sums[e.Run] = map[string]int{}
			runs = append(runs, e.Run)
		}
		sums[e.Run][e.Kind]++
	}
	for _, run := range runs {
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(sums[run])) {
			parts = append(parts, reports.Count(sums[run][kind], kind))
		}
		c.Println(safe.Line(fmt.Sprintf("%s of run %s would be removed", strings.Join(parts, " and "), run)))
	}
	if len(left) == 0 {
		c.Println("nothing to remove")
	}
}

// remove removes deployments and threads, records that in the ledger, and prints the result.
func (f *cleanFlags) remove(c *cobra.Command, cfg *config.Config, left []evidence.Left) (removed int, err error) {
	ledger, err := evidence.ContinueLedger(f.ledger)
	if err != nil {
		return 0, err
	}
	defer ledger.Close()
	var noted error
	err = suite.Clean(c.Context(), cfg, left, func(e reports.LedgerEntry) {
		if !e.Removed {
			c.Printf("%s not removed: %s\n", nameOf(left, e), safe.Line(e.Reason))
			return
		}
		removed++
		noted = errors.Join(noted, ledger.Tried(e))
	})
	if len(left) == 0 {
		of := reports.Joined(" of run ", f.ledger, f.run)
		c.Printf("nothing to remove: everything in %s has been removed\n", safe.Line(of))
	} else {
		c.Printf("%d of %d removed\n", removed, len(left))
	}
	return removed, errors.Join(err, noted)
}

// nameOf names a deployment or thread, with the ID of the test run that created it.
func nameOf(left []evidence.Left, e reports.LedgerEntry) string {
	at := slices.IndexFunc(left, func(l evidence.Left) bool { return l.Kind == e.Kind && l.ID == e.ID })
	return safe.Line(fmt.Sprintf("%s %s of run %s", e.Kind, e.ID, left[at].Run))
}
