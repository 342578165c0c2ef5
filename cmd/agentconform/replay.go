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
		Short: "Test findings of an earlier run again: do they still fail?",
		Long: `Test findings of an earlier run again, against the same or another target: run the scenarios that showed
them, and report for each finding whether it still fails.

ID is the ID of a finding or of a requirement in the result file of the last run (--result). FILE is a result file:
all its findings are tested. Only the scenarios to run are taken from it; addresses, credentials and requests are not.
What could not be removed at the end is in ledger.jsonl beside the result file (agentconform clean).

Exit codes: 0 all pass now, 1 at least one still fails, 2 wrong usage or configuration, 3 none fails, but at least one
could not be tested (target unreachable, credentials refused, a precondition failed, inconclusive or skipped).`,
		Example: `  agentconform replay CP-LIST-3 --config vendor.yaml
  agentconform replay 3f2a91c04b7d --config vendor.yaml --target http://127.0.0.1:8080
  agentconform replay out/result.json --config vendor.yaml`,
		Args: arguments(1, 1, "the ID of one finding or requirement, or one result file, such as CP-LIST-3"),
		RunE: f.replay,
	}
	f.add(c)
	c.Flags().StringVar(&f.result, "result", filepath.Join(defaultOut, "result.json"), "result `file` that holds the ID")
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
	cfg.ReadOnly = result.Run.ReadOnly // what did not write does not write now
	screen := newScreen(c.ErrOrStderr(), display{})
	folder := filepath.Dir(f.result)
	o := steps.Options{Seed: result.Run.Seed, LedgerFile: filepath.Join(folder, "ledger.jsonl"), Progress: screen.show}
	stop, err := open(c.Context(), cfg, "", &o)
	if err != nil {
		return err
	}
	defer stop()
	defer tellInterrupt(c, folder)()
	screen.follow()
	answers, now, err := replay.Judge(c.Context(), o, result, findings)
	screen.close()
	if err != nil {
		return err
	}
	if cleanup := overview.Of(now).Cleanup(folder); cleanup.NotRemoved != "" {
		text := reports.Joined("; remove with ", "not cleaned up: "+cleanup.NotRemoved, cleanup.Command)
		c.PrintErrln(safe.Line(text))
	}
	return &exit{errReported, tellAnswers(c, answers)}
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
			return nil, nil, fmt.Errorf("%s holds no findings: nothing to replay", name)
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

// becameOf says what became of a finding; the reason follows. One that passes has none.
var becameOf = map[reports.Verdict]string{reports.Passed: "passes now", reports.Failed: "still fails: ",
	reports.Inconclusive: "inconclusive: "}

// tellAnswers prints a line for each finding and, where there are several, one for all. A finding that still fails
// decides the exit code, then one that could not be judged.
func tellAnswers(c *cobra.Command, answers []replay.Answer) int {
	count := map[reports.Verdict]int{}
	for _, a := range answers {
		count[a.Verdict]++
		c.Println(safe.Line(safe.Ellipsis(fmt.Sprintf("%s %s (%s) %s%s", a.Finding.Requirement, a.Finding.ID,
			a.Finding.Summary, becameOf[a.Verdict], a.Reason), 1000)))
	}
	if len(answers) > 1 {
		c.Printf("%d of %d still fail, %d pass now, %d inconclusive\n", count[reports.Failed], len(answers),
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
