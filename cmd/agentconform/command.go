package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/config"
)

// Exit codes. They are part of the interface of this program: CI systems rely on them.
const (
	exitConformant    = 0
	exitNonConformant = 1
	exitUsage         = 2
	exitIncomplete    = 3
)

// exit is an error that ends the program with a code.
type exit struct {
	error
	code int
}

// errReported has no message: the report has said why the program ends with the code, which may be 0.
var errReported = errors.New("")

// failed ends the program with a code where something has failed, after the report has said what.
func failed(is bool, code int) error {
	if is {
		return &exit{errReported, code}
	}
	return nil
}

// unwritten says of what could not be written how another place is named: "file with --output". It is nil where err is.
func unwritten(what string, err error, other string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing the %s: %w; name another %s", what, err, other)
}

// tellInterrupt says that an interrupted command goes on to remove what it created, until the returned function is
// called. The folder holds the ledger.
func tellInterrupt(c *cobra.Command, folder string) (stop func() bool) {
	ledger := reports.ShellWord(filepath.Join(folder, "ledger.jsonl"))
	return context.AfterFunc(c.Context(), func() {
		c.PrintErrln("Interrupted: removing what was created. Another signal quits at once; " +
			"then agentconform clean --ledger " + safe.Line(ledger) + " removes the rest, at the same target")
	})
}

// execute runs the command line and returns the exit code. What is no exit of ours is a mistake in the use. All that is
// printed goes to stdout, but for errors, warnings and progress.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitConformant
	}
	code := exitUsage
	if known, is := errors.AsType[*exit](err); is {
		code = known.code
	}
	if message := err.Error(); message != "" {
		root.PrintErrln("agentconform: " + safe.Terminal(message))
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "agentconform",
		Short: "Conformance test suite for agent control planes and agent servers",
		Long: `agentconform is a conformance test suite for the deployment control plane and agent server interface.

The requirements are Gherkin features (agentconform list). A run sends real requests to the target, checks each answer
against the requirements and the OpenAPI contract, and writes reports. It creates deployments at the target and removes
them at the end.

Exit codes: 0 conformant, 1 non-conformant, 2 wrong usage or configuration, 3 incomplete (target unreachable, blocked,
inconclusive or stopped, and no MUST failed).`,
		Example: `  agentconform run                                    test the bundled reference
  agentconform init --target https://control.example  write a configuration with what can be learned from the target
  agentconform doctor --config agentconform.yaml      check whether a target can be tested, and what is missing
  agentconform run --config agentconform.yaml         test the target of a configuration
  agentconform explain CP-LIST-3                      show a requirement in full
  agentconform serve --write-config reference.yaml    serve the reference, and write a configuration for it`,
		Args:                  knownCommand,
		PersistentPreRunE:     refuseEmpty,
		RunE:                  func(c *cobra.Command, _ []string) error { return c.Help() },
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,

		SuggestionsMinimumDistance: 2,
	}
	root.Version = fullVersion()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(tellFlags)
	root.AddCommand(newRun(), newInit(), newDoctor(), newServe(), newProve(), newReplay(), newExec(), newCompare(),
		newClean(), newList(), newExplain(), newSchema(), newVersion(), newContainer(), newMan(), configTopic())
	describeHelp(root)
	return root
}

// describeHelp gives the help command that cobra makes our texts.
func describeHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	c, _, _ := root.Find([]string{"help"}) // it was made in the line before
	c.Args = knownCommand
	c.Short = "Show the help of a command or topic"
	c.Long = "Show the help of a command, or of the topic config (the keys of the configuration)."
	c.Example = "  agentconform help run\n  agentconform help config"
}

// newMan prints the page of the manual for packages: the help of each command as it stands. The generator of cobra
// would read it as Markdown.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the page of the manual",
		Hidden: true,
		Args:   noArguments("it prints one page for all commands"),
		RunE: func(c *cobra.Command, _ []string) error {
			page := ".TH AGENTCONFORM 1\n.SH NAME\nagentconform \\- " + c.Root().Short +
				"\n.SH SYNOPSIS\nagentconform COMMAND [FLAG...]\n" + section("DESCRIPTION", c.Root())
			for _, command := range c.Root().Commands() {
				if command.IsAvailableCommand() || command.IsAdditionalHelpTopicCommand() {
					page += section("agentconform "+command.Name(), command)
				}
			}
			_, err := fmt.Fprint(c.OutOrStdout(), page)
			return err
		},
	}
}

// troff escapes what means something else there: a backslash, a hyphen, and a dot that begins a line.
var troff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", "\n"+`\&`)

// section is the help of a command with its own line breaks.
func section(title string, c *cobra.Command) string {
	text := "\n" + strings.TrimSpace(c.Long+"\n\n"+c.UsageString())
	return ".SH " + troff.Replace(title) + "\n.nf" + troff.Replace(text) + "\n.fi\n"
}

// configTopic is the reference of the configuration: a help topic, and no command.
func configTopic() *cobra.Command {
	isCell := func(line string) bool { return strings.HasPrefix(line, "|") } // terminals do not show tables well
	lines := slices.DeleteFunc(strings.Split(config.Page(), "\n"), isCell)
	return &cobra.Command{
		Use:   "config",
		Short: "The keys of the configuration, with their defaults",
		Long:  strings.TrimSpace(strings.Join(lines, "\n")),
	}
}
