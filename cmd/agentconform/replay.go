package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
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
		Short: "Send the exchanges behind a finding again, and show what is different",
		Long: `Send the exchanges behind a finding again, to the same or another target, and show what is different.

ID is the id of a finding or the ID of a requirement, looked up in the result file of the last run. FILE is a result
file; every finding in it is replayed. What a finding needs, such as the creation of its deployment, is sent before
it, with the ids that the target gives now.

Exit codes: 0 the target answers differently now, 1 it answers as it did, 2 wrong usage, 3 nothing could be sent.`,
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
	again := 0
	for _, finding := range findings {
		same, err := replayOne(c, cfg, result, finding, io)
		if err != nil {
			return &exit{exitIncomplete, err}
		}
		if same {
			again++
		}
	}
	if len(findings) == 1 && again == 1 {
		fmt.Fprintln(io.out, "the finding is answered as it was")
	} else if len(findings) == 1 {
		fmt.Fprintln(io.out, "the finding is answered differently now")
	} else {
		fmt.Fprintf(io.out, "%d of %d findings are answered as they were\n", again, len(findings))
	}
	if again > 0 {
		return failed(exitNonConformant)
	}
	return nil
}

// findings reads the result and finds what is meant: all that a file holds, or those that have the name.
func (f *replayFlags) findings(name string) (*reports.Result, []reports.Finding, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
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

// replayOne tells whether the last answer, the one that shows the finding, is as it was.
func replayOne(c *cobra.Command, cfg *config.Config, result *reports.Result, finding reports.Finding, io streams) (same bool, err error) {
	fmt.Fprintf(io.out, "%s %s: %s\n", finding.Requirement, finding.ID, safe.Line(finding.Summary))
	plan, err := replay.Plan(result, finding)
	if err != nil {
		return false, err
	}
	sender := &replay.Sender{Config: cfg, Recorded: result.Target}
	err = sender.Send(c.Context(), plan, func(s replay.Step) {
		state := "as it was"
		if same = s.Same(); !same {
			state = fmt.Sprintf("was %d", s.Was.Status)
		}
		fmt.Fprintf(io.out, "  %s %s → %s (%s)\n", s.Was.Method, safe.Line(s.URL), answered(s), state)
		for _, d := range s.Differences {
			fmt.Fprintf(io.out, "      %s\n", safe.Line(d))
		}
	})
	return same, err
}

func answered(s replay.Step) string {
	if s.Status == 0 {
		return safe.Line(s.Error)
	}
	return fmt.Sprint(s.Status)
}
