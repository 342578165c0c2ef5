package main

import (
	"os"

	"github.com/spf13/cobra"
)

// addColor adds the flag to a command that prints colours.
func addColor(c *cobra.Command, mode *string) {
	*mode = "auto"
	addChoice(c, mode, "color", "auto, always or never; auto: on a terminal, unless NO_COLOR is set; FORCE_COLOR forces colours", "auto", "always", "never")
}

// colorEnabled tells whether to use colours. The flag wins over the environment, and NO_COLOR over FORCE_COLOR; plain
// output has colours only where the flag asks for them.
func colorEnabled(mode string, isTerminal, plain bool, env func(string) string) bool {
	force := env("FORCE_COLOR")
	switch {
	case mode == "always":
		return true
	case mode == "never", plain, env("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return isTerminal && env("TERM") != "dumb"
}

// colored tells whether to use colours on standard output.
func colored(s streams, mode string, plain bool) bool {
	_, isTerminal := terminal(s.out)
	return colorEnabled(mode, isTerminal, plain, os.Getenv)
}
