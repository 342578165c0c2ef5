package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentconform/agentconform/spec/spelling"
)

// noArguments refuses arguments of a command that takes flags only, and says which flag may have been meant.
func noArguments(instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s takes no arguments, got %q; %s", c.Name(), args[0], instead)
	}
}

// arguments accepts from least to most arguments (most 0: any number); the sentence says which.
func arguments(least, most int, sentence string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most == 0 || len(args) <= most) {
			return nil
		}
		return fmt.Errorf("%s takes %s; got %d arguments", c.Name(), sentence, len(args))
	}
}

// knownCommand refuses what is the name of no command, and tells the name that was probably meant.
func knownCommand(c *cobra.Command, args []string) error {
	found, rest, err := c.Root().Find(args)
	if err == nil && (len(rest) == 0 || found != c.Root()) {
		return nil
	}
	return fmt.Errorf("unknown command %q; %sagentconform --help lists the commands", rest[0],
		spelling.Meant(spelling.Either(c.Root().SuggestionsFor(rest[0]))))
}

// refuseEmpty refuses a flag that names something and is empty: a variable of CI that is not set would have something
// else judged, or written somewhere else.
func refuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		what, _ := pflag.UnquoteUsage(f)
		if f.Value.String() == "" && slices.Contains([]string{"URL", "file", "folder"}, what) {
			err = fmt.Errorf("--%s is empty: name a %s, or remove the flag", f.Name, what)
		}
	})
	return err
}

// tellFlags says after a mistake in a flag where the right ones are, and which one was probably meant.
func tellFlags(c *cobra.Command, err error) error {
	near := ""
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		near = spelling.Nearest("--"+unknown.GetSpecifiedName(), names)
	}
	return fmt.Errorf("%w; %s%s --help lists the flags", err, spelling.Meant(near), c.CommandPath())
}

// choice is the value of a flag that takes one of a few words.
type choice struct {
	value *string
	words []string
}

// addChoice adds such a flag, with its completion. The help lists the words, and then what more there is to say.
func addChoice(c *cobra.Command, value *string, name, more string, words ...string) {
	c.Flags().Var(choice{value, words}, name, spelling.Either(words)+more)
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func (v choice) String() string { return *v.value }

// Type is what the help calls the value.
func (choice) Type() string { return "word" }

// Set takes the value of the flag.
func (v choice) Set(word string) error {
	if !slices.Contains(v.words, word) {
		return errors.New("give " + spelling.Either(v.words))
	}
	*v.value = word
	return nil
}
