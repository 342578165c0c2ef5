package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/replay"
)

type replayFlags struct {
	targetFlags
	result string
}

func newReplay() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay ID|FILE",
		Short: "Test findings again: do they still fail?",
		Long: `Test the findings of an earlier test run again, against the same or another target: run the scenarios that
showed them, and report for each finding whether it still fails.

ID is the ID of a finding, or enough of its beginning, or the ID of a requirement: then all of its findings are tested.
The result file of the last test run (--result) must contain it. FILE is a result file: all its findings are tested. The result file decides only which scenarios to run, and never addresses, credentials or
requests. Deployments and threads that could not be removed are in ledger.jsonl in the folder of the result file
(agentconform clean).

Exit codes: 0 all pass now, 1 at least one still fails, 2 wrong usage or configuration, 3 none fails, but the replay
could not tell for at least one (target unreachable, credentials refused, a precondition failed, or not tested).`,
		Example: `  agentconform replay CP-LIST-3 --config vendor.yaml
  agentconform replay 3f2a --config vendor.yaml --target http://127.0.0.1:8080
  agentconform replay out/result.json --config vendor.yaml`,
		Args: arguments(1, 1, "the ID of one finding or requirement, or one result file, such as CP-LIST-3"),
		RunE: f.replay,
	}
	f.add(c)
	c.Flags().StringVar(&f.result, "result", filepath.Join(reports.DefaultOut, "result.json"), "result `file` that contains the ID")
	return c
}

func (f *replayFlags) replay(c *cobra.Command, args []string) error {
	result, findings, err := f.findings(args[0])
	if err != nil {
		return err
	}
	cfg, err := f.loadNamed()
	if err != nil {
		return err
	}
	cfg.ReadOnly = result.Run.ReadOnly
	screen := newScreen(c.ErrOrStderr(), display{brief: true})
	folder := filepath.Dir(f.result)
	o := steps.Options{Seed: result.Run.Seed, LedgerFile: filepath.Join(folder, "ledger.jsonl"), Progress: screen.show}
	stop, err := open(c.Context(), cfg, "", &o)
	if err != nil {
		return err
	}
	defer stop()
	defer announceInterrupt(c, folder)()
	stopScreen := screen.start()
	outcomes, now, err := replay.Judge(c.Context(), o, result, findings)
	stopScreen()
	if err != nil {
		return err
	}
	cleanup := overview.Of(now).Cleanup(folder)
	if cleanup.NotRemoved != "" {
		text := reports.Joined("; remove with ", "not cleaned up: "+cleanup.NotRemoved, cleanup.Command)
		c.PrintErrln(safe.Line(text))
	}
	return &exit{errReported, printOutcomes(c, outcomes)}
}

// findings reads the result file and returns its findings. If the name is that of a file, it returns all of them.
// Otherwise it returns the finding or the findings of the requirement with this ID.
func (f *replayFlags) findings(name string) (*reports.Result, []reports.Finding, error) {
	info, err := os.Stat(name)
	if err == nil && info.Mode().IsRegular() {
		f.result = name
		result, err := reports.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		if len(result.Findings) == 0 {
			return nil, nil, fmt.Errorf("%s contains no findings: nothing to replay", name)
		}
		return result, result.Findings, nil
	}
	result, err := reports.ReadFile(f.result)
	if err != nil {
		return nil, nil, fmt.Errorf("looking up %s in the file of --result: %w", name, err)
	}
	findings, err := replay.Find(result, name)
	return result, findings, err
}

// outcomeText describes the outcome of a finding, such as "CP-LIST-3 still fails: limit=101 is accepted (2 of 2
// scenarios)".
func outcomeText(o replay.Outcome) string {
	of := fmt.Sprintf(" (%s)", reports.Count(o.Scenarios, "scenario"))
	if o.Failed > 0 {
		of = fmt.Sprintf(" (%d of %s)", o.Failed, reports.Count(o.Scenarios, "scenario"))
	}
	if o.Scenarios < 2 {
		of = ""
	}
	switch o.Verdict {
	case reports.Passed:
		return o.Finding.Requirement + " passes now" + of + "; it was: " + o.Finding.Summary
	case reports.Failed:
		return o.Finding.Requirement + " still fails: " + o.Reason + of
	}
	return o.Finding.Requirement + ": could not tell: " + o.Reason
}

// printOutcomes prints a line for each finding, and a summary if there are several. It returns the exit code: a finding
// that still fails takes precedence over one that could not be judged.
func printOutcomes(c *cobra.Command, outcomes []replay.Outcome) int {
	count := map[reports.Verdict]int{}
	for _, o := range outcomes {
		count[o.Verdict]++
		c.Println(safe.Line(safe.Ellipsis(outcomeText(o), 500)))
	}
	if len(outcomes) > 1 {
		c.Printf("%d of %d still fail, %d pass now, %d could not tell\n", count[reports.Failed], len(outcomes),
			count[reports.Passed], count[reports.Inconclusive])
	}
	switch {
	case count[reports.Failed] > 0:
		return exitNonConformant
	case count[reports.Inconclusive] > 0:
		return exitIncomplete
	}
	return exitConformant
}
