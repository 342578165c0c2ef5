package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/markdown"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// runFlags are the flags of run as they were given.
type runFlags struct {
	target                   targetFlags
	out, tags, shard, format string
	only, profiles           []string
	baseline, writeBaseline  string
	strict                   bool
	concurrency              int
	timeout                  time.Duration
	seed                     int64
	edition                  string
	command                  string
}

// targetFlags say what is judged.
type targetFlags struct{ target, agentTarget, config string }

func (t *targetFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&t.target, "target", "", "base `URL` of the control plane")
	c.Flags().StringVar(&t.agentTarget, "agent-target", "", "base `URL` of a deployed agent server")
	c.Flags().StringVar(&t.config, "config", "", "configuration `file` (default "+config.DefaultFile+", if it is there)")
}

// load reads the configuration with these flags over it. The flags name what is judged: with one of them, the other
// address of the file or the environment is left out.
func (t *targetFlags) load(c *cobra.Command) (*config.Config, error) {
	given := map[string]string{}
	if c.Flags().Changed("target") || c.Flags().Changed("agent-target") {
		given["target"], given["agent_target"] = t.target, t.agentTarget
	}
	if c.Flags().Changed("config") && t.config == "" {
		return nil, errors.New("--config is empty: name a file, or leave the flag out")
	}
	return config.Load(config.Sources{File: t.config, Environ: os.Environ(), Flags: given})
}

// defaultOut is where reports are written unless the user says otherwise.
const defaultOut = "agentconform-out"

func newRun(io streams) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Judge a target: the bundled reference, unless one is named",
		Long: `Judge a target and write the reports.

Without a target the bundled reference is started in the process and judged over real HTTP. With --agent-target alone
only the agent server's requirements are judged. With --target alone the agent server is the one that the control plane
deploys in this run. A configuration file may name either or both; flags replace both of its addresses.

Credentials come from the configuration file or the environment, never from flags: AGENTCONFORM_CREDENTIALS_API_KEY
and, for every other key of the configuration, AGENTCONFORM_ and its name.`,
		Example: `  agentconform run
  agentconform run --edition self-hosted
  AGENTCONFORM_CREDENTIALS_API_KEY=... agentconform run --config vendor.yaml --target https://control.example
  agentconform run --agent-target https://agents.example/my-agent --config vendor.yaml
  agentconform run --only 'CP-LIST-*' --out out
  agentconform run --tags '@must and not @slow' --shard 1/4`,
		Args: noArguments("--target or --config names what is judged, and --only the requirements"),
		RunE: func(c *cobra.Command, _ []string) error {
			f.command = "agentconform " + strings.Join(os.Args[1:], " ")
			return f.run(c, io)
		},
	}
	f.target.add(c)
	flags := c.Flags()
	flags.StringVar(&f.out, "out", defaultOut, "`folder` for the reports")
	flags.StringSliceVar(&f.profiles, "profile", nil, "parts of the interface that the target claims: control-plane, agent-server, end-to-end")
	flags.StringSliceVar(&f.only, "only", nil, "`IDs` of the requirements to judge; CP-LIST-* stands for all that begin so")
	flags.StringVar(&f.tags, "tags", "", "judge scenarios that match the tag `expression`")
	flags.IntVar(&f.concurrency, "concurrency", steps.DefaultConcurrency, "scenarios in flight")
	flags.BoolVar(&f.strict, "strict", false, "let a SHOULD decide the verdict as a MUST does")
	flags.StringVar(&f.baseline, "baseline", "", "`file` of known failures, which do not fail the run")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write the failures of this run as a baseline to the `file`")
	flags.StringVar(&f.shard, "shard", "", "judge part `I/N` of the requirements")
	flags.DurationVar(&f.timeout, "timeout", 0, "end the run after this time (0: no limit)")
	flags.Int64Var(&f.seed, "seed", 0, "order of the scenarios (0: a random one, which the report tells)")
	flags.StringVar(&f.format, "format", "", "console output: pretty, plain or json (default: pretty on a terminal, else plain)")
	flags.StringVar(&f.edition, "edition", "", "edition of the bundled reference: cloud or self-hosted (without a target only)")
	_ = c.RegisterFlagCompletionFunc("only", completeRequirements)
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"pretty", "plain", "json"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("edition", cobra.FixedCompletions([]string{config.Cloud, config.SelfHosted}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions([]string{features.ControlPlane, features.AgentServer, features.EndToEnd}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func completeRequirements(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	catalogue, err := features.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, r := range catalogue.Requirements {
		ids = append(ids, r.ID+"\t"+r.Title)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// check refuses flags that make no sense, before anything is started.
func (f *runFlags) check() error {
	switch {
	case f.concurrency < 1 || f.concurrency > 256:
		return fmt.Errorf("--concurrency %d: give a number from 1 to 256", f.concurrency)
	case f.timeout < 0:
		return fmt.Errorf("--timeout %s: give a duration above zero, such as 10m", f.timeout)
	case f.seed < 0:
		return fmt.Errorf("--seed %d: give a number above zero, or leave it out for a random order", f.seed)
	case f.out == "":
		return errors.New("--out is empty: name a folder for the reports")
	case f.format != "" && f.format != formatPretty && f.format != formatPlain && f.format != formatJSON:
		return fmt.Errorf("--format %s: give pretty, plain or json", f.format)
	case f.edition != "" && f.edition != config.Cloud && f.edition != config.SelfHosted:
		return fmt.Errorf("--edition %s: give %s or %s", f.edition, config.Cloud, config.SelfHosted)
	}
	return nil
}

func (f *runFlags) selection() (steps.Selection, error) {
	s := steps.Selection{Only: f.only, Tags: f.tags, Profiles: f.profiles}
	if f.shard == "" {
		return s, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(f.shard+" .", "%d/%d %s", &s.Shard, &s.Shards, &rest); n != 3 || rest != "." || s.Shard < 1 || s.Shard > s.Shards {
		return s, fmt.Errorf("--shard %s: give I/N with I from 1 to N, such as 1/4", f.shard)
	}
	return s, nil
}

func (f *runFlags) run(c *cobra.Command, io streams) error {
	if err := f.check(); err != nil {
		return err
	}
	selection, err := f.selection()
	if err != nil {
		return err
	}
	cfg, err := f.target.load(c)
	if err != nil {
		return err
	}
	known, err := f.loadBaseline()
	if err != nil {
		return err
	}
	ctx := c.Context()
	if cfg.Target == "" && cfg.AgentTarget == "" {
		stop, err := startBundled(ctx, cfg, f.edition)
		if err != nil {
			return &exit{exitIncomplete, err}
		}
		defer stop()
	} else if f.edition != "" {
		return errors.New("--edition chooses the edition of the bundled reference, and a target is named: leave one of them out")
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("the run's time (--timeout %s) was over", f.timeout))
		defer cancel()
	}
	return f.judge(ctx, cfg, selection, known, io)
}

// judge runs the suite and writes everything that is told of it.
func (f *runFlags) judge(ctx context.Context, cfg *config.Config, selection steps.Selection, known *baseline.Baseline, io streams) error {
	catalogue, err := features.Load()
	if err != nil {
		return err
	}
	oracle, err := spec.New()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("making the folder for the reports: %w; name another with --out", err)
	}
	journal, err := reports.NewJournal(f.out)
	if err != nil {
		return err
	}
	defer journal.Close()
	screen := newScreen(io, f.format)
	result, err := steps.Run(ctx, steps.Options{
		Config: cfg, Catalogue: catalogue, Oracle: oracle, Select: selection,
		Concurrency: f.concurrency, Strict: f.strict, Seed: seedOr(f.seed), ID: runID(),
		Version: suiteVersion(), Command: f.command,
		Journal: journal, LedgerFile: filepath.Join(f.out, "ledger.jsonl"), Progress: screen.show,
	})
	screen.close()
	if err != nil {
		return err
	}
	code := concluded(result, known)
	if err := f.write(result, screen, io); err != nil {
		return err
	}
	return failed(code)
}

func (f *runFlags) write(result *reports.Result, screen *screen, io streams) error {
	if err := export.Write(f.out, result); err != nil {
		return &exit{exitIncomplete, err}
	}
	if f.writeBaseline != "" {
		if err := baseline.Write(f.writeBaseline, result); err != nil {
			return &exit{exitIncomplete, err}
		}
	}
	if err := summarise(result, os.Getenv("GITHUB_STEP_SUMMARY")); err != nil {
		fmt.Fprintln(io.err, "agentconform:", err)
	}
	if f.format == formatJSON {
		return result.WriteJSON(io.out)
	}
	return console.Write(io.out, result, console.Options{Color: screen.color, Width: screen.width, Out: f.out})
}

// summarise appends the summary to the file that a CI system shows with the job.
func summarise(result *reports.Result, path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("opening GITHUB_STEP_SUMMARY: %w", err)
	}
	return errors.Join(markdown.Write(file, result), file.Close())
}

func seedOr(seed int64) int64 {
	if seed == 0 {
		return time.Now().UnixNano()%1_000_000 + 1
	}
	return seed
}

// runID names what the run creates at the target.
func runID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func exitCode(r *reports.Result) int {
	switch r.Verdict {
	case reports.Conformant:
		return exitConformant
	case reports.NonConformant:
		return exitNonConformant
	}
	return exitIncomplete
}
