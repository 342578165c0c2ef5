package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newMan prints the page of the manual for packages: the help of each command as it stands. The generator of cobra would
// read it as Markdown.
func newMan(io streams) *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the page of the manual",
		Hidden: true,
		Args:   noArguments("it prints one page for all commands"),
		RunE: func(c *cobra.Command, _ []string) error {
			var page strings.Builder
			page.WriteString(".TH AGENTCONFORM 1\n.SH NAME\nagentconform \\- " + c.Root().Short + "\n")
			page.WriteString(".SH SYNOPSIS\nagentconform COMMAND [FLAG...]\n")
			section(&page, "DESCRIPTION", c.Root())
			for _, command := range c.Root().Commands() {
				if command.IsAvailableCommand() || command.IsAdditionalHelpTopicCommand() {
					section(&page, "agentconform "+command.Name(), command)
				}
			}
			_, err := fmt.Fprint(io.out, page.String())
			return err
		},
	}
}

// section writes the help of a command with its own line breaks, in the language of troff: a backslash, a hyphen and a dot
// that begins a line would mean something else.
func section(page *strings.Builder, title string, c *cobra.Command) {
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(c.Long + "\n\n" + c.UsageString()))
	fmt.Fprintf(page, ".SH %s\n.nf\n", strings.ReplaceAll(title, "-", `\-`))
	for line := range strings.Lines(text) {
		page.WriteString(`\&` + line)
	}
	page.WriteString("\n.fi\n")
}
