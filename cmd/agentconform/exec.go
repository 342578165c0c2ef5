package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
)

func newExec() *cobra.Command {
	f := &targetFlags{}
	c := &cobra.Command{
		Use:   "exec -- COMMAND [ARGUMENT...]",
		Short: "Run a command with the secrets of the configuration in its environment",
		Long: `Run a command with the secrets of the configuration in the variables that the scripts and curl lines of
findings name, such as AGENTCONFORM_CREDENTIALS_API_KEY. The secrets stay in the configuration, or in the files that
it names.

Exit codes: that of the command; 2 wrong usage or configuration.`,
		Example: `  agentconform exec --config vendor.yaml -- bash agentconform-out/scripts/CP-LIST-3-c84077ec0657.sh
  agentconform exec -- bash    to paste curl lines into`,
		Args: arguments(1, 0, "a command after --, such as bash agentconform-out/scripts/CP-LIST-3-c84077ec0657.sh"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			command := exec.CommandContext(c.Context(), args[0], args[1:]...)
			command.Stdin = c.InOrStdin()
			command.Stdout = c.OutOrStdout()
			command.Stderr = c.ErrOrStderr()
			command.Env = append(os.Environ(), cfg.Environment()...)
			err = command.Run()
			if ended, is := errors.AsType[*exec.ExitError](err); is {
				return &exit{errReported, ended.ExitCode()}
			} else if err != nil {
				return fmt.Errorf("running the command: %w", err)
			}
			return nil
		},
	}
	f.addConfig(c)
	return c
}
