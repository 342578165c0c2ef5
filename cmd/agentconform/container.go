package main

import (
	"os"

	"github.com/spf13/cobra"
)

// newContainer returns the default command of the image. It converts the variables of make conformance to flags, because
// the image has no shell.
func newContainer() *cobra.Command {
	return &cobra.Command{
		Use:    "container",
		Short:  "Run with the addresses of TARGET and AGENT_TARGET",
		Hidden: true,
		Args:   noArguments("give run and its flags in place of container"),
		RunE: func(c *cobra.Command, _ []string) error {
			arguments := []string{"run"}
			for _, flag := range [][2]string{{"--target=", "TARGET"}, {"--agent-target=", "AGENT_TARGET"}} {
				value := os.Getenv(flag[1])
				if value != "" {
					arguments = append(arguments, flag[0]+value)
				}
			}
			os.Args = append(os.Args[:1:1], arguments...) // the reports show the command
			c.Root().SetArgs(arguments)
			return c.Root().ExecuteContext(c.Context())
		},
	}
}
