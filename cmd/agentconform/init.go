package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
)

type initFlags struct {
	targetFlags
	edition, file string
	force         bool
}

func newInit() *cobra.Command {
	f := &initFlags{}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration with what can be read from a target",
		Long: `Write a commented configuration for a target: a control plane, an agent server, or both. init learns the
following without creating anything: whether credentials are accepted, whether deployments are listed, at which path
they have the agent server's URL, how threads are listed, and with which status and detail wrong credentials are
refused. The comment of a key says how its value was learned, or what to put there. init sends no requests to an agent
server that only a deployment names, but writes its URL.

Credentials of the environment, such as AGENTCONFORM_CREDENTIALS_API_KEY and AGENTCONFORM_USERS_0_TOKEN, are sent to
the target and never written. The file names the variables, or files that contain the credentials ({file: path}).

An existing file is not read, and only replaced with --force.

Exit codes: 0 written; 2 wrong usage, or the file could not be written; 3 written, but an address gave no usable
response.`,
		Example: `  agentconform init --agent-target https://agents.example/my-agent
  export AGENTCONFORM_CREDENTIALS_API_KEY=...
  agentconform init --target https://control.example --edition cloud
  agentconform init --target https://control.example --output vendor.yaml`,
		Args: noArguments("name the target with --target, --agent-target or both, and the file with --output"),
		RunE: f.init,
	}
	flags := c.Flags()
	f.addAddresses(c)
	addEdition(c, &f.edition, ": edition of the target (default: that of the deployments that it lists)")
	flags.StringVar(&f.file, "output", config.DefaultFile, "`file` to write")
	flags.BoolVar(&f.force, "force", false, "replace the file if it exists")
	return c
}

func (f *initFlags) init(c *cobra.Command, _ []string) error {
	given := f.addresses()
	if f.edition != "" {
		given["edition"] = f.edition
	}
	cfg, err := config.Load(config.Sources{Environ: os.Environ(), Flags: given, NoFile: true})
	switch {
	case err != nil:
		return err
	case len(cfg.Addresses()) == 0:
		return errors.New("no target is named: give --target URL, --agent-target URL, or both")
	}
	write := outfile.Create // does not replace a file that is created in the meantime
	if f.force {
		write = outfile.Text
	} else if _, err := os.Lstat(f.file); err == nil {
		return f.writeError(fs.ErrExist)
	}
	if err := outfile.Ready(f.file); err != nil {
		return f.writeError(err)
	}
	draft, problems, err := doctor.Discover(c.Context(), cfg, func(step string) {
		c.PrintErrln("agentconform: " + safe.Line(step))
	})
	if err != nil {
		return &exit{fmt.Errorf("reading from the target: %w", err), exitIncomplete}
	}
	if err := write(f.file, outfile.Public, draft.Text()); err != nil {
		return f.writeError(err)
	}
	f.report(c, draft, problems)
	return exitIf(len(problems) > 0, exitIncomplete)
}

func (f *initFlags) writeError(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: replace it with --force, or name another file with --output", f.file)
	}
	return writeError("configuration", err, "file with --output")
}

// report prints which file was written, and the next command.
func (f *initFlags) report(c *cobra.Command, draft config.Draft, problems []doctor.Check) {
	set, open := draft.Count()
	file, arguments := safe.Line(f.file), ""
	if f.file != config.DefaultFile {
		arguments = " --config " + reports.ShellWord(file)
	}
	c.Printf("%s: %s written, %s suggested in comments\n", file, reports.Count(set, "key"),
		reports.Count(open, "key"))
	for _, p := range problems {
		c.Printf("problem: %s: %s; %s\n", p.Subject, safe.Line(p.Found), safe.Line(p.Remedy))
	}
	first := ""
	if draft.Has("fixtures") {
		first = ", fixtures first"
	}
	c.Printf("next:\n  1. read %s, and put values in place of the comments that apply%s\n"+
		"  2. agentconform doctor%s\n  3. agentconform run%s\n", file, first, arguments, arguments)
}
