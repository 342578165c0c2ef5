package main

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is the maximum width of a help text, that of the narrowest common terminal.
const helpWidth = 80

// arrange adds the commands, grouped by task in the order in which a user needs them, and sets the layout of all help.
func arrange(root *cobra.Command) {
	groups := []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Start:", []*cobra.Command{newInit(), newDoctor(), newRun(), newServe()}},
		{"Work on a finding:", []*cobra.Command{newReplay(), newExplain(), newExec(), newClean()}},
		{"CI:", []*cobra.Command{newCompare(), newList(), newSchema()}},
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

// hanging matches the start of a list item, whose further lines are indented.
var hanging = regexp.MustCompile(`^(- |\d\. )`)

// wrapped joins the lines of each paragraph and list item, and wraps them. It does not change indented code and
// headings.
func wrapped(text string) string {
	var b strings.Builder
	indent, column := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		isVerbatim := line == "" || strings.ContainsRune("#\t", rune(line[0])) || strings.HasPrefix(line, "    ")
		item := hanging.FindString(line)
		if column > 0 && (isVerbatim || item != "") {
			b.WriteString("\n")
			column = 0
		}
		if isVerbatim {
			b.WriteString(line + "\n")
			indent = ""
			continue
		}
		if item != "" {
			indent = strings.Repeat(" ", len(item))
		}
		for word := range strings.FieldsSeq(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > helpWidth:
				b.WriteString("\n" + indent)
				column = len(indent)
			default:
				b.WriteString(" ")
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}
