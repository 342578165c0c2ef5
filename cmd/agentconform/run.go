package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/events"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/spec/requirements"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// runFlags are the flags of run. Flags that the suite takes unchanged are in options.
type runFlags struct {
	targetFlags
	display
	options                          steps.Options
	known                            *baseline.Baseline // the known failures of --baseline, or nil
	events                           *events.Writer     // nil without --format jsonl
	token                            string             // with --format github, until commands are enabled again: see inWorkflow
	out, reports                     string
	baseline, writeBaseline          string
	edition, exploreCase, set        string
	readOnly, plan, failFast, strict bool
	timeout, wait                    time.Duration
}

func newRun() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run",
		Short: "Test a target, by default the bundled reference",
		Long: `Test a target and write the reports.

Without a target and a configuration file, run tests the bundled reference. With only --agent-target, only the
requirements of the agent server are tested. With only --target, the agent server is the one that the control plane
deploys during the test run. One of these flags replaces both addresses of the configuration.

Credentials come from the configuration file or the environment (AGENTCONFORM_CREDENTIALS_API_KEY), never from flags.
Each key of the configuration has an environment variable (agentconform help config).

With a command after --, run starts that server, waits until it answers (--wait, else 60s), tests it and stops it. The
server does not get the suite's environment variables (AGENTCONFORM_*).

With --read-only the test run reads the deployment of existing.deployment, or one that the control plane lists, and its
agent server. It is partial.

At the end, deployments and threads that were created are removed if the target supports DELETE, within 30 seconds. The
ledger lists those that could not be removed, and agentconform clean removes them later.

The verdict and each failure are written to standard output, progress and warnings to standard error. --format json
writes the result in place of them. --format jsonl writes one event per line during the test run (agentconform schema
--of events describes them). --format github adds an annotation for each problem, the summary of the job, and the
outputs verdict, counts and report of the step.

Exit codes: 0 conformant, 1 a MUST failed, 2 wrong usage or configuration, 3 incomplete (target unreachable, could
not tell, or stopped). With --baseline: 0 no new failure, 1 a new failure, or an entry that no longer applies.`,
		Example: `  agentconform run
  agentconform run --edition self-hosted
  export AGENTCONFORM_CREDENTIALS_API_KEY=...
  agentconform run --config vendor.yaml --target https://control.example
  agentconform run --config vendor.yaml --agent-target https://agents.example/a
  agentconform run --only 'CP-LIST-*' --fail-fast --verbose
  agentconform run --tags '@must and not @slow'
  agentconform run --config vendor.yaml --fail-on @security
  agentconform run --config production.yaml --read-only
  agentconform run --config vendor.yaml --repeat 10 --write-baseline known.yaml
  agentconform run --config vendor.yaml --skip CP-LIST-13,'AS-ROLLBACK-*' --plan
  agentconform run --format jsonl | jq -r 'select(.event == "problem") | .title'
  agentconform run --agent-target http://127.0.0.1:8123 -- ./server --port 8123`,
		Args: serverCommand,
		RunE: f.run,
	}
	f.targetFlags.add(c)
	f.addSelection(c)
	f.addOutput(c)
	flags := c.Flags()
	flags.IntVar(&f.options.Concurrency, "concurrency", suite.DefaultConcurrency, "requests in flight at the same time")
	flags.BoolVar(&f.strict, "strict", false, "a failed SHOULD counts as a failed MUST, as with --fail-on should")
	flags.StringArrayVar(&f.options.FailOn, "fail-on", nil,
		"requirements that match the tag `expression`, such as @security, or should for that level, count as MUST")
	flags.BoolVar(&f.options.Keep, "keep", false,
		"do not remove the deployments and threads that were created; agentconform clean removes them")
	flags.BoolVar(&f.readOnly, "read-only", false,
		"write nothing to the target: no POST except searches, no PATCH, no DELETE; requirements that need a write are skipped")
	flags.BoolVar(&f.plan, "plan", false, "print what the test run would create, judge and skip; send nothing")
	flags.BoolVar(&f.options.RequireWhole, "require-whole", false,
		"a partial test run is incomplete (exit code 3), even if a half has no address or is not in supports")
	flags.BoolVar(&f.failFast, "fail-fast", false,
		"end the test run at the first failure that counts; what was created is removed, and reports are written")
	flags.IntVar(&f.options.Repeat, "repeat", 1, fmt.Sprintf("judge the scenarios `N` times, at most %d, and report how often "+
		"each requirement passed; its worst result is its verdict", suite.MaxRepeat))
	flags.StringVar(&f.baseline, "baseline", "", "`file` of known failures, which do not count as failures")
	flags.StringVar(&f.writeBaseline, "write-baseline", "",
		"write the failures of this test run as a baseline to the `file`; keep entries of an existing file that still apply")
	flags.DurationVar(&f.timeout, "timeout", 0, "end the test run after this time, such as 10m (0: no limit)")
	flags.Int64Var(&f.options.Seed, "seed", 0, "order of the scenarios (0: random; the reports show it)")
	flags.IntVar(&f.options.Explore, "explore", suite.Automatic,
		"number of `operations` to send in random sequences (default 200 if everything is tested and the target is on this "+
			"machine, else 0); for a control plane on another machine max_deployments must be set")
	flags.StringVar(&f.exploreCase, "explore-case", "",
		"send the sequence of operations in the `file` in place of random ones")
	flags.DurationVar(&f.wait, "wait", 0,
		"wait until the target sends any HTTP response, at most for this time, such as 60s (0: do not wait)")
	flags.BoolVar(&f.verbose, "verbose", false, "print each scenario when it ends, with its verdict and time, and at the end the longest chain of requests")
	addEdition(c, &f.edition, ": edition of the bundled reference (only without a target)")
	return c
}

// addSelection adds the flags that select the scenarios.
func (f *runFlags) addSelection(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.options.Select.Profiles, "profile", nil,
		"parts of the interface to test: control-plane, agent-server, end-to-end; the claim of a target is the key supports")
	flags.StringSliceVar(&f.options.Select.Only, "only", nil,
		"`IDs` of the requirements to test; CP-LIST-* matches all that begin with CP-LIST-")
	flags.StringSliceVar(&f.options.Select.Skip, "skip", nil,
		"`IDs` of requirements not to test; they are reported as skipped")
	flags.StringVar(&f.options.Select.Tags, "tags", "", "run the scenarios that match the tag `expression`")
	addChoice(c, &f.set, "requirements", ": `version` of the requirement set that counts; newer requirements and scenarios are "+
		"tested and shown, but do not count (default: everything counts)", requirements.Versions()...)
	_ = c.RegisterFlagCompletionFunc("only", completeRequirements)
	_ = c.RegisterFlagCompletionFunc("skip", completeRequirements)
	_ = c.RegisterFlagCompletionFunc("profile",
		cobra.FixedCompletions(features.Profiles, cobra.ShellCompDirectiveNoFileComp))
}

// addOutput adds the flags for standard output and the reports. The result contains the arguments of the command, and
// [reports.Run.Reports] finds the flag --reports there.
func (f *runFlags) addOutput(c *cobra.Command) {
	addColor(c, &f.color)
	addChoice(c, &f.format, "format", " (default pretty on a terminal, else plain)", formatPretty, formatPlain,
		formatJSON, formatJSONL, formatGitHub)
	flags := c.Flags()
	flags.BoolVar(&f.quiet, "quiet", false, "print the verdict line and errors only")
	flags.StringVar(&f.out, "out", reports.DefaultOut, "`folder` for the reports; earlier reports in it are removed first")
	flags.StringVar(&f.reports, "reports", "", "`names` of the reports to write: html, junit, summary, badge, support, "+
		"scripts, har, cucumber, or all; result.json is always written (default all but har and cucumber)")
}

// checkOutput returns an error for an unknown name in --reports, and for a folder with files of another program.
func (f *runFlags) checkOutput() error {
	if f.reports != "" {
		if _, err := reports.ParseReports(f.reports); err != nil {
			return fmt.Errorf("--reports: %w", err)
		}
	}
	err := export.Check(f.out)
	if err != nil && !f.plan {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

func addEdition(c *cobra.Command, edition *string, more string) {
	addChoice(c, edition, "edition", more, config.Cloud, config.SelfHosted)
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

// check refuses invalid flags.
func (f *runFlags) check() error {
	o := f.options
	switch {
	case o.Concurrency < 1 || o.Concurrency > 256:
		return fmt.Errorf("--concurrency %d: give a number from 1 to 256", o.Concurrency)
	case o.Repeat < 1 || o.Repeat > suite.MaxRepeat:
		return fmt.Errorf("--repeat %d: give a number from 1 to %d", o.Repeat, suite.MaxRepeat)
	case f.timeout < 0:
		return fmt.Errorf("--timeout %s: give a duration above zero, such as 10m", f.timeout)
	case f.wait < 0:
		return fmt.Errorf("--wait %s: give a duration above zero, such as 60s", f.wait)
	case f.readOnly && o.Keep:
		return errors.New("--read-only creates nothing that --keep could keep: give one of them")
	case f.plan && (f.writeBaseline != "" || f.isForPrograms() || f.quiet):
		return errors.New("--plan prints text and judges nothing: remove --write-baseline, --quiet, or --format json or jsonl")
	case f.plan && f.wait > 0:
		return errors.New("--plan sends nothing, so there is nothing to wait for: remove --wait")
	case f.quiet && f.verbose:
		return errors.New("--quiet and --verbose exclude each other: give one of them")
	case o.Explore < suite.Automatic:
		return fmt.Errorf("--explore %d: give a number of operations, 0 for none", o.Explore)
	case f.readOnly && (o.Explore > 0 || f.exploreCase != ""):
		return errors.New("--read-only writes nothing, and exploration creates deployments, threads and runs: " +
			"remove --explore and --explore-case")
	case o.Explore >= 0 && f.exploreCase != "":
		return errors.New("--explore-case takes the place of --explore: give one of them")
	case o.Seed < 0:
		return fmt.Errorf("--seed %d: give a number above zero, or remove the flag for a random order", o.Seed)
	}
	return nil
}

// prepare reads and checks flags and files before anything is started, because a mistake must not cost a test run.
func (f *runFlags) prepare(c *cobra.Command) (*config.Config, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.checkOutput(); err != nil {
		return nil, err
	}
	cfg, err := f.load()
	if err != nil {
		return nil, err
	}
	cfg.ReadOnly = f.readOnly
	f.bundled = len(cfg.Addresses()) == 0
	if f.strict && !slices.Contains(f.options.FailOn, "should") {
		f.options.FailOn = append(f.options.FailOn, "should")
	}
	if err := f.checkWriteBaseline(); err != nil {
		return nil, err
	}
	if err := f.readExploreCase(); err != nil {
		return nil, err
	}
	if err := f.loadBaseline(c); err != nil {
		return nil, err
	}
	if f.set == "" {
		return cfg, nil
	}
	f.options.Set, err = requirements.Load(f.set)
	return cfg, err
}

func (f *runFlags) run(c *cobra.Command, args []string) error {
	cfg, err := f.prepare(c)
	if err != nil {
		return err
	}
	if len(args) > 0 && len(cfg.Addresses()) == 0 {
		return errors.New("name the address of the server that the command starts: --target or --agent-target")
	}
	ctx := c.Context()
	defer announceInterrupt(c, f.out)()
	f.options.LedgerFile = filepath.Join(f.out, "ledger.jsonl")
	stop, err := open(ctx, cfg, f.edition, &f.options)
	if err != nil {
		return err
	}
	defer stop()
	if f.plan {
		return f.preview(c.OutOrStdout())
	}
	return f.inWorkflow(c.OutOrStdout(), func() error { return f.test(ctx, c, cfg, args) })
}

// test starts the server of a command, if there is one, and runs the suite.
func (f *runFlags) test(ctx context.Context, c *cobra.Command, cfg *config.Config, args []string) error {
	if err := export.Begin(f.out); err != nil {
		return fmt.Errorf("preparing the folder for the reports: %w; name another with --out", err)
	}
	if len(args) > 0 {
		stop, err := f.startServer(ctx, c, cfg, args)
		if err != nil {
			return err
		}
		defer stop()
	} else if f.wait > 0 {
		f.notify(c, "waiting for %s, at most %s", strings.Join(cfg.Addresses(), " and "), f.wait)
		if err := target.Await(ctx, cfg, f.wait); err != nil {
			return &exit{fmt.Errorf("waiting for the target: %w", err), exitIncomplete}
		}
	}
	served := f.options.Fixtures
	if served != nil {
		f.notify(c, "fixtures are served at %s, for builders at %s", served.Listening(), served.Advertised())
	}
	limitMemory(f.options.Concurrency)
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, &steps.Stopped{By: "--timeout " + f.timeout.String()})
		defer cancel()
	}
	return f.judge(ctx, c)
}
