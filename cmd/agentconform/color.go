package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
)

// colorMode says when colours are used: the value of --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

// addColor adds the flag to a command that prints colours.
func (m *colorMode) addColor(c *cobra.Command) {
	*m = colorAuto
	c.Flags().Var(m, "color", "auto, always or never; auto: on a terminal, unless NO_COLOR is set; FORCE_COLOR forces colours")
	_ = c.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{string(colorAuto), string(colorAlways), string(colorNever)}, cobra.ShellCompDirectiveNoFileComp))
}

func (m *colorMode) String() string { return string(*m) }

// Type is what the help calls the value.
func (*colorMode) Type() string { return "mode" }

// Set takes the value of the flag.
func (m *colorMode) Set(value string) error {
	switch colorMode(value) {
	case colorAuto, colorAlways, colorNever:
		*m = colorMode(value)
		return nil
	}
	return errors.New("give auto, always or never")
}

// enabled tells whether to use colours. The flag wins over the environment, and NO_COLOR over FORCE_COLOR; plain output
// has colours only where the flag asks for them.
func (m colorMode) enabled(isTerminal, plain bool, env func(string) string) bool {
	force := env("FORCE_COLOR")
	switch {
	case m == colorAlways:
		return true
	case m == colorNever, plain, env("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return isTerminal && env("TERM") != "dumb"
}

// colored tells whether to use colours on standard output.
func (m colorMode) colored(s streams, plain bool) bool {
	_, isTerminal := terminal(s.out)
	return m.enabled(isTerminal, plain, os.Getenv)
}
