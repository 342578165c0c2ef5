package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/safe"
)

// Exit codes. They are part of the interface of this program: CI systems rely on them.
const (
	exitConformant    = 0
	exitNonConformant = 1
	exitUsage         = 2
	exitIncomplete    = 3
)

// version is set by the linker in releases.
var version = ""

// streams are where the program reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exit is an error that ends the program with a code. One without a message has already been told.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// failed ends the program with a code, after the report has said why.
func failed(code int) error {
	if code == exitConformant {
		return nil
	}
	return &exit{code: code}
}

// execute runs the command line and returns the exit code. What is no exit of ours is a mistake in the use.
func execute(ctx context.Context, args []string, io streams) int {
	root := newRoot(io)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitConformant
	}
	code := exitUsage
	var known *exit
	if errors.As(err, &known) {
		code = known.code
	}
	if message := err.Error(); message != "" {
		fmt.Fprintln(io.err, "agentconform: "+safe.Terminal(message))
	}
	return code
}

func newRoot(io streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "agentconform",
		Short: "Tell whether a server keeps the control plane and agent server interface, and show why not",
		Long: `agentconform tells whether a server keeps the deployment control plane and agent server interface, and shows why not.

The requirements are Gherkin features (agentconform list). A run sends real requests to the target, judges each
answer against the requirements and the OpenAPI contract, and ends in one verdict.

Exit codes: 0 conformant, 1 non-conformant, 2 wrong usage or configuration, 3 incomplete (out of reach, blocked,
inconclusive or interrupted).`,
		Example: `  agentconform run                                    judge the bundled reference
  agentconform doctor --config agentconform.yaml      tell whether a target can be tested, and what is missing
  agentconform run --config agentconform.yaml         judge the target of a configuration
  agentconform serve --write-config reference.yaml    serve the reference, and write how to judge it`,
		Args:                  knownCommand,
		RunE:                  func(c *cobra.Command, _ []string) error { return c.Help() },
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,

		SuggestionsMinimumDistance: 2,
	}
	root.Version = suiteVersion()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(tellFlags)
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.AddCommand(newRun(io), newDoctor(io), newServe(io), newProve(io), newReplay(io), newCompare(io), newMerge(io), newClean(io), newList(io), newCompletion(io), newVersion(io), configTopic())
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = knownCommand
		}
	}
	return root
}

func newVersion(io streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  agentconform version      # what a report of a fault should name",
		Args:    noArguments("leave it out"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(io.out, "agentconform "+suiteVersion())
			return err
		},
	}
}

// suiteVersion is that of the release, else what the build knows of the module.
func suiteVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}
