package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newCompletion replaces the command of cobra, which prints its help and succeeds for an unknown shell.
func newCompletion(io streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell: commands, flags and IDs",
		Long: `Print the completion script for bash (requires its bash-completion package), zsh, fish or powershell. It completes
commands, flags and the IDs of requirements. Install it as shown below, then start a new shell.`,
		Example: `  source <(agentconform completion bash)              # for this shell only
  agentconform completion bash > ~/.local/share/bash-completion/completions/agentconform
  agentconform completion zsh > "${fpath[1]}/_agentconform"
  agentconform completion fish > ~/.config/fish/completions/agentconform.fish
  agentconform completion powershell >> $PROFILE`,
		Args:      arguments(1, 1, "the name of one shell: bash, zsh, fish or powershell"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(io.out, true)
			case "zsh":
				return c.Root().GenZshCompletion(io.out)
			case "fish":
				return c.Root().GenFishCompletion(io.out, true)
			case "powershell":
				return c.Root().GenPowerShellCompletionWithDesc(io.out)
			}
			return fmt.Errorf("no completion for %q; give bash, zsh, fish or powershell", args[0])
		},
	}
}
