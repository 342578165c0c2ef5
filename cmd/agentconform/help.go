package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports/console"
)

// helpWidth is the maximum width of a help text: the width of a narrow terminal.
const helpWidth = 80

// arrange adds the commands, grouped by task in the order of their use, and sets the layout of all help.
func arrange(root *cobra.Command) {
	groups := []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Start:", []*cobra.Command{newInit(), newGraph(), newDoctor(), newRun(), newServe()}},
		{"Work on a finding:", []*cobra.Command{newReplay(), newExplain(), newExec(), newClean()}},
		{"CI:", []*cobra.Command{newJudge(), newCompare(), newAttest(), newList(), newSchema()}},
		{"Contribute:", []*cobra.Command{newProve()}},
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(), newContainer(), newMan(), configTopic())
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // cannot fail
	help.Args = knownCommand
	help.Short = "Show the help of a command or topic"
	help.Long = "Show the help of a command, or of the topic config (the keys of the configuration)."
	help.Example = "  agentconform help run\n  agentconform help config"
	root.InitDefaultCompletionCmd()
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", ".FlagUsagesWrapped 80",
		" for more information about a command.", " for the help of a command.",
	).Replace(root.UsageTemplate()))
	wrapHelp(root)
}

func wrapHelp(c *cobra.Command) {
	c.Long = wrapped(c.Long)
	for _, below := range c.Commands() {
		wrapHelp(below)
	}
}

// hanging matches the start of a list item, whose continuation lines are indented.
var hanging = regexp.MustCompile(`^(- |\d\. )`)

// wrapped joins the lines of each paragraph and list item, and wraps them. It does not change indented code and
// headings.
func wrapped(text string) string {
	var lines []string
	paragraph, indent := "", ""
	end := func() {
		if paragraph == "" {
			return
		}
		for i, line := range console.Wrapped(paragraph, helpWidth-len(indent), -len(indent)) {
			if i > 0 {
				line = indent + line
			}
			lines = append(lines, line)
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		isVerbatim := line == "" || strings.ContainsRune("#\t", rune(line[0])) || strings.HasPrefix(line, "    ")
		item := hanging.FindString(line)
		if isVerbatim || item != "" {
			end()
			indent = strings.Repeat(" ", len(item))
		}
		if isVerbatim {
			lines = append(lines, line)
		} else {
			paragraph += " " + line
		}
	}
	end()
	return strings.Join(lines, "\n")
}
