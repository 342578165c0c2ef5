package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/steps/config"
)

// configTopic is the reference of the configuration: a help topic, and no command.
func configTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "The keys of the configuration, with their defaults",
		Long: "The configuration is a YAML file, " + config.DefaultFile + " in the working folder or the one of --config. Each key can also be given by\n" +
			"the environment: " + config.EnvPrefix + " and its name, nested ones joined by _ (" + config.EnvPrefix + "TIMEOUTS_POLL). Flags win over the\n" +
			"environment, and it over the file. The keys, with their defaults:\n\n" + strings.TrimRight(config.Reference(), "\n"),
	}
}
