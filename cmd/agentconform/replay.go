package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/replay"
)

type replayFlags struct {
	target targetFlags
	result string
}

func newReplay(io streams) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay ID|FILE",
		Short: "Judge findings of an earlier run again: do they still fail?",
		Long: `Judge findings of an earlier run again, at the same or another target: run the scenarios that showed them, and say of
each finding whether it still fails.

ID is the ID of a finding or of a requirement, looked up in the result file of the last run. FILE is a result file; every
finding in it is judged. The result file says which scenarios to run, and nothing of what is sent. As in a run, what the
scenarios create is removed at the end; what stays is in ledger.jsonl beside the result file (agentconform clean).

Exit codes: 0 all pass now, 1 at least one still fails, 2 wrong usage or configuration, 3 none is seen to fail, and at least
one could not be judged (no answer, credentials refused, a precondition failed, inconclusive or skipped).`,
		Example: `  agentconform replay CP-LIST-3 --config vendor.yaml
  agentconform replay 3f2a91c04b7d --config vendor.yaml --target http://127.0.0.1:8080
  agentconform replay out/result.json --config vendor.yaml`,
		Args: arguments(1, 1, "the ID of one finding or requirement, or one result file, such as CP-LIST-3"),
		RunE: func(c *cobra.Command, args []string) error { return f.replay(c, args[0], io) },
	}
	f.target.add(c)
	c.Flags().StringVar(&f.result, "result", filepath.Join(defaultOut, "result.json"), "result `file` in which an ID is looked up")
	return c
}

func (f *replayFlags) replay(c *cobra.Command, name string, io streams) error {
	cfg, err := f.target.load(c)
	if err != nil {
		return err
	}
	result, findings, err := f.findings(name)
	if err != nil {
		return err
	}
	if cfg.Target == "" && cfg.AgentTarget == "" {
		return errors.New("no target is configured: name one with --config, --target or --agent-target (the bundled reference of a run is gone when the run ends)")
	}
	catalogue, err := features.Load()
	if err != nil {
		return err
	}
	oracle, err := spec.New()
	if err != nil {
		return err
	}
	screen := newScreen(io, "")
	ledger := filepath.Join(filepath.Dir(f.result), "ledger.jsonl")
	answers, left, err := replay.Judge(c.Context(), steps.Options{
		Config: cfg, Catalogue: catalogue, Oracle: oracle, Seed: seedOr(result.Run.Seed), ID: runID(), Version: suiteVersion(),
		LedgerFile: ledger, Progress: screen.show,
	}, result, findings)
	screen.close()
	if err != nil {
		return &exit{exitIncomplete, err}
	}
	if len(left) > 0 {
		fmt.Fprintf(io.err, "not removed: %s; remove with agentconform clean --ledger %s\n", reports.Count(len(left), "deployment"), safe.Line(ledger))
	}
	return failed(tellAnswers(answers, io))
}

// findings reads the result and finds what is meant: all that a file holds, or those that have the name.
func (f *replayFlags) findings(name string) (*reports.Result, []reports.Finding, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		f.result = name
		result, err := reports.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		if len(result.Findings) == 0 {
			return nil, nil, fmt.Errorf("%s holds no findings: there is nothing to replay", name)
		}
		return result, result.Findings, nil
	}
	result, err := reports.ReadFile(f.result)
	if err != nil {
		return nil, nil, fmt.Errorf("looking up %s: %w, with --result", name, err)
	}
	findings, err := replay.Find(result, name)
	return result, findings, err
}

// tellAnswers prints a line for each finding and, where there are several, one for all. A finding that still fails decides
// the exit code, then one that could not be judged.
func tellAnswers(answers []replay.Answer, io streams) int {
	count := map[reports.Verdict]int{}
	for _, a := range answers {
		count[a.Verdict]++
		told := "passes now"
		switch a.Verdict {
		case reports.Failed:
			told = "still fails: " + a.Reason
		case reports.Inconclusive:
			told = "cannot tell, because " + a.Reason
		}
		fmt.Fprintln(io.out, safe.Line(safe.Ellipsis(fmt.Sprintf("%s %s (%s) %s", a.Finding.Requirement, a.Finding.ID, a.Finding.Summary, told), 1000)))
	}
	if len(answers) > 1 {
		fmt.Fprintf(io.out, "%d of %d still fail, %d pass now, %d cannot be told\n", count[reports.Failed], len(answers), count[reports.Passed], count[reports.Inconclusive])
	}
	switch {
	case count[reports.Failed] > 0:
		return exitNonConformant
	case count[reports.Inconclusive] > 0:
		return exitIncomplete
	}
	return exitConformant
}
