package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
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

// exit is an error that ends the program with an exit code.
type exit struct {
	error
	code int
}

// errReported has no message, because the report has shown the reason for the exit code, which may be 0.
var errReported = errors.New("")

// exitIf returns an error that ends the program with the code if the condition is true. The report has shown the reason.
func exitIf(condition bool, code int) error {
	if !condition {
		return nil
	}
	return &exit{errReported, code}
}

// writeError describes an error of writing a document, with a way to choose another place, such as "file with --output".
// It returns nil if err is nil.
func writeError(document string, err error, other string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing the %s: %w; name another %s", document, err, other)
}

// announceInterrupt makes an interrupted command print that it removes the objects that it created. It does so until the
// returned function is called. The folder contains the ledger.
func announceInterrupt(c *cobra.Command, folder string) (stop func() bool) {
	ledger := reports.ShellWord(filepath.Join(folder, "ledger.jsonl"))
	return context.AfterFunc(c.Context(), func() {
		c.PrintErrln("Interrupted: removing what was created. Another signal quits immediately; " +
			"then agentconform clean --ledger " + safe.Line(ledger) + " removes the rest from the same target")
	})
}

// execute runs the command line and returns the exit code, which is exitUsage for errors that are not an exit. Errors,
// warnings and progress are printed to stderr, everything else to stdout.
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
	ended, isExit := errors.AsType[*exit](err)
	if isExit {
		code = ended.code
	}
	message := err.Error()
	if message != "" {
		root.PrintErrln("agentconform: " + safe.Terminal(message))
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "agentconform",
		Short: "Conformance test suite for agent control planes and agent servers",
		Long: `agentconform is a conformance test suite for the deployment control plane and agent server interface.

The requirements are Gherkin features (agentconform list). A test run sends real requests to the target, checks each
response against the requirements and the OpenAPI contract, and writes reports. It creates deployments at the target and
removes them at the end.

Exit codes: 0 conformant, 1 non-conformant, 2 wrong usage or configuration, 3 incomplete (no MUST failed, but the
target was unreachable, the test run was stopped, or it could not tell).`,
		Example: `  agentconform run                                    test the reference
  agentconform init --target https://control.example  write agentconform.yaml
  agentconform doctor                                 what is missing in it?
  agentconform run --config agentconform.yaml         test its target
  agentconform explain CP-LIST-3                      show a requirement in full`,
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
	root.SetFlagErrorFunc(explainFlagError)
	arrange(root)
	return root
}

// newMan returns the command that prints the manual page for packages, which contains the help of each command
// verbatim. The generator of cobra would interpret it as Markdown.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the manual page",
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

// troff escapes characters with a special meaning in troff: a backslash, a hyphen, and a dot at the start of a line.
var troff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", "\n"+`\&`)

// section returns the help of a command as a section of the manual page, with its own line breaks.
func section(title string, c *cobra.Command) string {
	text := "\n" + strings.TrimSpace(c.Long+"\n\n"+c.UsageString())
	return ".SH " + troff.Replace(title) + "\n.nf" + troff.Replace(text) + "\n.fi\n"
}

// relativeLink matches a link in a page of the folder docs: to another page or, without a path, to a heading of the same
// page.
var relativeLink = regexp.MustCompile(`\[([^\]]+)\]\(([^):#]*)(#[^)]*)?\)`)

// withAddresses replaces each relative link in a page of the folder docs by its text and its address. For a link to a
// heading of the page, it keeps only the text.
func withAddresses(page string) string {
	return relativeLink.ReplaceAllStringFunc(page, func(link string) string {
		parts := relativeLink.FindStringSubmatch(link)
		if parts[2] == "" {
			return parts[1]
		}
		return parts[1] + " (https://github.com/agentconform/agentconform/blob/main/docs/" + parts[2] + parts[3] + ")"
	})
}

// configTopic returns the help topic with the reference of the configuration. It omits tables, which are hard to read on
// a terminal, and replaces relative links, which do not work there.
func configTopic() *cobra.Command {
	var text strings.Builder
	for line := range strings.Lines(config.Page()) {
		if !strings.HasPrefix(line, "|") {
			text.WriteString(line)
		}
	}
	return &cobra.Command{
		Use:   "config",
		Short: "The keys of the configuration, with their defaults",
		Long:  strings.TrimSpace(withAddresses(text.String())),
	}
}
