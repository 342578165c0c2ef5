package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

type initFlags struct {
	target, agentTarget, edition string
	file                         string
	force                        bool
	timeout                      time.Duration
}

func newInit(s streams) *cobra.Command {
	f := &initFlags{}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a commented configuration with what can be learned from a target",
		Long: `Write a commented configuration for a target. The flags name the target: a control plane, an agent server, or both. init asks it
what it can without creating anything: whether credentials are accepted, whether deployments are listed, at which path they have the
agent server's URL, how threads are listed, and with which status and detail wrong credentials are refused. Each key has a comment
that says how its value was learned; what could not be learned is left as a comment that says what to put there. An agent server that
only a deployment names is written down, and not asked.

Credentials are those of the environment, such as AGENTCONFORM_CREDENTIALS_API_KEY and AGENTCONFORM_USERS_0_TOKEN. They are sent to
the target, and never written: the file names the variables, or files that hold them ({file: path}).

An existing file is not read, and is replaced with --force only.

Exit codes: 0 written, 2 wrong usage, or the file could not be written, 3 written, but an address gave no usable answer, or
not written, because --timeout was reached.`,
		Example: `  agentconform init --agent-target https://agents.example/my-agent
  AGENTCONFORM_CREDENTIALS_API_KEY=... agentconform init --target https://control.example --edition cloud
  agentconform init --target https://control.example --agent-target https://agents.example/my-agent --output vendor.yaml`,
		Args: noArguments("name the target with --target, --agent-target or both, and the file with --output"),
		RunE: func(c *cobra.Command, _ []string) error { return f.init(c, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "base `URL` of the control plane")
	flags.StringVar(&f.agentTarget, "agent-target", "", "base `URL` of a deployed agent server")
	flags.StringVar(&f.edition, "edition", "", "edition of the target: cloud or self-hosted (default: that of the deployments that it lists)")
	flags.StringVar(&f.file, "output", config.DefaultFile, "`file` to write")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "stop asking the target after this time, and write nothing (0: no limit)")
	flags.BoolVar(&f.force, "force", false, "replace the file if it exists")
	_ = c.RegisterFlagCompletionFunc("edition", cobra.FixedCompletions([]string{config.Cloud, config.SelfHosted}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// load reads flags and environment; no file. Users whose tokens are in the environment get names there.
func (f *initFlags) load(c *cobra.Command) (*config.Config, error) {
	switch {
	case f.file == "":
		return nil, errors.New("--output is empty: name the file to write, or remove the flag")
	case f.timeout < 0:
		return nil, fmt.Errorf("--timeout %s: give a duration above zero, such as 10m", f.timeout)
	}
	given := map[string]string{}
	if c.Flags().Changed("target") || c.Flags().Changed("agent-target") { // as for run: they name the target
		given["target"], given["agent_target"] = f.target, f.agentTarget
	}
	if c.Flags().Changed("edition") {
		given["edition"] = f.edition
	}
	cfg, err := reading(c.Context(), "the configuration", func() (*config.Config, error) {
		return config.Load(config.Sources{Environ: namedUsers(os.Environ()), Flags: given, NoFile: true})
	})
	if err != nil {
		return nil, err
	}
	if cfg.Target == "" && cfg.AgentTarget == "" {
		return nil, errors.New("no target is named: give --target URL, --agent-target URL, or both")
	}
	return cfg, nil
}

var userToken = regexp.MustCompile(`^` + config.EnvPrefix + `USERS_([0-9]+)_(TOKEN|HEADERS)(=|_)`)

// namedUsers adds a name for each user of the environment who has none.
func namedUsers(environ []string) []string {
	var added []string
	for _, entry := range environ {
		if m := userToken.FindStringSubmatch(entry); m != nil {
			name := config.EnvPrefix + "USERS_" + m[1] + "_NAME="
			if !hasPrefix(environ, name) && !hasPrefix(added, name) {
				added = append(added, name+"user-"+m[1])
			}
		}
	}
	return append(added, environ...)
}

func hasPrefix(all []string, prefix string) bool {
	for _, entry := range all {
		if strings.HasPrefix(entry, prefix) {
			return true
		}
	}
	return false
}

func (f *initFlags) init(c *cobra.Command, s streams) error {
	cfg, err := f.load(c)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(f.file); err == nil && !f.force {
		return f.exists()
	}
	if err := outfile.Ready(f.file); err != nil {
		return f.unwritable(err)
	}
	found, err := f.discover(c.Context(), cfg, s)
	if err != nil {
		return &exit{exitIncomplete, fmt.Errorf("asking the target: %w", err)}
	}
	if err := f.write(found.Draft.Text()); err != nil {
		return err
	}
	f.tell(found, s)
	if len(found.Problems) > 0 {
		return failed(exitIncomplete)
	}
	return nil
}

// discover asks the target, and tells what it asks: a target may be slow, and rate may let each request wait.
func (f *initFlags) discover(ctx context.Context, cfg *config.Config, s streams) (*steps.Discovery, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not done after %s (--timeout), so nothing was written; raise --timeout", f.timeout))
		defer cancel()
	}
	return steps.Discover(ctx, cfg, func(step string) { fmt.Fprintln(s.err, "agentconform: "+safe.Line(step)) })
}

func (f *initFlags) exists() error {
	return fmt.Errorf("%s exists: replace it with --force, or name another file with --output", f.file)
}

// write does not replace a file that has been made since it was looked for.
func (f *initFlags) write(text []byte) error {
	write := outfile.Create
	if f.force {
		write = outfile.Text
	}
	err := write(f.file, outfile.Public, text)
	if errors.Is(err, fs.ErrExist) {
		return f.exists()
	}
	if err != nil {
		return f.unwritable(err)
	}
	return nil
}

func (f *initFlags) unwritable(err error) error {
	return fmt.Errorf("writing the configuration: %w; name another file with --output", err)
}

// tell says what was written, and what to do next.
func (f *initFlags) tell(found *steps.Discovery, s streams) {
	set, open := found.Draft.Count()
	fmt.Fprintf(s.out, "%s: %s written, %s suggested in comments\n", safe.Line(f.file), reports.Count(set, "key"), reports.Count(open, "key"))
	for _, p := range found.Problems {
		fmt.Fprintf(s.out, "problem: %s: %s; %s\n", p.Subject, safe.Line(p.Found), safe.Line(p.Remedy))
	}
	arguments := ""
	if f.file != config.DefaultFile {
		arguments += " --config " + shellWord(f.file)
	}
	fmt.Fprintf(s.out, "next:\n  1. read %s, and put values in place of the comments that apply\n  2. agentconform doctor%s\n  3. agentconform run%s\n", safe.Line(f.file), arguments, arguments)
}

// shellWord quotes what a shell would not take as one word.
func shellWord(text string) string {
	if regexp.MustCompile(`^[\w./:@-]+$`).MatchString(text) {
		return text
	}
	return safe.ShellWord(safe.Line(text))
}
