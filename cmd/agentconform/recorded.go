package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/events"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/recording"
)

func newJudge() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "judge FILE.har",
		Short: "Judge a recording of other clients, and send nothing",
		Long: `Judge the exchanges of a HAR file that others recorded: end-to-end tests, a canary, a browser, or serve --proxy URL
--record FILE. Requirements that need no requests of their own are judged: the contract, errors, and what must be true of
all responses. Nothing is sent.

--target and --agent-target, or the configuration, select the exchanges by their addresses. Agent servers that a response
of the control plane names are selected too. The configuration also tells which credentials are those of which user:
isolation is judged for these users, and otherwise only for callers without credentials. What is rolled back is judged by
the status of runs. What the recording cannot show is reported as not tested, with the reason.

A recording must have all writes to the deployments and threads in it. Other credentials than those of the configuration
are hidden in the reports. A recording never shows that a server is conformant.

Exit codes: 0 no MUST is violated, 1 a MUST is violated, 2 wrong usage, or not a HAR file, 3 nothing was judged.`,
		Example: `  agentconform judge traffic.har --target https://control.example
  agentconform judge traffic.har --config vendor.yaml --out judged
  agentconform serve --proxy https://agents.example/a --record traffic.har
  agentconform judge traffic.har --agent-target https://agents.example/a`,
		Args: arguments(1, 1, "one HAR file, such as traffic.har"),
		RunE: f.judgeRecording,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"har"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f.targetFlags.add(c)
	f.addOutput(c)
	return c
}

func (f *runFlags) judgeRecording(c *cobra.Command, args []string) error {
	if err := f.checkOutput(); err != nil {
		return err
	}
	return f.inWorkflow(c.OutOrStdout(), func() error { return f.judgeFile(c, args[0]) })
}

// judgeFile judges the recording in a file and writes the reports.
func (f *runFlags) judgeFile(c *cobra.Command, file string) error {
	cfg, err := f.loadNamed()
	if err != nil {
		return err
	}
	cfg.Fixtures.Serve = "" // there are no builds
	stop, err := open(c.Context(), cfg, "", &f.options)
	if err != nil {
		return err
	}
	defer stop()
	limitMemoryTo(memoryOfRecording)
	from, err := recording.Open(file)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // the file was only read
	if err := export.Begin(f.out); err != nil {
		return fmt.Errorf("preparing the folder for the reports: %w; name another with --out", err)
	}
	result, err := steps.JudgeRecording(c.Context(), f.options, from)
	if err != nil {
		return &exit{err, exitIncomplete}
	}
	if f.format == formatJSONL {
		f.events = events.NewWriter(c.OutOrStdout())
	}
	return f.report(c, result)
}
