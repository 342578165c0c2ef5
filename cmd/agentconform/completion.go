package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newCompletion takes the place of the one that cobra makes, which answers a shell that it does not know with its help
// and success.
func newCompletion(io streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the script with which a shell completes commands, flags and IDs",
		Long: `Print the script with which a shell completes commands, flags and the IDs of requirements: for bash (which needs its
bash-completion package), zsh, fish or powershell. It works in every shell that is started after the script was put in its place.`,
		Example: `  source <(agentconform completion bash)              # in this shell only
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
			return fmt.Errorf("there is no completion for %q; give bash, zsh, fish or powershell", args[0])
		},
	}
}
