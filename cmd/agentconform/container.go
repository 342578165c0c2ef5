package main

import (
	"os"

	"github.com/spf13/cobra"
)

// newContainer is what the image runs where no command is given. The variables are those of make conformance; without a
// shell nothing else in the image could make flags of them.
func newContainer() *cobra.Command {
	return &cobra.Command{
		Use:    "container",
		Short:  "Run with the addresses of TARGET and AGENT_TARGET",
		Hidden: true,
		Args:   noArguments("give run and its flags in place of container"),
		RunE: func(c *cobra.Command, _ []string) error {
			arguments := []string{"run"}
			for _, flag := range [][2]string{{"--target=", "TARGET"}, {"--agent-target=", "AGENT_TARGET"}} {
				if value := os.Getenv(flag[1]); value != "" {
					arguments = append(arguments, flag[0]+value)
				}
			}
			os.Args = append(os.Args[:1:1], arguments...) // the reports show the command that is run
			c.Root().SetArgs(arguments)
			return c.Root().ExecuteContext(c.Context())
		},
	}
}
