package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

func newExec() *cobra.Command {
	f := &targetFlags{}
	c := &cobra.Command{
		Use:   "exec -- COMMAND [ARGUMENT...]",
		Short: "Run a command with the secrets of the configuration",
		Long: `Run a command with the secrets of the configuration in the environment variables that the scripts and curl
lines of findings use, such as AGENTCONFORM_CREDENTIALS_API_KEY. The secrets are read from the configuration, or from
the files that it names.

Exit codes: the exit code of the command; 2 wrong usage or configuration.`,
		Example: `  agentconform exec -- bash agentconform-out/scripts/CP-LIST-3-c84077ec0657.sh
  agentconform exec --config vendor.yaml -- bash    to paste curl lines into`,
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
			command.Cancel = func() error { // a killed script would not remove what it created
				if err := command.Process.Signal(syscall.SIGTERM); err != nil { // not possible on Windows
					return command.Process.Kill()
				}
				return nil
			}
			err = command.Run()
			ended, isExit := errors.AsType[*exec.ExitError](err)
			switch {
			case isExit:
				return &exit{errReported, ended.ExitCode()}
			case err != nil:
				return fmt.Errorf("running the command: %w", err)
			}
			return nil
		},
	}
	f.addConfig(c)
	return c
}
