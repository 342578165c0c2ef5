package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
)

func newDoctor() *cobra.Command {
	var target targetFlags
	var color string
	var try bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether a target can be tested, and what is missing",
		Long: `Check whether a target can be tested: whether its addresses respond and accept the credentials, whether
create.body matches the contract, which missing keys would enable which requirements, and how many deployments a test
run would create. It also shows how the target is reached (DNS, proxy, TLS, redirects, clock). Without a target and a
configuration file it checks the bundled reference.

It creates nothing at the target. With --try it also runs the conformance graph once for each word of its contract, on
new threads, which it removes if the agent server supports DELETE.

Each line begins with problem (must be solved before a test run), missing (a key that would enable requirements, most
first), note (a test run will show more) or ok, and names the key to change. The last line is the next command.

Exit codes: 0 the target can be tested, 2 wrong usage or configuration, 3 it cannot be tested yet.`,
		Example: `  agentconform doctor
  agentconform doctor --config vendor.yaml --try
  export AGENTCONFORM_CREDENTIALS_API_KEY=...
  agentconform doctor --config vendor.yaml --target https://control.example
  agentconform doctor --agent-target https://agents.example/a`,
		Args: noArguments("name the target with --target or --config"),
		RunE: func(c *cobra.Command, _ []string) error { return examine(c, &target, try, color) },
	}
	target.add(c)
	c.Flags().BoolVar(&try, "try", false,
		"run the conformance graph once for each word of its contract; creates threads and runs")
	addColor(c, &color)
	return c
}

func examine(c *cobra.Command, target *targetFlags, try bool, color string) error {
	cfg, err := target.load()
	if err != nil {
		return err
	}
	source := "from " + strings.Join(cfg.From, ", ")
	switch {
	case len(cfg.Addresses()) == 0:
		source = bundled
	case len(cfg.From) == 0:
		source = "from flags only: no " + config.DefaultFile + " here, no variable " + config.EnvPrefix + "... set"
	}
	var o steps.Options
	stop, err := open(c.Context(), cfg, "", &o)
	if err != nil {
		return err
	}
	defer stop()
	e, err := doctor.Examine(c.Context(), o, try)
	if err != nil {
		return &exit{fmt.Errorf("examining the target: %w", err), exitIncomplete}
	}
	e.Checks = slices.Insert(e.Checks, 0, doctor.Check{State: doctor.Fine, Subject: "configuration", Found: source})
	e.Sort()
	out := c.OutOrStdout()
	if err := showExamination(out, e, colored(color, columns(out) > 0, false)); err != nil {
		return err
	}
	c.Println("Next: " + nextAfter(e, len(cfg.From) > 0 || source == bundled))
	return exitIf(!e.Testable(), exitIncomplete)
}

const bundled = "the bundled reference, because no target is configured"

// nextAfter returns the next command. If there is no configuration, that is init.
func nextAfter(e *doctor.Examination, isConfigured bool) string {
	given := reports.Run{Arguments: os.Args[1:]}
	flags := given.Flags("--config", "--target", "--agent-target")
	switch {
	case !e.Testable():
		return "correct the lines above, then agentconform doctor" + flags
	case !isConfigured:
		return "agentconform init" + flags
	}
	return "agentconform run" + flags
}

// colors has the ANSI color of each state. Reports use the same colors.
var colors = map[doctor.State]string{doctor.Fine: "32", doctor.Noted: "33", doctor.Missing: "36",
	doctor.Problem: "31;1"}

func showExamination(w io.Writer, e *doctor.Examination, color bool) error {
	widest := 0
	for _, c := range e.Checks {
		widest = max(widest, len(c.Subject))
	}
	var b strings.Builder
	for _, c := range e.Checks {
		word := fmt.Sprintf("%-7s", c.State)
		if color {
			word = "\x1b[" + colors[c.State] + "m" + word + "\x1b[0m"
		}
		text := c.Found
		if c.Remedy != "" {
			text += "; " + c.Remedy
		}
		fmt.Fprintf(&b, "%s  %-*s  %s\n", word, widest, c.Subject, safe.Line(text))
	}
	fmt.Fprintf(&b, "\n%s\n", safe.Line(e.Conclusion()))
	_, err := io.WriteString(w, b.String())
	return err
}
