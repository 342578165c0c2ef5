package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// runFlags are the flags of run as they were given.
type runFlags struct {
	target                   targetFlags
	out, tags, format        string
	only, skip, profiles     []string
	baseline, writeBaseline  string
	failOn                   []string // "should", or tag expressions
	strict, requireWhole     bool
	keep, readOnly, plan     bool
	failFast, quiet, verbose bool
	concurrency              int
	timeout, wait            time.Duration
	seed                     int64
	explore                  int
	exploreCase              string
	edition                  string
	color                    string
	arguments                []string // of the program
	bundled                  bool     // the reference is tested, because no target is named
}

// targetFlags say what is judged.
type targetFlags struct{ target, agentTarget, config string }

func (t *targetFlags) add(c *cobra.Command) {
	t.addAddresses(c)
	t.addConfig(c)
}

func (t *targetFlags) addAddresses(c *cobra.Command) {
	c.Flags().StringVar(&t.target, "target", "", "base `URL` of the control plane")
	c.Flags().StringVar(&t.agentTarget, "agent-target", "", "base `URL` of a deployed agent server")
}

func (t *targetFlags) addConfig(c *cobra.Command) {
	c.Flags().StringVar(&t.config, "config", "", "configuration `file` (default "+config.DefaultFile+", if it exists)")
}

// addresses are the values of these flags by key. They name what is judged: with one of them, the other address of the file
// or the environment is left out, and nothing else is judged in place of what a variable of CI failed to name.
func (t *targetFlags) addresses(c *cobra.Command) (map[string]string, error) {
	given := map[string]string{}
	for _, flag := range []string{"target", "agent-target"} {
		if !c.Flags().Changed(flag) {
			continue
		}
		if c.Flags().Lookup(flag).Value.String() == "" {
			return nil, fmt.Errorf("--%s is empty: name a URL, or remove the flag", flag)
		}
		given["target"], given["agent_target"] = t.target, t.agentTarget
	}
	return given, nil
}

// load reads the configuration with these flags over it.
func (t *targetFlags) load(c *cobra.Command) (*config.Config, error) {
	given, err := t.addresses(c)
	if err != nil {
		return nil, err
	}
	if c.Flags().Changed("config") && t.config == "" {
		return nil, errors.New("--config is empty: name a file, or remove the flag")
	}
	return reading(c.Context(), "the configuration", func() (*config.Config, error) {
		return config.Load(config.Sources{File: t.config, Environ: os.Environ(), Flags: given})
	})
}

// addressesOf are the addresses of the target that are configured.
func addressesOf(c *config.Config) []string {
	return slices.DeleteFunc([]string{c.Target, c.AgentTarget}, func(address string) bool { return address == "" })
}

// defaultOut is where reports are written unless the user says otherwise.
const defaultOut = "agentconform-out"

func newRun(io streams) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Test a target, by default the bundled reference, and write the reports",
		Long: `Test a target and write the reports.

Without a target, run starts the bundled reference in the same process and tests it over HTTP. With --agent-target alone,
only the requirements of the agent server are tested. With --target alone, the agent server is the one that the control
plane deploys during the run. A configuration file may name either or both; if one of the flags is given, both addresses
of the file are ignored.

Credentials come from the configuration file or the environment, never from flags: AGENTCONFORM_CREDENTIALS_API_KEY. Every
other key of the configuration has a variable too (agentconform help config).

With --read-only nothing is written to the target: the deployment of existing.deployment is read, or one that the control plane
lists, and its agent server, as far as that needs no thread or run of the suite's own. The run is partial.

At the end, deployments and threads that the run created are removed where the target takes DELETE, within 30 seconds; --keep leaves
them. What is left is in the ledger, and agentconform clean removes it.

The verdict and each failure are written to standard output, progress and warnings to standard error.

Exit codes: 0 conformant, 1 a MUST failed, 2 wrong usage or configuration, 3 incomplete (target unreachable, blocked,
inconclusive or interrupted). With --baseline: 0 no new failure, 1 a new failure, or an entry that no longer applies.`,
		Example: `  agentconform run
  agentconform run --edition self-hosted
  AGENTCONFORM_CREDENTIALS_API_KEY=... agentconform run --config vendor.yaml --target https://control.example
  agentconform run --agent-target https://agents.example/my-agent --config vendor.yaml
  agentconform run --only 'CP-LIST-*' --fail-fast --verbose
  agentconform run --skip CP-LIST-13,AS-ROLLBACK-5
  agentconform run --tags '@must and not @slow'
  agentconform run --config vendor.yaml --fail-on @security
  agentconform run --config production.yaml --read-only
  agentconform run --config vendor.yaml --skip 'AS-ROLLBACK-*' --plan
  agentconform run --config vendor.yaml --wait 60s
  agentconform run --config vendor.yaml --quiet --require-whole`,
		Args: noArguments("name the target with --target or --config, and requirements with --only"),
		RunE: func(c *cobra.Command, _ []string) error {
			f.arguments = os.Args[1:]
			return f.run(c, io)
		},
	}
	f.target.add(c)
	addColor(c, &f.color)
	f.addSelection(c)
	flags := c.Flags()
	flags.StringVar(&f.out, "out", defaultOut, "`folder` for the reports")
	flags.IntVar(&f.concurrency, "concurrency", steps.DefaultConcurrency, "requests in flight at the same time")
	flags.BoolVar(&f.strict, "strict", false, "a failed SHOULD counts as a failed MUST")
	flags.StringArrayVar(&f.failOn, "fail-on", nil, "requirements that match the tag `expression`, such as @security, or should for that level, count as MUST; may be given again")
	flags.BoolVar(&f.keep, "keep", false, "leave what the run created at the target; agentconform clean removes it")
	flags.BoolVar(&f.readOnly, "read-only", false, "write nothing to the target: no POST but searches, no PATCH, no DELETE; requirements that need a write are skipped")
	flags.BoolVar(&f.plan, "plan", false, "print what the run would create and what it leaves out; send nothing")
	flags.BoolVar(&f.requireWhole, "require-whole", false, "a run that did not test every applicable requirement is incomplete (exit code 3)")
	flags.BoolVar(&f.failFast, "fail-fast", false, "end the run when a MUST has failed that has no entry in the baseline; reports are written, deployments and threads removed")
	flags.StringVar(&f.baseline, "baseline", "", "`file` of known failures, which do not fail the run")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write the failures of this run as a baseline to the `file`; entries of an existing file that still apply stay")
	flags.DurationVar(&f.timeout, "timeout", 0, "end the run after this time, such as 10m (0: no limit)")
	flags.Int64Var(&f.seed, "seed", 0, "order of the scenarios (0: random; the reports show it)")
	flags.IntVar(&f.explore, "explore", steps.ExploreAutomatically, "send so many `operations` in random sequences (default 200 where all is tested and the target is on this machine, else 0); to a control plane elsewhere only with max_deployments")
	flags.StringVar(&f.exploreCase, "explore-case", "", "send the sequence of operations in the `file` in place of random ones")
	flags.DurationVar(&f.wait, "wait", 0, "wait until the target answers anything over HTTP, at most for this time, such as 60s (0: do not wait)")
	addChoice(c, &f.format, "format", "output: pretty, plain or json (default pretty on a terminal, else plain)", formatPretty, formatPlain, formatJSON)
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict line and errors only")
	flags.BoolVar(&f.verbose, "verbose", false, "print each scenario when it ends, with its verdict and time")
	addEdition(c, &f.edition, "edition of the bundled reference: cloud or self-hosted (only without a target)")
	return c
}

// addSelection adds the flags that say which scenarios are run.
func (f *runFlags) addSelection(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.profiles, "profile", nil, "parts of the interface to test: control-plane, agent-server, end-to-end; what a target claims is the key supports")
	flags.StringSliceVar(&f.only, "only", nil, "`IDs` of the requirements to test; CP-LIST-* matches all that begin with CP-LIST-")
	flags.StringSliceVar(&f.skip, "skip", nil, "`IDs` of requirements not to test; they are reported as skipped")
	flags.StringVar(&f.tags, "tags", "", "run the scenarios that match the tag `expression`")
	_ = c.RegisterFlagCompletionFunc("only", completeRequirements)
	_ = c.RegisterFlagCompletionFunc("skip", completeRequirements)
	_ = c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions([]string{features.ControlPlane, features.AgentServer, features.EndToEnd}, cobra.ShellCompDirectiveNoFileComp))
}

func addEdition(c *cobra.Command, edition *string, usage string) {
	addChoice(c, edition, "edition", usage, config.Cloud, config.SelfHosted)
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

// check refuses invalid flags, before anything is started.
func (f *runFlags) check() error {
	switch {
	case f.concurrency < 1 || f.concurrency > 256:
		return fmt.Errorf("--concurrency %d: give a number from 1 to 256", f.concurrency)
	case f.timeout < 0:
		return fmt.Errorf("--timeout %s: give a duration above zero, such as 10m", f.timeout)
	case f.wait < 0:
		return fmt.Errorf("--wait %s: give a duration above zero, such as 60s", f.wait)
	case f.readOnly && f.keep:
		return errors.New("--read-only creates nothing that --keep could leave: give one of them")
	case f.plan && (f.writeBaseline != "" || f.format == formatJSON || f.quiet):
		return errors.New("--plan prints text and judges nothing: remove --write-baseline, --format json or --quiet")
	case f.plan && f.wait > 0:
		return errors.New("--plan sends nothing, so there is nothing to wait for: remove --wait")
	case f.quiet && f.verbose:
		return errors.New("--quiet and --verbose exclude each other: give one of them")
	case f.explore < steps.ExploreAutomatically:
		return fmt.Errorf("--explore %d: give a number of operations, 0 for none", f.explore)
	case f.readOnly && (f.explore > 0 || f.exploreCase != ""):
		return errors.New("--read-only writes nothing, and exploration creates deployments, threads and runs: remove --explore and --explore-case")
	case f.explore >= 0 && f.exploreCase != "":
		return errors.New("--explore-case takes the place of --explore: give one of them")
	case f.seed < 0:
		return fmt.Errorf("--seed %d: give a number above zero, or remove the flag for a random order", f.seed)
	case f.out == "":
		return errors.New("--out is empty: name a folder for the reports")
	}
	return nil
}

func (f *runFlags) selection() steps.Selection {
	return steps.Selection{Only: f.only, Skip: f.skip, Tags: f.tags, Profiles: f.profiles}
}

func (f *runFlags) run(c *cobra.Command, io streams) error {
	if err := f.check(); err != nil {
		return err
	}
	cfg, err := f.target.load(c)
	if err != nil {
		return err
	}
	cfg.ReadOnly = f.readOnly
	if err := export.Check(f.out); err != nil && !f.plan {
		return fmt.Errorf("--out: %w", err)
	}
	if err := f.checkWriteBaseline(c.Flags().Changed("write-baseline")); err != nil {
		return err
	}
	known, err := f.loadBaseline(c.Context(), io)
	if err != nil {
		return err
	}
	ctx := c.Context()
	defer tellInterrupt(ctx, io)()
	if f.bundled = cfg.Target == "" && cfg.AgentTarget == ""; f.bundled {
		stop, err := startBundled(ctx, cfg, f.edition)
		if err != nil {
			return &exit{exitIncomplete, err}
		}
		defer stop()
	} else if f.edition != "" {
		return errors.New("--edition is for the bundled reference, but a target is configured: remove one of them")
	} else if f.wait > 0 {
		f.tell(io, "waiting for %s, at most %s", strings.Join(addressesOf(cfg), " and "), f.wait)
		if err := steps.Await(ctx, cfg, f.wait); err != nil {
			return &exit{exitIncomplete, fmt.Errorf("waiting for the target: %w", err)}
		}
	}
	limitMemory(f.concurrency)
	served, stop, err := startFixtures(cfg)
	if err != nil {
		return err
	}
	defer stop()
	if f.plan {
		return f.preview(cfg, f.selection(), io)
	}
	if served != nil {
		f.tell(io, "fixtures are served at %s, for builders at %s", served.Listening(), served.Advertised())
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, &steps.Stopped{By: "--timeout " + f.timeout.String()})
		defer cancel()
	}
	return f.judge(ctx, cfg, served, f.selection(), known, io)
}
