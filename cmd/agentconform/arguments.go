package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec/spelling"
)

// noArguments refuses the arguments of a command that takes only flags. The text names the flags to use instead.
func noArguments(instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s takes no arguments, got %q; %s", c.Name(), args[0], instead)
	}
}

// arguments accepts from least to most arguments, or any number if most is 0. described names them in the error.
func arguments(least, most int, described string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most == 0 || len(args) <= most) {
			return nil
		}
		return fmt.Errorf("%s takes %s; got %s", c.Name(), described, reports.Count(len(args), "argument"))
	}
}

// knownCommand refuses an unknown command, and suggests one with a similar name.
func knownCommand(c *cobra.Command, args []string) error {
	found, rest, err := c.Root().Find(args)
	if err == nil && (len(rest) == 0 || found != c.Root()) {
		return nil
	}
	return fmt.Errorf("unknown command %q; %sagentconform --help lists the commands", rest[0],
		spelling.DidYouMean(spelling.Either(c.Root().SuggestionsFor(rest[0]))))
}

// refuseEmpty refuses an empty URL, file or folder. In CI the cause may be an unset variable, and the default would
// test another target or write to another place.
func refuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		if f.Value.String() == "" && slices.Contains([]string{"URL", "file", "folder"}, kind) {
			err = fmt.Errorf("--%s is empty: name a %s, or remove the flag", f.Name, kind)
		}
	})
	return err
}

// explainFlagError appends to an error about a flag the command that lists the flags, and suggests a flag with a similar
// name.
func explainFlagError(c *cobra.Command, err error) error {
	near := ""
	unknown, isUnknown := errors.AsType[*pflag.NotExistError](err)
	if isUnknown {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		near = spelling.Nearest("--"+unknown.GetSpecifiedName(), names)
	}
	return fmt.Errorf("%w; %s%s --help lists the flags", err, spelling.DidYouMean(near), c.CommandPath())
}

// choice is the value of a flag that takes one of several words.
type choice struct {
	value *string
	words []string
}

// addChoice adds a flag that takes one of several words, with completion. The help lists the words, followed by more.
func addChoice(c *cobra.Command, value *string, name, more string, words ...string) {
	c.Flags().Var(choice{value, words}, name, spelling.Either(words)+more)
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func (v choice) String() string { return *v.value }

// Type returns the name of the value in the help.
func (choice) Type() string { return "word" }

// Set sets the value of the flag.
func (v choice) Set(word string) error {
	if !slices.Contains(v.words, word) {
		return errors.New("give " + spelling.Either(v.words))
	}
	*v.value = word
	return nil
}
